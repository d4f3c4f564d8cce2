"""How large a STATE.md may become. Old entries go first; the file's history still has them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from copilot.notes.entries import FORMS
from copilot.notes.sections import Artifact, Entry, Finding
from copilot.notes.state import State, render

LIMIT_PAGE_BYTES = 256 * 1024
"""Of what the copilot wrote; an operator's own lines do not count."""
KEPT = 20
"""Entries of each list that go only when the others are as short."""
ORDER = ("already_done", "timeline", "artifacts", "open_questions", "ruled_out", "findings")
"""What is missed least goes first."""
CERTAINTY = ("possible", "likely", "confirmed")


def fit(state: State, limit_bytes: int = LIMIT_PAGE_BYTES) -> State:
    """The state with as many entries folded as it takes; most states come back unchanged."""
    for kept in (KEPT, 0):
        for section in ORDER:
            excess = len(render(replace(state, asides=())).encode()) - limit_bytes
            if excess <= 0:
                return state
            state = _fold(state, section, excess, kept)
    return state


def _fold(state: State, section: str, excess: int, kept: int) -> State:
    """The state without the entries of *section* that take *excess* bytes, but with *kept* left."""
    listed: tuple[Entry, ...] = getattr(state, section)
    dropped: set[int] = set()
    for position in _least_first(listed)[: max(len(listed) - kept, 0)]:
        if excess <= 0:
            break
        excess -= len(FORMS[section].write(listed[position]).encode()) + 1
        dropped.add(position)
    if not dropped:
        return state
    asides = tuple(
        replace(one, after=one.after - sum(position < one.after for position in dropped))
        if one.section == section and one.after > 0
        else one
        for one in state.asides
    )
    changes: dict[str, Any] = {"asides": asides}
    changes[section] = tuple(
        entry for position, entry in enumerate(listed) if position not in dropped
    )
    folded = {**state.folded, section: state.folded.get(section, 0) + len(dropped)}
    return replace(state, folded=folded, **changes)


def _least_first(listed: Sequence[Entry]) -> list[int]:
    """Positions: what was seen least, or is least sure, first; else the oldest."""

    def worth(position: int) -> tuple[int, int]:
        entry = listed[position]
        if isinstance(entry, Artifact):
            return entry.count, -position
        if isinstance(entry, Finding):
            return CERTAINTY.index(entry.status), position
        return 0, position

    return sorted(range(len(listed)), key=worth)

"""What left the request, and which later turn needed it: a fold over a journal, pure.

Needed is an answer whose handle a later call names, or from which alone an identifier is known that
a later call or finding uses while it stands nowhere in view.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from copilot.artifacts import find_artifacts
from copilot.context.restate import visible
from copilot.context.view import View
from copilot.journal import Event
from copilot.models.model import Response
from copilot.values import compact, list_at, text_at

HANDLE = re.compile(r"\bR\d{4,9}\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class Departure:
    """One answer that left the request. `needed_in` is 0 where no later turn wanted it."""

    call: str
    tool: str
    handle: str
    lever: str
    """clear or compact."""
    turn: int
    """Before whose request it left."""
    needed_in: int = 0
    needed_for: str = ""
    """The handle or the identifier."""


def departures(events: Iterable[Event]) -> tuple[Departure, ...]:
    """Every answer that left the request, in that order."""
    fold = _Fold()
    for event in events:
        fold.add(event)
    return tuple(fold.gone.values())


class _Fold:
    def __init__(self) -> None:
        self.gone: dict[str, Departure] = {}
        self._view = View()
        self._results: dict[str, Event] = {}
        self._source: dict[str, str] = {}
        """The call whose answer showed an identifier first; empty for the alert's."""

    def add(self, event: Event) -> None:
        """Take in one event."""
        if event.kind == "response" and self.gone:
            self._use(event)
        before = self._present()
        self._view.add(event)
        call = text_at(event.data, "call") if event.kind == "result" else ""
        if call:
            self._results[call] = event
        for item in list_at(event.data, "artifacts"):
            if isinstance(item, list):
                self._source.setdefault(str(item[1]), call)
        if event.kind in ("clear", "compact"):
            left = before - self._present()
            for gone in [call for call in self._results if call in left]:
                data = self._results[gone].data
                self.gone[gone] = Departure(
                    gone, text_at(data, "tool"), text_at(data, "handle"), event.kind, event.turn
                )

    def _present(self) -> set[str]:
        return {use.call for use in self._view.tool_uses() if not use.is_cleared}

    def _use(self, event: Event) -> None:
        """Note what the calls of an answer need of what is gone."""
        response = Response(event.data["raw"])  # type: ignore[arg-type]  # theirs, as received
        asked = "\n".join(
            call.input if isinstance(call.input, str) else compact(call.input)
            for call in response.tool_calls
        )
        handles = set(HANDLE.findall(asked))
        by_handle = {one.handle: one.call for one in self.gone.values() if one.handle in handles}
        needed = {call: handle for handle, call in by_handle.items()}
        values = {item.value for item in find_artifacts(asked)}
        values = {value for value in values if self._source.get(value) in self.gone}
        if values:
            seen = visible(
                piece
                for piece in self._view.pieces
                if piece.call not in self._view.cleared_by_server
            )
            needed |= {self._source[value]: value for value in values if value not in seen}
        for call, what in needed.items():
            known = self.gone[call]
            if not known.needed_in:
                self.gone[call] = replace(known, needed_in=event.turn, needed_for=what)

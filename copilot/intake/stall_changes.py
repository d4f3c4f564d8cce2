"""What changed between what a detector remembers and what it sees now. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connectors.logbook import LastSeen
from copilot.intake.stall_record import Stalled
from copilot.intake.survey import Quiet, Survey, has_ended


@dataclass(frozen=True, slots=True)
class Changes:
    """Who is newly stalled, who is not any more, and what to remember."""

    began: tuple[tuple[LastSeen, Stalled], ...]
    """The longest silent first."""
    over: tuple[tuple[LastSeen, Stalled], ...]
    stalled: Mapping[str, Stalled]
    postponed: int
    """New stalls that were left for the next time."""


def news(seen: Survey, known: Mapping[str, Stalled]) -> list[LastSeen]:
    """Those overdue that were not told yet, or made progress since they were."""
    return [row for row in seen.overdue if not _is_told(row, known)]


def changes(
    seen: Survey,
    known: Mapping[str, Stalled],
    stalled: Sequence[LastSeen],
    rules: Quiet,
    limit: int,
) -> Changes:
    """The changes, when *stalled* are those of the news that are stalled indeed.

    A workflow that is in no page any more is older than the horizon: forgotten, not resolved.
    """
    began = [(row, Stalled(row.last, row.last + rules.threshold)) for row in stalled if row.last]
    began.sort(key=lambda pair: (pair[1].last, pair[0].value))
    told = began[:limit]
    rows = [*seen.known.values(), *(row for row in seen.overdue if row.value in known)]
    moved = [row for row in rows if _is_over(row, known, rules)]
    over = {row.value for row in moved}
    still = {row.value: known[row.value] for row in rows if row.value not in over}
    return Changes(
        began=tuple(told),
        over=tuple((row, known[row.value]) for row in moved),
        stalled=still | {row.value: stall for row, stall in told},
        postponed=len(began) - len(told),
    )


def _is_told(row: LastSeen, known: Mapping[str, Stalled]) -> bool:
    """True when its alert is of this very silence. Where the clock was set back, of a later one."""
    told = known.get(row.value)
    return told is not None and row.last is not None and row.last <= told.last


def _is_over(row: LastSeen, known: Mapping[str, Stalled], rules: Quiet) -> bool:
    """True when it went on, has ended or may rest; not when only the threshold or the clock moved.

    A stall that was called over cannot be told again: its alert would have the same key.
    """
    has_moved = row.last is not None and row.last > known[row.value].last
    return has_moved or has_ended(row) or rules.excludes(row.value)

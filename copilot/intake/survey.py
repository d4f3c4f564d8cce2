"""All workflows of a logbook looked over once, page by page: which are silent for too long.

Pure over pages. Only what is overdue or was known before is kept, so that a hundred thousand
workflows that go on cost no room.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from connectors.logbook import LastSeen, LatestPage
from copilot.intake.silence import Hole
from copilot.settings.daemon import StallDetector


@dataclass(frozen=True, slots=True)
class Quiet:
    """Which workflows are overdue at all."""

    now: datetime
    threshold: timedelta
    exclude: tuple[str, ...] = ()

    @property
    def before(self) -> datetime:
        """A workflow whose last progress is not after this is overdue."""
        return self.now - self.threshold

    def excludes(self, workflow: str) -> bool:
        """True when the workflow may rest."""
        return any(fits(glob, workflow) for glob in self.exclude)


@dataclass(slots=True)
class Survey:
    """What the pages said."""

    workflows: int = 0
    """All that were seen, ended and excluded ones too."""
    going: int = 0
    """Those that have not ended and are not excluded."""
    newest: datetime | None = None
    """The newest entry of the whole logbook."""
    newest_progress: datetime | None = None
    """The newest entry of progress of any workflow."""
    overdue: list[LastSeen] = field(default_factory=list)
    known: dict[str, LastSeen] = field(default_factory=dict)
    """The rows of those that were known as stalled and are not overdue now."""
    by_minute: Counter[int] = field(default_factory=Counter)
    """How many of those that go on had their last progress in each minute since 1970."""

    def last_seen_since(self, start: datetime) -> int:
        """How many of those that go on had their last progress since then, to the minute."""
        first = _minute(start)
        return sum(count for minute, count in self.by_minute.items() if minute >= first)


def quiet(settings: StallDetector, now: datetime) -> Quiet:
    """The rules of *settings* at *now*."""
    return Quiet(now, settings.threshold, settings.exclude)


def survey(pages: Iterable[LatestPage], rules: Quiet, known: Collection[str]) -> Survey:
    """What the pages say of all workflows. *known* are those that were told as stalled."""
    seen = Survey()
    for page in pages:
        seen.newest = page.newest
        for row in page.rows:
            _count(seen, row, rules, known)
    return seen


def has_ended(row: LastSeen) -> bool:
    """True when the workflow's last word was its end; progress after it is a new life."""
    return row.ended is not None and (row.last is None or row.last <= row.ended)


def stalled(overdue: Iterable[LastSeen], holes: Sequence[Hole], rules: Quiet) -> list[LastSeen]:
    """Those of the overdue that are so by what could be seen.

    In a hole of the logbook any of them may have made progress, up to its very end.
    """
    return [
        row
        for row in overdue
        if row.last and max([row.last, *(hole.end for hole in holes)]) <= rules.before
    ]


def fits(glob: str, name: str) -> bool:
    """True when *name* is what *glob* says: `*` stands for any text, all else for itself."""
    first, *inner = glob.split("*")
    if not inner:
        return name == glob
    last = inner.pop()
    if not name.startswith(first) or not name.endswith(last):
        return False
    place, end = len(first), len(name) - len(last)
    for part in inner:
        found = name.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return place <= end


def _count(seen: Survey, row: LastSeen, rules: Quiet, known: Collection[str]) -> None:
    seen.workflows += 1
    if row.last and (seen.newest_progress is None or row.last > seen.newest_progress):
        seen.newest_progress = row.last
    goes_on = row.last is not None and not has_ended(row) and not rules.excludes(row.value)
    if goes_on and row.last:
        seen.going += 1
        seen.by_minute[_minute(row.last)] += 1
    if goes_on and row.last and row.last <= rules.before:
        seen.overdue.append(row)
    elif row.value in known:
        seen.known[row.value] = row


def _minute(time: datetime) -> int:
    return int(time.timestamp()) // 60

"""Templates counted over the entries that a logbook hands in, and drawn as patterns. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from connectors.log_files.levels import LEVELS
from connectors.logbook import Entry, Pattern
from connectors.templates import TemplateMiner

Masks = Sequence[tuple[str, str]]
SAMPLES = 4


Row: TypeAlias = tuple[int, int, int, str]
"""What a template miner needs of one entry: its id, the numbers of its source and its level, its
message. Ids order like the times; -1 and less: no time. A plain tuple, for the sake of millions."""


@dataclass(slots=True)
class Seen:
    """How one template occurs in one window; entries by their ids, which order like their times."""

    first: int
    last: int
    count: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    sources: Counter[int] = field(default_factory=Counter)
    first_of: dict[int, int] = field(default_factory=dict)
    """The first entry of each source."""

    def add(self, entry_id: int, source: int, level: int) -> None:
        """Count one more entry."""
        if entry_id > self.last:
            self.last = entry_id
        elif entry_id < self.first:
            self.first = entry_id
        self.count += 1
        self.levels[level] += 1
        self.sources[source] += 1
        first = self.first_of.get(source)
        if first is None or entry_id < first:
            self.first_of[source] = entry_id

    @property
    def level(self) -> int:
        """The level that most of its entries have."""
        return self.levels.most_common(1)[0][0]

    @property
    def samples(self) -> list[int]:
        """The first entry, the first of each further source, and the last, without repeats."""
        firsts = sorted(self.first_of.values())[:SAMPLES]
        return list(dict.fromkeys((self.first, *firsts, self.last)))


Counted = dict[int, Seen]
"""What was seen, by the template's number."""


def counted(miner: TemplateMiner, rows: Iterable[Row], so_far: Counted | None = None) -> Counted:
    """The templates of *rows*. Levels keep messages apart that are worded alike.

    Where some are counted already, those of *rows* are added to them.
    """
    found = {} if so_far is None else so_far
    for entry_id, source, level, message in rows:
        number = miner.add(message, LEVELS[level])
        seen = found.get(number)
        if seen is None:
            seen = found[number] = Seen(entry_id, entry_id)
        seen.add(entry_id, source, level)
    return found


@dataclass(frozen=True, slots=True)
class Line:
    """One pattern to draw: its wording, where it was seen, and its figures."""

    template: str
    seen: Seen
    count: int
    baseline_count: int
    lift: float


def shown(lines: Sequence[Line]) -> list[int]:
    """The ids of the entries that *lines* are drawn with."""
    return sorted({entry_id for line in lines for entry_id in line.seen.samples})


def drawn(
    lines: Sequence[Line], entries: Mapping[int, Entry], names: Mapping[int, str]
) -> tuple[Pattern, ...]:
    """The patterns in the order of *lines*, with their entries and the names of their sources."""
    return tuple(_pattern(line, entries, names) for line in lines)


def _pattern(line: Line, entries: Mapping[int, Entry], names: Mapping[int, str]) -> Pattern:
    seen = line.seen
    samples = tuple(entries[entry_id] for entry_id in seen.samples)
    times: list[datetime | None] = [entries[seen.first].time, entries[seen.last].time]
    timed = [time for time in (entry.time for entry in samples) if time]
    if times[0] is None and timed:  # its first entries have no time at all
        times[0] = timed[0]
    scale = max(line.count, line.baseline_count) / seen.count
    return Pattern(
        template=line.template,
        count=line.count,
        baseline_count=line.baseline_count,
        lift=round(line.lift, 3),
        level=LEVELS[seen.level],
        first=times[0],
        last=times[1],
        sources=tuple(
            (names[source], round(count * scale)) for source, count in seen.sources.most_common()
        ),
        samples=samples,
    )

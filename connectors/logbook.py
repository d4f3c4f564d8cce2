"""What every logbook offers: values and the one protocol. No implementation here.

A logbook holds log events with a time, a source and a line, so that whatever is cited can be read
by a person in the original file. An answer always says whether it is complete; a number that a
store could not count exactly says so too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol

from copilot.window import ALWAYS, Window

Order = Literal["newest", "oldest", "ranked"]
Relation = Literal["exact", "at_least", "unknown"]
TimeFlag = Literal["own", "carried", "none"]
"""`carried`: the line had no time, the last one seen above it in its file was taken."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One log event. `message` is the raw text, all its lines joined by newlines."""

    id: str
    time: datetime | None
    time_flag: TimeFlag
    level: str
    """FATAL, ERROR, WARN, INFO, DEBUG, TRACE, or empty when the line names none.

    A stack trace that stands alone, without any level, counts as ERROR.
    """
    source: str
    """The file or index that it came from, as it was named at the import."""
    line: int
    """The first line in the source, from 1; 0 where the source has no lines."""
    record: int | None
    """The 0-based index in a JSON array, else None."""
    message: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """Named values of the event: host, pod, component, status, … None of them is the message."""
    verbatim: bool = True
    """True when `message` is the source's own text from `line` on, line by line. False when it was
    taken out of a column or a key: then all of it stands on `line`, whatever newlines it holds."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What an entry must match; empty means everything. Values are compared exactly."""

    levels: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    """Words that must all occur; `"a phrase"`, `-word` excludes, `prefix*`. Case is ignored."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search. `limit` caps the entries returned, never the count."""

    filters: Filters = Filters()
    window: Window = ALWAYS
    order: Order = "newest"
    limit: int = 40
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """How many matched, and whether that number is exact."""

    value: int
    relation: Relation = "exact"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an answer rests on. `why_incomplete` is empty exactly when the answer is complete."""

    why_incomplete: str = ""
    untimed: int = 0
    """Matching entries without any time, which no window can hold."""
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True when "nothing found" would be a fact."""
        return not self.why_incomplete


@dataclass(frozen=True, slots=True)
class Found:
    """The entries of one page, in the order asked for."""

    entries: tuple[Entry, ...]
    total: Count
    coverage: Coverage
    first: datetime | None
    last: datetime | None
    cursor: str
    """Give it back for the next page; empty on the last one."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: how many entries carry it and its most frequent values with counts."""

    name: str
    count: int
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """What can be filtered on. `time_field` says where times come from."""

    time_field: str
    total: int
    first: datetime | None
    last: datetime | None
    fields: tuple[Field, ...]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Bucket:
    """Entries and errors (level ERROR or FATAL) of one stretch of time."""

    start: datetime
    count: int
    errors: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """Messages that differ only in masked parts. Counts are of the whole window.

    `lift` compares the rates: (count/window) over (baseline_count/baseline), each plus one half
    an entry, so that a template new in the window has a large but finite lift.
    """

    template: str
    count: int
    baseline_count: int
    lift: float
    level: str
    first: datetime | None
    last: datetime | None
    sources: tuple[tuple[str, int], ...]
    samples: tuple[Entry, ...]
    """The first entry, the first of each further source (at most 4), and the last one."""


@dataclass(frozen=True, slots=True)
class Overview:
    """Statistics before lines."""

    total: Count
    first: datetime | None
    last: datetime | None
    bucket: timedelta
    buckets: tuple[Bucket, ...]
    levels: tuple[tuple[str, int], ...]
    sources: tuple[tuple[str, int], ...]
    top: tuple[Pattern, ...]
    """The most frequent templates; identifiers are masked. Mined from a sample when large."""
    holes: tuple[Window, ...]
    """Stretches without any entry that are far longer than the window's usual gaps."""
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Patterns:
    """Templates by descending lift, and those of the baseline that no longer occur."""

    rose: tuple[Pattern, ...]
    vanished: tuple[Pattern, ...]
    total: Count
    baseline_total: Count
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Latest:
    """One page of an answer: when each value of a field was seen last, and whether it had ended.

    It is asked of every workflow that runs, so a store answers it by itself, in one aggregation.
    """

    field: str
    """The field whose values are asked for: one of `fields()`, or `source`."""
    filters: Filters = Filters()
    ending: Filters | None = None
    """Entries that end a value, as in "workflow completed"; they need not match `filters`."""
    window: Window = ALWAYS
    limit: int = 10_000
    """Values on one page, at most."""
    after: str = ""
    """The page starts behind this value: give back `next` of the page before."""


@dataclass(frozen=True, slots=True)
class LastSeen:
    """One value, and its entries within the window. Times are right to the millisecond."""

    value: str
    last: datetime | None
    """The newest entry that matches `filters`; None when only `ending` matched."""
    count: int
    """How many match `filters`."""
    ended: datetime | None
    """The newest entry that matches `ending`; None when there is none."""


@dataclass(frozen=True, slots=True)
class LatestPage:
    """Some of the values, ascending: texts by code point, which is the order of UTF-8 too."""

    rows: tuple[LastSeen, ...]
    next: str
    """Empty on the last page. A page may hold fewer rows than its limit, even none, before that."""
    coverage: Coverage
    newest: datetime | None
    """The newest entry of the whole logbook before the window's end, whatever field and filters.

    It tells a silent logbook from silent values; the bound keeps out a clock that runs ahead.
    """


class Logbook(Protocol):
    """A source of log events. Every method raises ConnectorError when it could not look."""

    name: str

    def fields(self) -> Fields:
        """The fields that filters may use, with sample values."""

    def search(self, search: Search) -> Found:
        """The matching entries of one page."""

    def overview(self, window: Window, filters: Filters, bucket: timedelta | None) -> Overview:
        """Counts over time, levels, sources and top templates. None picks about 24 buckets."""

    def patterns(self, window: Window, baseline: Window | None, filters: Filters) -> Patterns:
        """What rose in *window* against *baseline*. None: the same length just before it."""

    def context(self, source: str, line: int, before: int, after: int) -> Found:
        """The entries around that line of that source, in file order. Times are no bound.

        An entry whose line is 0 is named by its id in place of *source*; those around it are those
        of its source, by time.
        """

    def trace(self, identifier: str, window: Window, limit: int) -> Found:
        """Every entry that holds *identifier* whole, oldest first, over all sources."""

    def latest(self, asked: Latest) -> LatestPage:
        """One page of the last entries of each value of a field, counted by the store itself.

        A value is on exactly one page when it is not empty and the window holds an entry with it
        that matches `filters` or `ending`. Entries without a time count for nothing, and are
        counted in `coverage.untimed`. An entry with several values counts for each. Pages do not
        share a view: what arrives between two may be missed, and nothing else.
        In OpenSearch: a composite aggregation of one terms source under a query of the window and
        either filter; in it two filter aggregations with max of the time; `after` and `next` are
        its after_key, an incomplete answer (timed out, failed shards) is so in `coverage`.
        """


def physical_line(entry: Entry, offset: int) -> int:
    """The line of the source that holds the character at *offset* of the entry's message."""
    return entry.line + (entry.message.count("\n", 0, offset) if entry.verbatim else 0)


def all_of(entries: Sequence[Entry]) -> tuple[datetime | None, datetime | None]:
    """The first and last time among *entries*; None, None when no entry has one."""
    times = [entry.time for entry in entries if entry.time]
    return (min(times), max(times)) if times else (None, None)

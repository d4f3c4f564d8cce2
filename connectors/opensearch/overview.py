"""Statistics before lines: counts over time, levels, sources, holes, frequent templates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from connectors.log_files.levels import LEVELS, level_of_word
from connectors.logbook import Bucket, Coverage, Filters, Overview, Pattern
from connectors.opensearch.answers import Answer, together
from connectors.opensearch.faults import RefusedError
from connectors.opensearch.query import Query, select, trouble
from connectors.opensearch.sample import Masks, Mine, estimate
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.span import Span, page_body, span_bodies, span_of
from connectors.opensearch.times import PER_MICRO
from connectors.time_slots import WIDTHS, ends_of, gaps_of, width_for
from connectors.timestamps import instant
from copilot.values import Json, JsonObject, list_at, object_at
from copilot.window import Window

MINUTE = timedelta(minutes=1)
MAX_SLOTS = 50_000
"""A server refuses an answer of many more buckets (search.max_buckets, 65,535 by default)."""
MAX_SOURCES = 1_000
MINED = 2_500
"""Entries that the most frequent templates come from; a template of one in a hundred is seen."""
TOP = 15
_ONE: Mapping[str, Json] = {"size": 1, "track_total_hits": False}


def overview(
    searches: Searches, window: Window, filters: Filters, bucket: timedelta | None, masks: Masks
) -> Overview:
    """Counts over time, levels, sources, top templates and holes; see the protocol."""
    schema = searches.schema
    query, _ = select(schema, filters)
    spans = searches.many(span_bodies(schema, query, window), "look at the times")
    span = span_of(schema, window, spans)
    told = _Told(searches, query, window, span)
    told.notes += [*schema.notes, *query.notes]
    covered = told.covered()
    width = width_for(covered, bucket, told.notes) if covered else bucket or WIDTHS[0]
    slots = told.count(covered, width)
    holes = _holes(told, slots, covered) if covered else ()
    return Overview(
        total=span.total,
        first=span.first,
        last=span.last,
        bucket=width,
        buckets=_buckets(slots, covered, width) if covered else (),
        levels=told.levels,
        sources=told.sources,
        top=_top(told, masks),
        holes=holes,
        coverage=Coverage(together((span.why, *told.whys)), span.untimed, tuple(told.notes)),
    )


@dataclass(frozen=True, slots=True)
class _Slot:
    """So many entries, and errors among them, in the slot that starts at that second."""

    second: int
    count: int
    errors: int


@dataclass(slots=True)
class _Told:
    """An overview while it is gathered."""

    searches: Searches
    query: Query
    window: Window
    span: Span
    notes: list[str] = field(default_factory=list)
    whys: list[str] = field(default_factory=list)
    levels: tuple[tuple[str, int], ...] = ()
    sources: tuple[tuple[str, int], ...] = ()

    @property
    def inside(self) -> Query:
        """The entries of the window."""
        return self.query.within(self.searches.schema, self.window)

    def covered(self) -> Window | None:
        """The window with its open ends where the entries end; None where there are none."""
        span = self.span
        start = self.window.start or span.first
        end = self.window.end or (span.last + timedelta(microseconds=1) if span.last else None)
        return Window(start, end) if span.first and start and end and start < end else None

    def count(self, covered: Window | None, width: timedelta) -> list[_Slot]:
        """The occupied slots; levels and sources are counted on the way."""
        schema = self.searches.schema
        sums: JsonObject = {"sources": _terms(schema.source, MAX_SOURCES)}
        if schema.level:
            sums["levels"] = _terms(schema.level, MAX_SOURCES)
        if not covered:
            answer = self._summed(sums)
        else:
            fine = timedelta(seconds=1) if width < MINUTE else MINUTE
            try:
                answer = self._summed(sums | {"slots": _over_time(schema, fine)})
            except RefusedError as error:
                if error.fault.kind != "too_many_buckets_exception":
                    raise
                coarse = _coarse(covered)
                self.notes.append(f"silences shorter than {coarse} are not seen in this window")
                answer = self._summed(sums | {"slots": _over_time(schema, coarse)})
        self.whys.append(answer.why_incomplete)
        self.levels = self._levels(answer)
        self.sources = self._sources(answer)
        return _slots(schema, answer)

    def _summed(self, sums: JsonObject) -> Answer:
        body: JsonObject = {"query": self.inside.clause(), "size": 0, "aggs": sums}
        return self.searches.one(body, "count")

    def _levels(self, answer: Answer) -> tuple[tuple[str, int], ...]:
        if not self.searches.schema.level:
            self.notes.append("the entries have no field of levels; errors are not counted")
            return ()
        counts = Counter[str]()
        for key, count in _counts(answer, "levels"):
            counts[key if self.searches.schema.own else level_of_word(key)] += count
        counts[""] += self.span.total.value - counts.total()
        ranked = sorted((LEVELS.index(name), name) for name, count in counts.items() if count > 0)
        return tuple((name, counts[name]) for _, name in reversed(ranked))

    def _sources(self, answer: Answer) -> tuple[tuple[str, int], ...]:
        others = object_at(answer.sums, "sources").get("sum_other_doc_count")
        if others:
            self.notes.append(f"{others} entries are of sources that are not listed")
        return tuple(_counts(answer, "sources"))


def _terms(name: str, size: int) -> JsonObject:
    return {"terms": {"field": name, "size": size}}


def _over_time(schema: Schema, slot: timedelta) -> JsonObject:
    """The histogram of occupied slots, with the errors of each."""
    seconds = max(1, int(slot.total_seconds()))
    errors: JsonObject = {"errors": {"filter": trouble(schema)}}
    by_time: JsonObject = {"field": schema.time.name, "min_doc_count": 1}
    if schema.time.kind == "number":
        times, over = PER_MICRO[schema.time.unit]
        by_time["interval"] = seconds * 1_000_000 * times // over
        return {"histogram": by_time, "aggs": errors}
    by_time["fixed_interval"] = f"{seconds}s"
    return {"date_histogram": by_time, "aggs": errors}


def _coarse(covered: Window) -> timedelta:
    """Slots of whole minutes, so wide that there cannot be too many."""
    assert covered.start
    assert covered.end
    return (int((covered.end - covered.start) / MAX_SLOTS / MINUTE) + 1) * MINUTE


def _slots(schema: Schema, answer: Answer) -> list[_Slot]:
    found = []
    for bucket in list_at(object_at(answer.sums, "slots"), "buckets"):
        key = bucket.get("key") if isinstance(bucket, dict) else None
        if isinstance(key, int | float):
            if schema.time.kind == "number":
                times, over = PER_MICRO[schema.time.unit]
                second = int(key) * over // times // 1_000_000
            else:
                second = int(key) // 1000
            found.append(_Slot(second, _size(bucket), _size(object_at(bucket, "errors"))))
    return found


def _buckets(slots: Sequence[_Slot], covered: Window, width: timedelta) -> tuple[Bucket, ...]:
    """Every bucket of the window, empty ones too; they start at whole multiples since 1970."""
    assert covered.start
    assert covered.end
    seconds = max(1, int(width.total_seconds()))
    counts, errors = Counter[int](), Counter[int]()
    for slot in slots:
        counts[slot.second // seconds] += slot.count
        errors[slot.second // seconds] += slot.errors
    start = int(covered.start.timestamp()) // seconds
    end = int((covered.end - timedelta(microseconds=1)).timestamp()) // seconds
    return tuple(
        Bucket(instant(place * seconds * 1_000_000), counts[place], errors[place])
        for place in range(start, end + 1)
    )


def _holes(told: _Told, slots: Sequence[_Slot], covered: Window) -> tuple[Window, ...]:
    """The longest stretches without an entry, in the order of time, the window's ends included."""
    wide, least = gaps_of({slot.second for slot in slots})
    found = _edges(told, wide) if wide else []
    if least is not None:
        found += ends_of(covered, (told.span.first, told.span.last), least)
    return tuple(sorted(found, key=lambda hole: str(hole.start)))


def _edges(told: _Told, gaps: Sequence[tuple[int, int]]) -> list[Window]:
    """Each hole from its last entry before it to its first one after."""
    schema, bodies = told.searches.schema, list[JsonObject]()
    for before, after in gaps:
        until = Window(instant(before * 1_000_000), instant(after * 1_000_000))
        since = Window(instant(after * 1_000_000), None)
        bodies += [
            page_body(schema, told.inside.within(schema, until), "desc") | {**_ONE},
            page_body(schema, told.inside.within(schema, since), "asc") | {**_ONE},
        ]
    answers = told.searches.many(bodies, "look at the silences")
    times = [estimate(schema, answer) for answer in answers]
    return [
        Window(start, end)
        for start, end in zip(times[::2], times[1::2], strict=True)
        if start and end
    ]


def _top(told: _Told, masks: Masks) -> tuple[Pattern, ...]:
    """The most frequent templates; the notes say when they come from a sample."""
    total = told.span.total.value
    mine = Mine(told.searches, masks)
    sample = mine.sample(told.inside, total, MINED)
    told.whys.append(sample.why)
    if sample.scale > 1:
        told.notes.append(
            f"top templates come from {sample.read} entries drawn from {total}; their "
            "counts are estimates"
        )
    return mine.frequent(sample, TOP)


def _counts(answer: Answer, name: str) -> list[tuple[str, int]]:
    found = []
    for bucket in list_at(object_at(answer.sums, name), "buckets"):
        key: Json = bucket.get("key") if isinstance(bucket, dict) else None
        found.append((str(key), _size(bucket)))
    return found


def _size(bucket: Json) -> int:
    count = bucket.get("doc_count") if isinstance(bucket, dict) else 0
    return count if isinstance(count, int) else 0

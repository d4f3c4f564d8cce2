"""A bounded, even sample of a query, and the templates in it.

The draw is the server's own `random_score` over `_seq_no` with a fixed seed: the same question gets
the same sample. It reads no other index and runs no script; it is the one clause besides those that
`query` lists. Templates are counted while pages arrive, and a page is let go with all that no
template is shown by: a sample may be larger than what ought to be held at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from connectors.logbook import Pattern
from connectors.opensearch.answers import Answer, Hit
from connectors.opensearch.entries import Reading
from connectors.opensearch.pages import Pages
from connectors.opensearch.query import Query
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.times import column
from connectors.template_counts import Counted, Line, Row, counted, drawn, shown
from connectors.templates import TemplateMiner
from copilot.values import Json, JsonObject

Masks = Sequence[tuple[str, str]]
SEED = 17
PAGE = 5_000
NEVER = (1 << 63) - 1
"""What an entry without a time is sorted by."""
ARRIVALS = 1 << 24
"""More than are ever read for one answer."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The templates of a window, counted over all its entries or an even sample of them."""

    seen: Counted
    read: int
    """How many entries they were counted over."""
    scale: float
    """How many of all each one stands for."""
    why: str
    """Why it is not what it should be; empty when it is."""


@dataclass(slots=True)
class Mine:
    """Mines the samples of one answer together, so that a template is the same one in each."""

    searches: Searches
    masks: Masks
    miner: TemplateMiner = field(init=False)
    _hits: dict[int, Hit] = field(default_factory=dict)
    """Those that templates are shown by, under numbers that order like their times."""
    _sources: dict[str, int] = field(default_factory=dict)
    _arrived: int = 0

    def __post_init__(self) -> None:
        self.miner = TemplateMiner(self.masks)

    def sample(self, query: Query, total: int, limit: int) -> Sample:
        """All *total* entries of *query*, or *limit* of them drawn evenly where there are more."""
        found: Counted = {}
        if not total:
            return Sample(found, 0, 1.0, "")
        pages = Pages(self.searches, _body(self.searches.schema, query, total > limit), size=PAGE)
        held: dict[int, Hit] = {}
        before = self._arrived
        for hits in pages.each(limit):
            held |= self._count(hits, found)
            held = {place: held[place] for seen in found.values() for place in seen.samples}
            del hits  # before the next page is read
        self._hits |= held
        read = self._arrived - before
        return Sample(found, read, total / read if total > limit and read else 1.0, pages.why)

    def lines(self, lines: Sequence[Line]) -> tuple[Pattern, ...]:
        """The patterns of *lines*."""
        reading = Reading(self.searches.schema)
        entries = {place: reading.entry(self._hits[place]) for place in shown(lines)}
        return drawn(lines, entries, {number: name for name, number in self._sources.items()})

    def frequent(self, sample: Sample, count: int) -> tuple[Pattern, ...]:
        """The most frequent templates of a sample."""
        most = sorted(sample.seen.items(), key=lambda item: -item[1].count)[:count]
        return self.lines(
            [
                Line(self.miner.text(number), seen, round(seen.count * sample.scale), 0, 1.0)
                for number, seen in most
            ]
        )

    def _count(self, hits: list[Hit], found: Counted) -> dict[int, Hit]:
        """Count one page into *found*; its hits by their places."""
        placed = {_place(hit, count): hit for count, hit in enumerate(hits, self._arrived + 1)}
        self._arrived += len(hits)
        counted(self.miner, self._rows(placed), found)
        return placed

    def _rows(self, placed: dict[int, Hit]) -> Iterator[Row]:
        """One row for each hit, by their times; they are not held, as one is enough at a time."""
        glance, sources = Reading(self.searches.schema).glance, self._sources
        for place in sorted(placed):
            source, level, message = glance(placed[place])
            yield place, sources.setdefault(source, len(sources)), level, message


def _place(hit: Hit, arrived: int) -> int:
    """A number for a hit by what its time is sorted by, unlike any other; see Row."""
    time = hit.order[-1] if hit.order else None
    if isinstance(time, int) and time != NEVER:
        return time * ARRIVALS + arrived
    if isinstance(time, float):
        return int(time * 1_000_000) * ARRIVALS + arrived
    return arrived - (1 << 100)


def _body(schema: Schema, query: Query, drawn_evenly: bool) -> JsonObject:
    """The search that gives a sample; each hit says last what its time is."""
    clause, sort = query.clause(), list[Json]([{"_seq_no": "asc"}, schema.order("asc")[0]])
    if drawn_evenly:
        score: JsonObject = {"seed": SEED, "field": "_seq_no"}
        clause = {"function_score": {"query": clause, "random_score": score}}
        sort = [{"_score": "desc"}, *sort]
    body: JsonObject = {"query": clause, "sort": sort}
    if schema.own:
        return body | {"_source": {"excludes": ["extra", "pairs", "names"]}}
    return body | {"docvalue_fields": [column(schema.time)]}


def estimate(schema: Schema, answer: Answer) -> datetime | None:
    """The time of the one hit of an answer."""
    return Reading(schema).entry(answer.hits[0]).time if answer.hits else None

"""A bounded, even sample of a query, and the templates in it.

The draw is the server's own `random_score` over `_seq_no` with a fixed seed: the same question gets
the same sample. It reads no other index and runs no script; it is the one clause besides those that
`query` lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from connectors.logbook import Pattern
from connectors.opensearch.answers import Answer
from connectors.opensearch.entries import Glance, Reading, in_order
from connectors.opensearch.pages import Pages
from connectors.opensearch.query import Query
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.times import column
from connectors.template_counts import Counted, Line, Row, counted, drawn, shown
from connectors.templates import TemplateMiner
from copilot.values import JsonObject

Masks = Sequence[tuple[str, str]]
SEED = 17
PAGE = 5_000


@dataclass(frozen=True, slots=True)
class Sample:
    """Entries in order, as hits that are read in full only where they are shown."""

    glances: tuple[Glance, ...]
    scale: float
    """How many of all each one stands for."""
    why: str
    """Why it is not what it should be; empty when it is."""


EMPTY = Sample((), 1.0, "")


def sampled(searches: Searches, query: Query, total: int, limit: int) -> Sample:
    """All entries of *query*, or *limit* of them drawn evenly where there are more."""
    if not total:
        return EMPTY
    schema = searches.schema
    clause, sort = query.clause(), list[JsonObject]([{"_seq_no": "asc"}])
    if total > limit:
        score: JsonObject = {"seed": SEED, "field": "_seq_no"}
        clause = {"function_score": {"query": clause, "random_score": score}}
        sort = [{"_score": "desc"}, {"_seq_no": "asc"}]
    body: JsonObject = {"query": clause, "sort": list(sort)}
    if schema.own:
        body["_source"] = {"excludes": ["extra", "pairs", "names"]}
    else:
        body["docvalue_fields"] = [column(schema.time)]
    pages = Pages(searches, body, size=PAGE)
    pages.read(limit)
    reading = Reading(schema)
    glances = in_order([reading.glance(hit) for hit in pages.hits[:limit]])
    scale = total / len(glances) if total > limit and glances else 1.0
    return Sample(tuple(glances), scale, pages.why)


@dataclass(frozen=True, slots=True)
class Pool:
    """The entries of one or two samples, numbered in the order of their time."""

    reading: Reading
    glances: dict[int, Glance]
    names: dict[int, str]

    def lines(self, lines: Sequence[Line]) -> tuple[Pattern, ...]:
        """The patterns of *lines*."""
        entries = {place: self.reading.entry(self.glances[place].hit) for place in shown(lines)}
        return drawn(lines, entries, self.names)


def mined(
    schema: Schema, miner: TemplateMiner, samples: Sequence[Sample]
) -> tuple[list[Counted], Pool]:
    """The templates of each sample, and the pool that they are drawn from."""
    numbers: dict[str, int] = {}
    glances: dict[int, Glance] = {}
    found = []
    for sample in samples:
        rows = []
        for glance in sample.glances:
            # without a time comes first, as negative numbers do; see Row
            place = len(glances) if glance.time else len(glances) - (1 << 40)
            glances[place] = glance
            source = numbers.setdefault(glance.source, len(numbers))
            rows.append(Row(place, source, glance.level, glance.message))
        found.append(counted(miner, sorted(rows)))
    names = {number: name for name, number in numbers.items()}
    return found, Pool(Reading(schema), glances, names)


def frequent(schema: Schema, sample: Sample, masks: Masks, count: int) -> tuple[Pattern, ...]:
    """The most frequent templates of a sample."""
    miner = TemplateMiner(masks)
    (seen,), pool = mined(schema, miner, [sample])
    most = sorted(seen.items(), key=lambda item: -item[1].count)[:count]
    return pool.lines(
        [
            Line(miner.text(number), item, round(item.count * sample.scale), 0, 1.0)
            for number, item in most
        ]
    )


def estimate(schema: Schema, answer: Answer) -> datetime | None:
    """The time of the one hit of an answer."""
    return Reading(schema).entry(answer.hits[0]).time if answer.hits else None

"""How many entries there are, from when to when; and the sorted search that pages are read by."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from connectors.logbook import Count
from connectors.opensearch.answers import Answer, together
from connectors.opensearch.entries import Reading
from connectors.opensearch.query import Query
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import merged
from connectors.opensearch.times import column
from copilot.values import JsonObject
from copilot.window import ALWAYS, Window

Direction: TypeAlias = Literal["asc", "desc"]


@dataclass(frozen=True, slots=True)
class Span:
    """How many entries of a window there are, from when to when, and how many have no time."""

    total: Count
    first: datetime | None
    last: datetime | None
    untimed: int
    """Those that match but have no time, whatever the window."""
    why: str


def span_bodies(schema: Schema, query: Query, window: Window) -> list[JsonObject]:
    """The three searches that tell a span: both ends, and the entries without a time."""
    inside = query.within(schema, window)
    timed = inside if window != ALWAYS else query.timed(schema)
    ends = [
        page_body(schema, timed, "asc")
        | {"size": 1, "track_total_hits": True, "_source": schema.time.name},
        page_body(schema, timed, "desc")
        | {"size": 1, "track_total_hits": False, "_source": schema.time.name},
    ]
    rest: JsonObject = {
        "query": query.untimed(schema).clause(),
        "size": 0,
        "track_total_hits": True,
    }
    return [*ends, rest]


def span_of(schema: Schema, window: Window, answers: list[Answer]) -> Span:
    """The span that the answers to `span_bodies` tell."""
    oldest, newest, untimed = answers
    reading = Reading(schema)
    first, last = (
        reading.entry(answer.hits[0]).time if answer.hits else None for answer in (oldest, newest)
    )
    total = oldest.total if window != ALWAYS else merged(oldest.total, [untimed.total])
    why = together(answer.why_incomplete for answer in answers)
    return Span(total, first, last, untimed.total.value, why)


def page_body(
    schema: Schema, query: Query, order: Direction, *, ranked: bool = False
) -> JsonObject:
    """A sorted search without a size."""
    body: JsonObject = {"query": query.clause(ranked=ranked)}
    if ranked:
        body["sort"] = [{"_score": "desc"}, {"_seq_no": "desc"}]
    else:
        body["sort"] = list(schema.order(order))
    if not schema.own:
        body["docvalue_fields"] = [column(schema.time)]
    return body

"""When each value of a field was seen last: one composite aggregation a page."""

from datetime import datetime

from connectors.logbook import Coverage, LastSeen, Latest, LatestPage
from connectors.opensearch.answers import Answer, together
from connectors.opensearch.layout import pair
from connectors.opensearch.query import Query, select
from connectors.opensearch.sample import estimate
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.span import page_body
from connectors.opensearch.times import PER_MICRO
from connectors.opensearch.words import any_of
from connectors.timestamps import instant
from copilot.errors import UsageError
from copilot.values import Json, JsonObject, list_at, object_at, text_at
from copilot.window import Window

MAX_LIMIT = 10_000


def latest(searches: Searches, asked: Latest) -> LatestPage:
    """The page of values that *asked* names."""
    schema = searches.schema
    limit = max(1, min(asked.limit, MAX_LIMIT))
    kinds = [asked.filters, *([asked.ending] if asked.ending else [])]
    queries = [select(schema, kind)[0] for kind in kinds]
    newest = Query().within(schema, Window(None, asked.window.end)).timed(schema)
    last_one: JsonObject = {"size": 1, "track_total_hits": False}
    counts: list[JsonObject] = [
        {"query": query.untimed(schema).clause(), "size": 0, "track_total_hits": True}
        for query in queries
    ]
    bodies = [
        _body(schema, asked, queries, limit),
        page_body(schema, newest, "desc") | last_one,
        *counts,
    ]
    sums, last, *untimed = searches.many(bodies, "find the last entries")
    rows, next_ = _rows(schema, asked, sums, limit)
    return LatestPage(
        rows=rows,
        next=next_,
        coverage=Coverage(
            together(answer.why_incomplete for answer in (sums, last, *untimed)),
            sum(answer.total.value for answer in untimed),
            (*schema.notes, *(note for query in queries for note in query.notes)),
        ),
        newest=estimate(schema, last),
    )


def _body(schema: Schema, asked: Latest, queries: list[Query], limit: int) -> JsonObject:
    either = any_of(query.clause() for query in queries)
    inside = Query(wanted=(either,)).within(schema, asked.window).timed(schema)
    prefix = _prefix(schema, asked.field)
    composite: JsonObject = {
        "size": limit,
        "sources": [{"value": {"terms": {"field": _field(schema, asked.field)}}}],
    }
    if prefix or asked.after:
        composite["after"] = {"value": prefix + asked.after}
    last: JsonObject = {"max": {"field": schema.time.name}}
    parts: JsonObject = {
        name: {"filter": query.clause(), "aggs": {"last": last}}
        for name, query in zip(("here", "ended"), queries, strict=False)
    }
    sums: JsonObject = {"values": {"composite": composite, "aggs": parts}}
    return {"query": inside.clause(), "size": 0, "track_total_hits": False, "aggs": sums}


def _field(schema: Schema, name: str) -> str:
    if name == "source":
        return schema.source
    if schema.own:
        return "pairs"
    exact = schema.keywords.get(name)
    if not exact:
        raise UsageError(
            f"the values of {name!r} cannot be counted; logbook_fields lists the fields that can"
        )
    return exact


def _prefix(schema: Schema, name: str) -> str:
    """What the values of that field begin with in the one field of pairs."""
    return pair(name, "") if schema.own and name != "source" else ""


def _rows(
    schema: Schema, asked: Latest, answer: Answer, limit: int
) -> tuple[tuple[LastSeen, ...], str]:
    prefix = _prefix(schema, asked.field)
    buckets = list_at(object_at(answer.sums, "values"), "buckets")
    rows, value, beyond = [], "", False
    for bucket in buckets:
        text = text_at(object_at(bucket, "key"), "value")
        if not text.startswith(prefix):  # the pairs of the next field begin here
            beyond = True
            break
        value = text.removeprefix(prefix)
        if value:
            rows.append(_row(schema, value, object_at(bucket, "here"), object_at(bucket, "ended")))
    return tuple(rows), value if len(buckets) == limit and not beyond else ""


def _row(schema: Schema, value: str, here: JsonObject, ended: JsonObject) -> LastSeen:
    count = here.get("doc_count")
    return LastSeen(
        value,
        _time(schema, object_at(here, "last").get("value")),
        count if isinstance(count, int) else 0,
        _time(schema, object_at(ended, "last").get("value")),
    )


def _time(schema: Schema, value: Json) -> datetime | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if schema.time.kind != "number":
        return instant(int(value) * 1000)
    times, over = PER_MICRO[schema.time.unit]
    return instant(int(value) * over // times // 1000 * 1000)

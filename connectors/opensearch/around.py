"""The entries around one that has no line: those of its source just before and after it, by time.

Entries of one instant are told apart by the order in which they were indexed (`_seq_no`). That
number repeats in each shard: those that share both with the entry are among the later ones.
"""

from connectors.logbook import Count, Coverage, Entry, Found, all_of
from connectors.opensearch.answers import Answer, Hit, together
from connectors.opensearch.entries import Reading
from connectors.opensearch.query import Query
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.span import Direction, page_body
from copilot.errors import NotFoundError
from copilot.values import Json, JsonObject

BY_TIME = (
    "this logbook has no line numbers: these are the entries of the same source around that one by "
    "time, those of one instant in the order in which they were indexed"
)
TIED = 8
"""Entries of other shards that may share time and number with the one asked for."""


def around(searches: Searches, key: str, before: int, after: int) -> Found:
    """So many entries before and after the one of that `index/_id`. Raises NotFoundError."""
    schema = searches.schema
    [held] = searches.told([_found_by(schema, key)], "look up an entry")
    if not held.hits:
        why = f" ({held.why_incomplete})" if held.why_incomplete else ""
        raise NotFoundError(
            f"there is no entry {key!r} in this logbook any more{why}; its index may have been "
            "deleted or rolled over, and what scratch holds of it is then all there is"
        )
    hit = held.hits[0]
    entry = Reading(schema).entry(hit)
    if entry.time is None:
        notes = ("that entry has no time: nothing is before or after it",)
        return _found([hit], schema, [held], notes)
    earlier, later = searches.told(
        [
            _beside(schema, entry, "desc", list(hit.order), before),
            _beside(schema, entry, "asc", _just_before(hit), after + 1 + TIED),
        ],
        "look around an entry",
    )
    rest = [other for other in later.hits if other.key != hit.key][:after]
    hits = [*reversed(earlier.hits), hit, *rest]
    return _found(hits, schema, [held, earlier, later], (BY_TIME,))


def _found_by(schema: Schema, key: str) -> JsonObject:
    index, _, name = key.partition("/")
    named: list[Json] = [name]
    only = Query(wanted=({"term": {"_index": index}}, {"ids": {"values": named}}))
    return page_body(schema, only, "asc") | {"size": 1, "track_total_hits": False}


def _beside(
    schema: Schema, entry: Entry, order: Direction, start: list[Json], size: int
) -> JsonObject:
    """The search for the entries of the same source that sort after *start*."""
    same = Query(wanted=({"term": {schema.source: entry.source}},)).timed(schema)
    body = page_body(schema, same, order)
    return body | {"search_after": start, "size": size, "track_total_hits": False}


def _just_before(hit: Hit) -> list[Json]:
    """A place from which the hit itself, and all that sort like it, come first."""
    time, number = hit.order
    return [time, number - 1 if isinstance(number, int) else number]


def _found(hits: list[Hit], schema: Schema, answers: list[Answer], notes: tuple[str, ...]) -> Found:
    reading = Reading(schema)
    entries = tuple(reading.entry(hit) for hit in hits)
    coverage = Coverage(together(answer.why_incomplete for answer in answers), notes=notes)
    return Found(entries, Count(len(entries)), coverage, *all_of(entries), "")

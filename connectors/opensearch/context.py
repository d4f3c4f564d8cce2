"""The entries around one line of one source, in file order; by time where there are no lines."""

from typing import Literal

from connectors.logbook import Count, Coverage, Found, all_of
from connectors.opensearch.answers import Answer, Hit, together
from connectors.opensearch.around import around
from connectors.opensearch.entries import Reading
from connectors.opensearch.searches import Searches
from connectors.opensearch.times import column
from copilot.errors import ConnectorError, NotFoundError
from copilot.values import Json, JsonObject, object_at

MAX_AROUND = 1_000


def context(searches: Searches, source: str, line: int, before: int, after: int) -> Found:
    """The entry that holds *line*, and so many before and after it. Raises NotFoundError.

    Line 0: *source* is the id of an entry, and those of its source around it are told by time.
    """
    schema = searches.schema
    before, after = _bounded(before), _bounded(after)
    if not line and not schema.own:
        return around(searches, source, before, after)
    if not schema.line:
        raise ConnectorError(
            "the entries of this logbook have no line numbers; give a reference to an entry that "
            "was found, or name the field of lines with fields.line in copilot.yaml"
        )
    place = _Place(searches, source)
    held, lines = place.at(line)
    if not lines:
        raise NotFoundError(
            f"there is no source {source!r} in this logbook; logbook_overview lists the sources"
        )
    first, *_ = held
    earlier, later = place.around(first, before, after)
    reading = Reading(schema)
    entries = tuple(reading.entry(hit) for hit in (*reversed(earlier), first, *later))
    span = all_of(entries)
    notes = () if 1 <= line <= lines else (f"{source} has lines 1 to {lines}; this is its end",)
    coverage = Coverage(together(place.whys), notes=notes)
    return Found(entries, Count(len(entries)), coverage, *span, "")


class _Place:
    """Looks around in one source."""

    def __init__(self, searches: Searches, source: str) -> None:
        self._searches = searches
        self._source: JsonObject = {"term": {searches.schema.source: source}}
        self._line = searches.schema.line
        self.whys: list[str] = []

    def at(self, line: int) -> tuple[list[Hit], int]:
        """The entry that holds *line*, or the nearest end; and how many lines the source has."""
        sums: JsonObject = {
            "lines": {"sum": {"field": "lines"}},
            "last": {"max": {"field": self._line}},
        }
        bodies = [
            self._body("desc", {"range": {self._line: {"lte": line}}}, 1),
            self._body("asc", None, 1),
            self._body("desc", None, 1) | {"aggs": sums},
        ]
        held, start, end = self._ask(bodies)
        counted = object_at(end.sums, "lines" if self._searches.schema.own else "last").get("value")
        lines = int(counted) if isinstance(counted, int | float) else 0
        if line > lines:
            return list(end.hits), lines
        return list(held.hits or start.hits), lines

    def around(self, hit: Hit, before: int, after: int) -> tuple[list[Hit], list[Hit]]:
        """The entries just before *hit*, nearest first, and those just after it."""
        bodies = [
            self._body("desc", None, before) | {"search_after": list(hit.order)},
            self._body("asc", None, after) | {"search_after": list(hit.order)},
        ]
        earlier, later = self._ask(bodies)
        return list(earlier.hits), list(later.hits)

    def _ask(self, bodies: list[JsonObject]) -> list[Answer]:
        answers = self._searches.told(bodies, "look around a line")
        self.whys += [answer.why_incomplete for answer in answers]
        return answers

    def _body(self, order: Literal["asc", "desc"], more: Json, size: int) -> JsonObject:
        clauses: list[Json] = [self._source, *([more] if more else [])]
        schema = self._searches.schema
        second = "part" if schema.own else "_seq_no"
        body: JsonObject = {
            "query": {"bool": {"filter": clauses}},
            "sort": [{self._line: order}, {second: order}],
            "size": size,
        }
        if not schema.own:
            body["docvalue_fields"] = [column(schema.time)]
        return body


def _bounded(count: int) -> int:
    return max(0, min(count, MAX_AROUND))

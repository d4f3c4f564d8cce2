"""How every question travels: as one multi-search, each part of it with its own answer.

The indices stand in each header and come from the settings, never from a query. Hits of any other
index are dropped and counted. Behind a proxy this is also the only request there is.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from connectors.logbook import Count, Relation
from connectors.opensearch.answers import Answer, Hit, count_of, together, why_incomplete
from connectors.opensearch.caller import Caller
from connectors.opensearch.faults import RefusedError, UnansweredError, fault_in
from connectors.opensearch.replies import Ask
from connectors.opensearch.schema import Schema
from connectors.opensearch.site import permitted
from copilot.values import Json, JsonObject, list_at, object_at, text_at

KEEP_ALIVE = "1m"
POINT = "_search/point_in_time"
UNREAD = "entries of more than 8 MiB, or nested too deep, were not read, only their time and place"
NOTHING: JsonObject = {}
"""Where a hit has no columns; one for all of them, and nobody writes into it."""
made = tuple.__new__
"""As a named tuple is made, without the call around it that costs as much again."""
RELATIONS: tuple[Relation, ...] = ("exact", "at_least", "unknown")


@dataclass(frozen=True, slots=True)
class Searches:
    """Asks the indices of one logbook, which look as *schema* says."""

    caller: Caller
    schema: Schema

    def one(self, body: JsonObject, doing: str = "search") -> Answer:
        """The answer to one search."""
        return self.many([body], doing)[0]

    def many(self, bodies: Sequence[JsonObject], doing: str = "search") -> list[Answer]:
        """The answers to several searches, in their order. Raises when one was refused."""
        patience = self.caller.site.patience
        header: JsonObject = {
            "index": list(self.caller.site.indices),
            "ignore_unavailable": False,
            "cancel_after_time_interval": patience.cancel_time,
        }
        lines: list[JsonObject] = []
        for body in bodies:
            lines += [header, {"timeout": patience.server_time, **body}]
        ask = Ask("POST", "_msearch", doing, lines)
        parts = list_at(self.caller.ask(ask), "responses")
        if len(parts) != len(bodies):
            raise UnansweredError(
                f"logbook {self.caller.name}: {len(bodies)} searches got {len(parts)} answers; "
                "something between here and OpenSearch drops them",
                retryable=False,
            )
        return [self._answer(ask, part) for part in parts]

    def told(self, bodies: Sequence[JsonObject], doing: str) -> list[Answer]:
        """The answers to several searches; without the texts where those are too much to read."""
        try:
            return self.many(bodies, doing)
        except UnansweredError as error:
            if not error.too_large:
                raise
        bare = [{**body, "_source": self.schema.bare} for body in bodies]
        return [
            replace(
                answer,
                hits=tuple(hit._replace(cut=True) for hit in answer.hits),
                why_incomplete=together((answer.why_incomplete, UNREAD)),
            )
            for answer in self.many(bare, doing)
        ]

    def within(self, point: str, body: JsonObject) -> Answer:
        """The answer to one search in the frozen view *point*."""
        patience = self.caller.site.patience
        pit: JsonObject = {"id": point, "keep_alive": KEEP_ALIVE}
        ask = Ask(
            "POST", "_search", "search", {"timeout": patience.server_time, "pit": pit, **body},
            {"cancel_after_time_interval": patience.cancel_time},
        )  # fmt: skip
        return self._answer(ask, self.caller.ask(ask))

    @contextmanager
    def point(self) -> Iterator[str]:
        """A frozen view of the indices (PIT); empty where the site cannot give one."""
        if self.caller.site.msearch_only:
            yield ""
            return
        ask = Ask("POST", f"{self.caller.site.path}/{POINT}", "open a view", None,
                  {"keep_alive": KEEP_ALIVE})  # fmt: skip
        try:
            point = text_at(self.caller.ask(ask), "pit_id")
        except RefusedError:  # an older server, or an account without that right
            point = ""
        try:
            yield point
        finally:
            if point:
                self._close(point)

    def _close(self, point: str) -> None:
        try:
            self.caller.ask(Ask("DELETE", POINT, "close a view", {"pit_id": [point]}))
        except (RefusedError, UnansweredError):
            return  # it ends by itself within KEEP_ALIVE

    def _answer(self, ask: Ask, part: Json) -> Answer:
        document = part if isinstance(part, dict) else {}
        status = document.get("status", 200)
        if "error" in document or (isinstance(status, int) and status >= 300):
            fault = fault_in(document, status if isinstance(status, int) else 500)
            raise self.caller.refuse(ask, fault)
        why = why_incomplete(document, self.caller.site.patience.server_time)
        found = [hit_of(item) for item in list_at(object_at(document, "hits"), "hits")]
        foreign = {name for name in {hit.index_name for hit in found} if not self._is_ours(name)}
        hits = [hit for hit in found if hit.index_name not in foreign] if foreign else found
        why = together((why, _dropped(found, foreign), *self.schema.gaps))
        total = count_of(document, complete=not why)
        sums = object_at(document, "aggregations")
        return Answer(total, tuple(hits), sums, why, len(found))

    def _is_ours(self, index: str) -> bool:
        return permitted(index, self.schema.indices, self.caller.site.indices)


def _dropped(found: Sequence[Hit], foreign: set[str]) -> str:
    if not foreign:
        return ""
    names, count = ", ".join(sorted(foreign)), sum(hit.index_name in foreign for hit in found)
    return f"{count} hits came from {names}, none of this logbook's, and were dropped"


def hit_of(item: Json) -> Hit:
    """One hit; a source that is a JSON text, as some proxies give it, is read like any other."""
    told = (item if isinstance(item, dict) else NOTHING).get
    name, identity, source, order, values = (
        told("_index", ""), told("_id", ""), told("_source"), told("sort"), told("fields")
    )  # fmt: skip
    return made(Hit, (
        name if isinstance(name, str) else str(name),
        identity if isinstance(identity, str) else str(identity),
        order if isinstance(order, list) else [],
        source if isinstance(source, dict) else source_of(source),
        values if isinstance(values, dict) else NOTHING,
        False,
    ))  # fmt: skip


def source_of(value: Json) -> JsonObject:
    """The document of a hit, which is not an object already."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = {"message": value}
    return value if isinstance(value, dict) else {}


def merged(total: Count, others: Sequence[Count]) -> Count:
    """The sum of several counts, as exact as the least exact of them."""
    for other in others:
        worst = max((total.relation, other.relation), key=("exact", "at_least", "unknown").index)
        total = replace(total, value=total.value + other.value, relation=worst)
    return total

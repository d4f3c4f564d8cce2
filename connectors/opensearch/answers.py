"""What a search answer rests on: how many shards, whether it was cut short, and how exact a count.

OpenSearch answers 200 to a search that most of its shards failed. Every such answer is told apart
here from a complete one; "nothing found" is a fact only on a complete one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from connectors.logbook import Count, Relation
from connectors.opensearch.faults import ADVICE
from copilot.safe_text import safe_text
from copilot.values import Json, JsonObject, list_at, object_at, text_at

REASONS = 3


class Hit(NamedTuple):
    """One entry as the server gave it. `order` is what it was sorted by.

    A tuple, because ten thousands of them are made for one answer.
    """

    index_name: str
    id: str
    order: list[Json]
    source: JsonObject
    values: JsonObject
    """Fields read from the columns of the index."""
    cut: bool = False
    """True when its document is too large and was left out."""

    @property
    def key(self) -> str:
        """What tells the entry from every other one."""
        return f"{self.index_name}/{self.id}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One search answer. `why_incomplete` is empty exactly when every shard answered in full."""

    total: Count
    hits: tuple[Hit, ...]
    sums: JsonObject
    """The aggregations by name."""
    why_incomplete: str
    given: int
    """How many hits came, those from foreign indices included."""


def why_incomplete(document: JsonObject, server_time: str) -> str:
    """Why this answer is not all there is; empty when it is."""
    whys = []
    shards = document.get("_shards")
    if not isinstance(shards, dict):
        whys.append("the answer does not say how many shards it is from (no _shards)")
    else:
        total, failed = _number(shards, "total"), _number(shards, "failed")
        if failed or _number(shards, "successful") < total:
            whys.append(_failed(shards, max(failed, total - _number(shards, "successful")), total))
        elif not total:
            whys.append("no index matches, or none may be read: no shard was asked")
    if document.get("timed_out") is True:
        whys.append(
            f"the server stopped at its time limit of {server_time} (timed_out): this is only what "
            "it had by then; narrow the window and repeat"
        )
    # OpenSearch 3 says so of any sum that is asked for without hits, whole as it is; what would
    # really end a search early, `terminate_after`, is never sent
    summed = "aggregations" in document and not object_at(document, "hits").get("hits")
    if document.get("terminated_early") is True and not summed:
        whys.append("the server ended the search early (terminated_early)")
    return "; ".join(whys)


def count_of(document: JsonObject, *, complete: bool) -> Count:
    """The number of matches with its relation, in the two shapes that servers give it."""
    total = object_at(document, "hits").get("total")
    relation: Relation = "exact" if complete else "at_least"
    if isinstance(total, dict):
        if text_at(total, "relation") == "gte":
            relation = "at_least"
        total = total.get("value")
    if isinstance(total, bool) or not isinstance(total, int):
        return Count(0, "unknown")
    return Count(total, relation)


def together(whys: Iterable[str]) -> str:
    """Several reasons as one text, each once."""
    return "; ".join(dict.fromkeys(why for why in whys if why))


def _failed(shards: JsonObject, failed: int, total: int) -> str:
    kinds: dict[str, str] = {}
    for failure in list_at(shards, "failures"):
        reason = object_at(failure, "reason")
        kind = text_at(reason, "type") or text_at(failure, "reason").partition("[")[0]
        index = text_at(failure, "index")
        kinds.setdefault(kind or "no reason given", index)
    told = [
        safe_text(f"{kind} in {index}" if index else kind, limit=120)
        for kind, index in list(kinds.items())[:REASONS]
    ]
    advice = next((ADVICE[kind] for kind in kinds if kind in ADVICE), "repeat it in a minute")
    why = f": {', '.join(told)}" if told else ""
    return (
        f"{failed} of {total} shards failed{why}; what is told holds for the shards that answered "
        f"only; {advice}"
    )


def _number(value: JsonObject, key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0

"""What a refusal of OpenSearch means, in words that a person can act on. Pure.

A refusal never means that nothing was found; each kind says what to do next. Bodies come in several
shapes: `error` is an object with causes, or a text when a proxy or Dashboards stands in front, and
HTML when something else does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from connectors.opensearch.replies import Reply
from copilot.errors import ConnectorError
from copilot.safe_text import safe_text
from copilot.values import Json, JsonObject, list_at, object_at, text_at

BUSY = frozenset({429, 502, 503, 504})
QUOTED = 300
"""Characters of the server's own words that a message repeats."""

ADVICE: Mapping[str, str] = {
    "security_exception": "the account has no right to do that; this says nothing about what is "
    "in there. Give it indices:data/read/* on these indices, or take the index out of copilot.yaml",
    "index_not_found_exception": "there is no such index; look at `indices` in copilot.yaml",
    "index_closed_exception": "that index is closed and cannot be read until someone opens it",
    "cluster_block_exception": "the cluster blocks it; look at the blocks of that index",
    "circuit_breaking_exception": "the node has no memory left for it; narrow the window or lower "
    "the limit, and try again later",
    "rejected_execution_exception": "the node refuses work because its queue is full; try again "
    "in a minute",
    "opensearch_rejected_execution_exception": "the node refuses work because its queue is full; "
    "try again in a minute",
    "task_cancelled_exception": "the server stopped it because it took too long; narrow the window",
    "search_context_missing_exception": "the view that the pages were read from is gone; search "
    "again from the start",
    "no_shard_available_action_exception": "no copy of a shard can answer: the index is red; look "
    "at _cluster/health",
    "too_many_buckets_exception": "it would make more buckets than the server allows; narrow the "
    "window or widen the bucket",
    "too_many_clauses": "it has too many terms; search for fewer words",
}
TEMPORARY = frozenset({
    "circuit_breaking_exception", "rejected_execution_exception",
    "opensearch_rejected_execution_exception", "no_shard_available_action_exception",
    "node_disconnected_exception", "cluster_manager_not_discovered_exception",
})  # fmt: skip
WORDING: Mapping[str, str] = {
    "Result window is too large": "the server gives no more than its max_result_window at once; "
    "page with the cursor",
    "No mapping found for": "an index of the pattern has no such field; name the time field of "
    "all of them in copilot.yaml, or leave that index out",
    "failed to parse date field": "the field keeps its dates in another format; name the time "
    "field, and the unit where it is a number, in copilot.yaml",
    "Fielddata is disabled": "that field is text and cannot be counted or sorted by",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request, or one part of it, was refused."""

    kind: str
    reason: str
    status: int
    permanent: bool = False
    """The node itself says that waiting will not help."""

    @property
    def retryable(self) -> bool:
        """True when the same request may succeed a little later."""
        return not self.permanent and (self.kind in TEMPORARY or self.status in BUSY)

    @property
    def heavy(self) -> bool:
        """True when a smaller request may succeed where this one did not."""
        return self.kind in {"circuit_breaking_exception", "task_cancelled_exception"}

    def words(self) -> str:
        """What happened and what to do, without a full stop."""
        advice = ADVICE.get(self.kind) or next(
            (text for mark, text in WORDING.items() if mark in self.reason), ""
        )
        if not advice and self.status == 401:
            advice = "it does not accept the login; look at the variables that hold it"
        if not advice and self.status == 403:
            advice = ADVICE["security_exception"]
        if not advice and self.status in BUSY:
            advice = "it is busy or something before it is down; try again in a minute"
        said = safe_text(self.reason, limit=QUOTED) if self.reason else ""
        named = ": ".join(part for part in (self.kind, said) if part)
        return "; ".join(part for part in (named or f"status {self.status}", advice) if part)


class RefusedError(ConnectorError):
    """OpenSearch answered, and refused. `fault` says why."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message, retryable=fault.retryable)
        self.fault = fault


class UnansweredError(ConnectorError):
    """No whole answer could be read, because it was `too_large`, `timed_out`, or something else.

    Nested too deep is too large as well: fewer entries at once may be read.
    """

    def __init__(
        self, message: str, *, retryable: bool, too_large: bool = False, timed_out: bool = False
    ) -> None:
        super().__init__(message, retryable=retryable)
        self.too_large = too_large
        self.timed_out = timed_out


def fault_of(reply: Reply) -> Fault:
    """The fault of a reply that is no success."""
    try:
        document = reply.document()
    except RecursionError:
        document = None
    if isinstance(document, dict):
        return fault_in(document, reply.status)
    kind = reply.headers.get("content-type", "").partition(";")[0] or "no content type"
    return Fault("", f"the answer is {kind}, not JSON", reply.status)


def fault_in(document: JsonObject, status: int) -> Fault:
    """The fault that an answer, or an item of a multi-search, tells of."""
    error = document.get("error")
    if not isinstance(error, dict):  # a proxy's own shape, or an expired scroll without an error
        failures = list_at(object_at(document, "_shards"), "failures")
        told = text_at(document, "message") or (error if isinstance(error, str) else "")
        kind = "security_exception" if "security_exception" in told else ""
        if not told and failures:
            told = text_at(failures[0], "reason")
        if "SearchContextMissing" in told:
            kind = "search_context_missing_exception"
        return Fault(kind, told, status)
    causes = list(_causes(error))
    telling = next((cause for cause in causes if text_at(cause, "type") in ADVICE), None)
    marked = next((c for c in causes if any(m in text_at(c, "reason") for m in WORDING)), None)
    cause = telling or marked or (causes[-1] if causes else error)
    permanent = any(text_at(one, "durability") == "PERMANENT" for one in causes)
    kind, reason = text_at(cause, "type"), text_at(cause, "reason")
    details = text_at(error, "details")
    return Fault(kind, f"{reason} {details}".strip(), status, permanent)


def _causes(error: JsonObject) -> Iterator[JsonObject]:
    """The error and every cause that it names, the outer ones first."""
    yield error
    inner: list[Json] = [*list_at(error, "root_cause"), error.get("caused_by")]
    inner += [object_at(item, "reason") for item in list_at(error, "failed_shards")]
    for cause in inner:
        if isinstance(cause, dict) and cause:
            yield from _causes(cause)

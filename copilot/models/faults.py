"""What a refusal of the model's service means for us: one ModelError for each way it can fail.

Pure: it sees a status, headers and the error object, whether they came as an HTTP error or as an
`error` event inside a 200 stream. Source of the tables: the Messages API's error reference.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from copilot.errors import ModelError

KIND_BY_TYPE = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "billing",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "conflict_error": "overloaded",
    "timeout_error": "network",
    "api_error": "failed",
    "request_too_large": "too_long",
    "invalid_request_error": "invalid",
    "not_found_error": "invalid",
}
KIND_BY_STATUS = {
    401: "auth",
    402: "billing",
    403: "auth",
    408: "network",
    409: "overloaded",
    413: "too_long",
    429: "rate_limit",
    503: "overloaded",
    504: "network",
    529: "overloaded",
}
RETRYABLE = frozenset({"rate_limit", "overloaded", "network", "failed", "broken"})
SPEND_CAPS = frozenset(
    {
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
    }
)
OWN_LIMIT = "reached your specified api usage limits"  # a 400, set by the customer in the console
TOO_LONG = "prompt is too long"
NEXT = {
    "auth": "check the API key and what it may use",
    "billing": "settle the account's billing, then start again",
    "spend_cap": "raise the spend limit or wait for the next period; nothing was retried",
    "rate_limit": "wait, or ask for higher limits",
    "overloaded": "the service is busy: try again later",
    "too_long": "send less: clear or compact, then try again",
    "invalid": "the request or the model name is wrong; sending it again is no use",
    "network": "check the network and the base URL, then try again",
    "failed": "the service failed: try again later",
    "broken": "the answer makes no sense: try again later",
}
MESSAGE_MAX_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Fault:
    """What the service said. `status` is 200 for an error event inside a stream."""

    status: int
    type: str | None = None
    code: str | None = None
    message: str = ""
    request_id: str | None = None


def model_error(
    fault: Fault, headers: Mapping[str, str], *, model: str, now: datetime
) -> ModelError:
    """The error to raise for *fault*, with whether and when trying again makes sense."""
    kind = _kind(fault)
    retryable = kind in RETRYABLE
    if kind != "spend_cap" and (wish := headers.get("x-should-retry")) in ("true", "false"):
        retryable = wish == "true"
    said = " ".join(fault.message.split())[:MESSAGE_MAX_CHARACTERS]
    name = "/".join(word for word in (fault.type, fault.code) if word) or "no error type"
    source = f"HTTP {fault.status} {name}" + (f" {fault.request_id}" if fault.request_id else "")
    return ModelError(
        f"asked {model} for the next turn and was refused ({source}): {said}; {NEXT[kind]}",
        kind=kind,
        retryable=retryable,
        wait_s=retry_after(headers, now) if retryable else None,
    )


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that the service asks us to wait, or None when it does not say or makes no sense.

    Reads `retry-after-ms`, and `retry-after` as seconds or as an HTTP date. Not clamped: a far date
    means that the caller should park the work, not sleep.
    """
    milliseconds = _positive(headers.get("retry-after-ms", ""))
    if milliseconds:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    if seconds := _positive(text):
        return seconds
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    wait_s = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    return wait_s if wait_s > 0 else None


def _kind(fault: Fault) -> str:
    said = fault.message.lower()
    if fault.code in SPEND_CAPS or OWN_LIMIT in said:
        return "spend_cap"
    if TOO_LONG in said and fault.status in (200, 400):
        return "too_long"
    by_status = KIND_BY_STATUS.get(fault.status, "failed" if fault.status >= 500 else "invalid")
    if fault.status != 200:
        return by_status
    return KIND_BY_TYPE.get(fault.type or "", "broken")


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value > 0 and math.isfinite(value) else None

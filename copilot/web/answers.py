"""Every answer is JSON in one line and nothing a browser would act upon."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.responses import Response

from copilot.safe_text import one_line
from copilot.values import Json

HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}
ERROR_CHARACTERS = 500
RETRY_AFTER_S = 5


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served, and what the sender is told."""

    status: int
    error: str
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(value: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """*value* as the body. All of it is ASCII, so that no text in it can break the encoding."""
    body = json.dumps(value, separators=(",", ":")) + "\n"
    return Response(body, status, {**HEADERS, **(headers or {})}, "application/json")


def refused(refusal: Refusal) -> Response:
    """The refusal as an answer."""
    return answer(
        {"error": one_line(refusal.error, ERROR_CHARACTERS)}, refusal.status, refusal.headers
    )


def not_now(why: str) -> Refusal:
    """503: the one refusal after which a sender of alerts tries again. 429 would lose the alert."""
    return Refusal(503, why, {"retry-after": str(RETRY_AFTER_S)})

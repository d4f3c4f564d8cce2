"""What each error becomes for the sender, and what the log and the counters hear of it."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from copilot.errors import CopilotError, NotFoundError, SenderError, UsageError
from copilot.web.alerts import kind_of
from copilot.web.answers import Refusal, not_now, refused

log = logging.getLogger(__name__)

STATUS: Mapping[type[CopilotError], int] = {
    UsageError: 400,
    SenderError: 401,
    NotFoundError: 404,
}
BETWEEN_S = 60.0
"""Between two lines of the log about the same: senders try again and again."""


class Failures:
    """Turns what the backend raises into answers."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._said: dict[str, float] = {}

    def handlers(self) -> dict[Any, Callable[[Request, Exception], Awaitable[Response]]]:
        """By class of error, as the vendor wants them."""
        return {
            CopilotError: self._failed,
            TimeoutError: self._too_slow,
            HTTPException: _plain,
            Exception: _broken,
        }

    async def _failed(self, _: Request, error: Exception) -> Response:
        """The sender's fault by its kind; everything else is no reason to drop an alert."""
        for kind, status in STATUS.items():
            if isinstance(error, kind):
                return refused(Refusal(status, str(error)))
        self._say(type(error).__name__, str(error))
        return refused(not_now(str(error)))

    async def _too_slow(self, request: Request, _: Exception) -> Response:
        self._say("time", f"{request.method} was not answered in time")
        return refused(not_now("the daemon did not answer in time; send it again"))

    def _say(self, what: str, why: str) -> None:
        now = self._monotonic()
        if now - self._said.get(what, -BETWEEN_S) >= BETWEEN_S:
            self._said[what] = now
            log.warning("requests are not served now", extra={"why": why})


async def _plain(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refused(Refusal(error.status_code, error.detail, error.headers or {}))


async def _broken(_: Request, __: Exception) -> Response:
    """500, without a word of what went wrong: the server logs it."""
    return refused(Refusal(500, "the daemon failed; its log says why"))


class Counted:
    """The application, and a count of each delivery that it turned away unread or failed at."""

    def __init__(self, app: ASGIApp, turned_away: Callable[[str, int], None]) -> None:
        self._app = app
        self._turned_away = turned_away

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        kind = kind_of(scope.get("path", ""))

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] > 400:
                self._turned_away(kind, message["status"])
            await send(message)

        try:
            await self._app(scope, receive, counting if kind else send)
        except Exception:
            if kind:
                self._turned_away(kind, 500)
            raise

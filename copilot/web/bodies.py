"""The body of a request, read whole within its limits, or refused while it is still coming."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from copilot.web.answers import Refusal
from copilot.web.guards import has_a_body, refuse
from copilot.web.limits import Limits


class Bodies:
    """The application behind a reader of bodies: it gets each one in a single piece."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse its body."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if not has_a_body(headers):
            await self._app(scope, receive, send)
            return
        body = declared_refusal(headers, self._limits) or await self._read(receive)
        if isinstance(body, Refusal):
            await refuse(body, scope, receive, send, self._limits.linger_s)
        elif body is not None:
            await self._app(scope, _once(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | Refusal | None:
        """The body, why it is refused, or None when the client has gone."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > self._limits.body_bytes:
                        return _too_large(self._limits)
                    if not message.get("more_body"):
                        return bytes(body)
        except TimeoutError:
            return Refusal(408, f"the body took longer than {self._limits.body_s:g} s")


def declared_refusal(headers: Headers, limits: Limits) -> Refusal | None:
    """What the head alone says against the body: its length, its encoding, its type."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > limits.body_bytes:
        return _too_large(limits)
    if any(value.strip().lower() != "identity" for value in headers.getlist("content-encoding")):
        return Refusal(415, "send the body as it is: Content-Encoding is not taken")
    types = headers.getlist("content-type")
    if len(types) != 1 or not _is_json(types[0]):
        return Refusal(415, "send JSON in UTF-8 with Content-Type: application/json")
    return None


def _is_json(content_type: str) -> bool:
    media, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = {part.replace('"', "") for part in parameters if part.startswith("charset")}
    known = media == "application/json" or (
        media.startswith("application/") and media.endswith("+json")
    )
    return known and charsets <= {"charset=utf-8", "charset=utf8"}


def _too_large(limits: Limits) -> Refusal:
    return Refusal(413, f"a body has at most {limits.body_bytes} bytes")


def _once(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body first."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def whole() -> Message:
        return pending.pop() if pending else await receive()

    return whole

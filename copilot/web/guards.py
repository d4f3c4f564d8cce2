"""What is refused by the head of a request alone: no byte of its body is read before.

Each check is a pure function of the ASGI scope. The order matters: what could confuse a proxy comes
first, then who is meant (Host), who asks (Origin), and who may (Authorization).
"""

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from copilot.web.access import LOCAL_NAMES, Access
from copilot.web.answers import Refusal, not_now, refused
from copilot.web.limits import Limits

HEALTH = frozenset({"/healthz", "/readyz", "/-/healthy", "/-/ready"})
"""Open to everybody: the daemon's watcher has no secret."""
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+?)\.?)(?::\d{1,5})?", re.IGNORECASE)
READS = frozenset({"GET", "HEAD", "OPTIONS"})
SAME_SITE = frozenset({"same-origin", "none"})
CROWDED = "crowded"
"""Set in the scope's state of a connection over the cap: only health is answered there."""

Check = Callable[[Scope, Headers], Refusal | None]


class Guards:
    """The application behind checks; the first one that refuses is the answer."""

    def __init__(self, app: ASGIApp, checks: Sequence[Check], limits: Limits) -> None:
        self._app = app
        self._checks = checks
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            for check in self._checks:
                if refusal := check(scope, headers):
                    await refuse(refusal, scope, receive, send, self._limits.linger_s)
                    return
        await self._app(scope, receive, send)


async def refuse(
    refusal: Refusal, scope: Scope, receive: Receive, send: Send, linger_s: float
) -> None:
    """Answer, and close the connection when a body was not read.

    A socket that is closed while bytes arrive resets the connection, and the sender may never see
    the answer. So it is sent first, and what still comes is dropped for a moment.
    """
    response = refused(refusal)
    has_body = has_a_body(Headers(scope=scope))
    if has_body:
        response.headers["connection"] = "close"
    await send(
        {"type": "http.response.start", "status": refusal.status, "headers": response.raw_headers}
    )
    await send({"type": "http.response.body", "body": response.body, "more_body": has_body})
    if has_body:
        with suppress(TimeoutError):
            async with asyncio.timeout(linger_s):
                while (await receive()).get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": b""})


def has_a_body(headers: Headers) -> bool:
    """True when the head announces a body."""
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip("0") != ""


def crowd_check(scope: Scope, _: Headers) -> Refusal | None:
    """Turn away what came over too many connections, except the watcher."""
    if CROWDED in scope.get("state", {}) and scope["path"] not in HEALTH:
        refusal = not_now("too many connections are open")
        # Closed, since the next request over it may come in better times.
        return replace(refusal, headers={**refusal.headers, "connection": "close"})
    return None


def shape_check(limits: Limits) -> Check:
    """Refuse heads that are too large, and those that two readers could read in two ways."""

    def check(scope: Scope, headers: Headers) -> Refusal | None:
        if len(scope["raw_path"]) + len(scope["query_string"]) > limits.path_bytes:
            return Refusal(414, "the path is too long")
        size = sum(len(name) + len(value) for name, value in headers.raw)
        if len(headers.raw) > limits.headers or size > limits.header_bytes:
            return Refusal(431, "the request has too many or too large headers")
        if "transfer-encoding" in headers and "content-length" in headers:
            return Refusal(400, "a request has Content-Length or Transfer-Encoding, not both")
        return None

    return check


def host_check(names: Collection[str]) -> Check:
    """Refuse requests that were meant for another name: a page made its own name point here."""
    allowed = LOCAL_NAMES | {name.lower() for name in names}

    def check(scope: Scope, headers: Headers) -> Refusal | None:
        match = HOST.fullmatch(headers.get("host", ""))
        name = (match[1] or match[2]).lower() if match else ""
        # An address that a name cannot stand behind is no rebinding: the client dialled it.
        here = (scope.get("server") or ("", 0))[0]
        if name and (name in allowed or name == here):
            return None
        return Refusal(421, "this is not that host; name it under daemon.hosts if it is")

    return check


def origin_check(scope: Scope, headers: Headers) -> Refusal | None:
    """Refuse what a page of another site makes a browser send."""
    if scope["method"] in READS:
        return None
    origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
    if not origins and not sites:  # no browser
        return None
    own = {f"{scheme}://{headers.get('host', '')}".lower() for scheme in ("http", "https")}
    if any(origin.lower() not in own for origin in origins) or not SAME_SITE.issuperset(sites):
        return Refusal(403, "a page of another site may not send this")
    return None


def access_check(access: Access) -> Check:
    """Refuse who has no secret, except the watcher."""

    def check(scope: Scope, headers: Headers) -> Refusal | None:
        if scope["path"] in HEALTH or access.admits(headers.getlist("authorization")):
            return None
        return Refusal(
            401,
            "send the token or the user and password of this daemon in one Authorization header",
            {"www-authenticate": access.challenge()},
        )

    return check

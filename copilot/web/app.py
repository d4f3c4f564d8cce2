"""The application: routes behind guards, and what each error becomes."""

import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from copilot.errors import CopilotError, CredentialsError, NotFoundError, UsageError
from copilot.web import guards
from copilot.web.access import Access
from copilot.web.alerts import AlertRoutes, kind_of
from copilot.web.answers import Refusal, not_now, refused
from copilot.web.backend import Backend
from copilot.web.bodies import Bodies
from copilot.web.health import HealthRoutes
from copilot.web.incidents import IncidentRoutes
from copilot.web.limits import Limits
from copilot.web.threads import Threads

log = logging.getLogger(__name__)

STATUS: Mapping[type[CopilotError], int] = {
    UsageError: 400,
    CredentialsError: 401,
    NotFoundError: 404,
}
HEALTH_S = 2.0


@dataclass(frozen=True, slots=True)
class Doors:
    """Who is let in, under which names, and how much of them is borne."""

    access: Access = field(default_factory=Access)
    hosts: Collection[str] = ()
    limits: Limits = field(default_factory=Limits)


def application(backend: Backend, doors: Doors) -> Starlette:
    """The whole HTTP side over *backend*."""
    limits = doors.limits
    deliveries = Threads("delivery", limits.threads, limits.answer_s)
    readings = Threads("reading", 4, limits.answer_s)
    health = Threads("health", 2, min(HEALTH_S, limits.answer_s))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        for threads in (deliveries, readings, health):
            threads.close()

    def count(scope: Scope, status: int) -> None:
        if kind := kind_of(scope["path"]):
            backend.turned_away(kind, status)

    checks = [
        guards.shape_check(limits),
        guards.crowd_check,
        guards.host_check(doors.hosts),
        guards.origin_check,
        guards.access_check(doors.access),
    ]
    app = Starlette(
        routes=[
            *AlertRoutes(backend, deliveries, readings).routes(),
            *IncidentRoutes(backend, readings).routes(),
            *HealthRoutes(backend, doors.access, health).routes(),
        ],
        middleware=[
            Middleware(guards.Guards, checks, limits, count),
            Middleware(Bodies, limits, count),
        ],
        exception_handlers={
            CopilotError: _failed,
            TimeoutError: _too_slow,
            HTTPException: _plain,
            Exception: _broken,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # the address of a redirect would come from the sender
    return app


async def _failed(_: Request, error: Exception) -> Response:
    """The sender's fault by its kind; everything else is no reason to drop an alert."""
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            return refused(Refusal(status, str(error)))
    log.warning("request not served now: %s", error)
    return refused(not_now(str(error)))


async def _too_slow(request: Request, _: Exception) -> Response:
    log.warning("request not answered in time: %s", request.url.path)
    return refused(not_now("the daemon did not answer in time; send it again"))


async def _plain(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refused(Refusal(error.status_code, error.detail, error.headers or {}))


async def _broken(_: Request, __: Exception) -> Response:
    """500, without a word of what went wrong: the server logs it."""
    return refused(Refusal(500, "the daemon failed; its log says why"))

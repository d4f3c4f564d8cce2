"""The application: routes behind guards, in front of the daemon."""

import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.middleware import Middleware

from copilot.web import guards
from copilot.web.access import Access
from copilot.web.alerts import AlertRoutes
from copilot.web.backend import Backend
from copilot.web.bodies import Bodies
from copilot.web.failures import Counted, Failures
from copilot.web.health import HealthRoutes
from copilot.web.incidents import IncidentRoutes
from copilot.web.limits import Limits
from copilot.web.threads import Threads

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
            Middleware(Counted, backend.turned_away),
            Middleware(guards.Guards, checks, limits),
            Middleware(Bodies, limits),
        ],
        exception_handlers=Failures(time.monotonic).handlers(),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # the address of a redirect would come from the sender
    return app

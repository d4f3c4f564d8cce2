"""The routes about incidents: what is known of them, and what a person wants done."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from copilot.values import Json
from copilot.web.answers import answer
from copilot.web.asked import incident_in, object_in, order_in, text_in, wanted
from copilot.web.backend import Backend
from copilot.web.threads import Threads


class IncidentRoutes:
    """Reads and acts on threads of their own."""

    def __init__(self, backend: Backend, threads: Threads) -> None:
        self._backend = backend
        self._threads = threads

    def routes(self) -> list[Route]:
        """All routes about incidents."""
        one = "/v1/incidents/{incident}"
        return [
            Route("/v1/incidents", self._list),
            Route(one, self._show),
            Route(f"{one}/cancel", self._cancel, methods=["POST"]),
            Route(f"{one}/retry", self._retry, methods=["POST"]),
            Route("/v1/investigations", self._investigate, methods=["POST"]),
        ]

    async def _list(self, request: Request) -> Response:
        found = await self._threads.run(self._backend.incidents, wanted(request))
        return answer({"incidents": list[Json](found)})

    async def _show(self, request: Request) -> Response:
        return answer(await self._threads.run(self._backend.incident, incident_in(request)))

    async def _cancel(self, request: Request) -> Response:
        incident, asked = incident_in(request), await object_in(request)
        reason = text_in(asked, "reason")
        return answer(await self._threads.run(self._backend.cancel, incident, reason))

    async def _retry(self, request: Request) -> Response:
        return answer(await self._threads.run(self._backend.retry, incident_in(request)))

    async def _investigate(self, request: Request) -> Response:
        asked = order_in(await object_in(request))
        return answer(await self._threads.run(self._backend.investigate, asked), 202)

"""Whether the process lives, whether it wants alerts, and what it counted."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from copilot.safe_text import one_line
from copilot.values import Json
from copilot.web.access import Access
from copilot.web.answers import HEADERS, RETRY_AFTER_S, answer
from copilot.web.backend import Backend
from copilot.web.threads import Threads

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class HealthRoutes:
    """The watcher's routes. That the process lives is said without asking anything of it."""

    def __init__(self, backend: Backend, access: Access, threads: Threads) -> None:
        self._backend = backend
        self._access = access
        self._threads = threads

    def routes(self) -> list[Route]:
        """Health under both of its usual names, and the metrics."""
        return [
            *(Route(path, self._lives) for path in ("/healthz", "/-/healthy")),
            *(Route(path, self._is_ready) for path in ("/readyz", "/-/ready")),
            Route("/metrics", self._metrics),
        ]

    async def _lives(self, _: Request) -> Response:
        return answer({"status": "ok"})

    async def _is_ready(self, request: Request) -> Response:
        try:
            problems, degraded = await self._threads.run(self._standing)
        except TimeoutError:
            problems, degraded = ["the daemon does not answer"], []
        said: dict[str, Json] = {"status": "not ready" if problems else "ready"}
        if self._access.admits(request.headers.getlist("authorization")):
            told = {"problems": problems, "degraded": degraded}
            said |= {
                name: [one_line(one) for one in lines] for name, lines in told.items() if lines
            }
        if not problems:
            return answer(said)
        return answer(said, 503, {"retry-after": str(RETRY_AFTER_S)})

    def _standing(self) -> tuple[list[str], list[str]]:
        return list(self._backend.readiness()), list(self._backend.degraded())

    async def _metrics(self, _: Request) -> Response:
        text = await self._threads.run(self._backend.metrics)
        return Response(text, 200, HEADERS, METRICS_TYPE)

"""The routes that bring alerts in, and the one that lists them."""

from collections import Counter
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from copilot.values import Json
from copilot.web.answers import answer
from copilot.web.asked import wanted
from copilot.web.backend import Backend, Delivery, Receipt
from copilot.web.threads import Threads

KINDS = ("alertmanager", "grafana", "generic")
PREFIX = "/v1/alerts"
SOON_READ = 8 << 10
"""A body of so many bytes is read in the event loop: handing it to a thread would cost more."""


class AlertRoutes:
    """Takes deliveries in; no thread waits for the disk, and no reader keeps an alert waiting."""

    def __init__(self, backend: Backend, deliveries: Threads, readings: Threads) -> None:
        self._backend = backend
        self._deliveries = deliveries
        self._readings = readings

    def routes(self) -> list[Route]:
        """All routes below /v1/alerts."""
        return [
            *(Route(f"{PREFIX}/{kind}", self._take, methods=["POST"]) for kind in KINDS),
            Route(PREFIX, self._list),
        ]

    async def _take(self, request: Request) -> Response:
        delivery = Delivery(
            kind=kind_of(request.scope["path"]),
            body=await request.body(),
            map=request.query_params.get("map", ""),
            headers=request.headers,
        )
        if len(delivery.body) <= SOON_READ:
            begun = self._backend.begin(delivery)
        else:
            begun = await self._deliveries.run(self._backend.begin, delivery)
        receipts = await self._deliveries.answer(begun)
        return answer({"incidents": summed(receipts)})

    async def _list(self, request: Request) -> Response:
        found = await self._readings.run(self._backend.alerts, wanted(request))
        return answer({"alerts": list[Json](found)})


def kind_of(path: str) -> str:
    """The kind of alerts that a path takes; empty when it takes none."""
    prefix, _, kind = path.rpartition("/")
    return kind if prefix == PREFIX and kind in KINDS else ""


def summed(receipts: Sequence[Receipt]) -> list[Json]:
    """One entry for each incident and outcome, in order of first mention, with its alerts."""
    counts = Counter((receipt.incident, receipt.outcome) for receipt in receipts)
    return [
        {"id": incident, "outcome": outcome, "alerts": count}
        for (incident, outcome), count in counts.items()
    ]

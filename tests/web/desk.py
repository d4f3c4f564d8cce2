"""A small desk behind the web: takes JSON, remembers it, and fails the way it is told to."""

import json
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from copilot.errors import NotFoundError, UsageError
from copilot.values import JsonObject
from copilot.web.backend import Delivery, Receipt, Wanted

TITLE = '"><script>alert(1)</script> {{7*7}} %s%n \u202e\ud800'


@dataclass(frozen=True)
class Went:
    """Where one alert went."""

    incident: str
    outcome: str


@dataclass
class Desk:
    """Implements `Backend`."""

    error: Exception | None = None
    problems: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    hold: threading.Event | None = None
    """Every call waits for it, when there is one."""
    waiting: int = 0
    """Calls that wait or waited for that."""
    page: str = TITLE
    """The title of each alert that is listed."""
    deliveries: list[Delivery] = field(default_factory=list)
    turned: list[tuple[str, int]] = field(default_factory=list)
    acts: list[tuple[str, ...]] = field(default_factory=list)
    asked: list[JsonObject] = field(default_factory=list)

    def clear(self) -> None:
        """Forget what came and what was told."""
        self.__init__()  # type: ignore[misc]  # a fresh desk under the same name

    def _meet(self) -> None:
        if self.hold:
            self.waiting += 1
            self.hold.wait(20)
        if self.error:
            raise self.error

    def begin(self, delivery: Delivery) -> "Future[Sequence[Receipt]]":
        try:
            payload = json.loads(delivery.body.decode())
        except ValueError:
            raise UsageError("the body is not JSON") from None
        answer: Future[Sequence[Receipt]] = Future()
        threading.Thread(target=self._keep, args=(delivery, payload, answer), daemon=True).start()
        return answer

    def _keep(self, delivery: Delivery, payload: Any, answer: "Future[Sequence[Receipt]]") -> None:
        answer.set_running_or_notify_cancel()
        try:
            self._meet()
        except Exception as error:  # noqa: BLE001 - it is the answer
            answer.set_exception(error)
            return
        self.deliveries.append(delivery)
        count = len(payload.get("alerts", [1]))
        outcomes = ["opened", *["joined"] * (count - 1)]
        answer.set_result([Went("inc-20260131-3fa9c1", outcome) for outcome in outcomes])

    def turned_away(self, kind: str, status: int) -> None:
        self.turned.append((kind, status))

    def alerts(self, wanted: Wanted) -> Sequence[JsonObject]:
        self._meet()
        found: list[JsonObject] = [{"title": self.page}] * 200
        return found[: wanted.limit]

    def incidents(self, wanted: Wanted) -> Sequence[JsonObject]:
        self._meet()
        return [{"id": "inc-20260131-3fa9c1", "status": wanted.status or "waiting"}]

    def incident(self, incident: str) -> JsonObject:
        self._meet()
        if incident != "inc-20260131-3fa9c1":
            raise NotFoundError(f"there is no incident {incident}")
        return {"id": incident, "title": TITLE}

    def cancel(self, incident: str, reason: str) -> JsonObject:
        self._meet()
        self.acts.append(("cancel", incident, reason))
        return {"id": incident, "status": "cancelled"}

    def retry(self, incident: str) -> JsonObject:
        self._meet()
        self.acts.append(("retry", incident))
        return {"id": incident, "status": "waiting"}

    def investigate(self, asked: JsonObject) -> JsonObject:
        self._meet()
        self.asked.append(asked)
        return {"id": "inc-20260131-3fa9c1"}

    def readiness(self) -> Sequence[str]:
        if self.hold:
            self.hold.wait(20)
        return self.problems

    def degraded(self) -> Sequence[str]:
        return self.troubles

    def metrics(self) -> bytes:
        return b"copilot_queue_depth 0.0\n"

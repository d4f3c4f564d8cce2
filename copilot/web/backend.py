"""What the routes ask of the daemon. They know nothing else of it, so they are testable alone.

Every call may block and is made on a thread, except `turned_away` and `begin`. A `UsageError` is
the sender's fault (400), a `NotFoundError` is 404, a `SenderError` is 401; any other error means
"not now" (503), which is the only answer that makes a sender of alerts try again. A key that the
daemon lacks is no fault of the sender's, whose own was good.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from copilot.values import JsonObject


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request that brings alerts, as it came."""

    kind: str
    """alertmanager, grafana or generic."""
    body: bytes
    map: str = ""
    """The name of the map of a generic payload."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """With names in lower case; a signature over the body is among them."""


class Receipt(Protocol):
    """Where one alert went."""

    @property
    def incident(self) -> str:
        """The incident that it belongs to."""
        ...

    @property
    def outcome(self) -> str:
        """What it was to that incident: opened, joined, repeated and the like."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of the incidents or alerts a reader asks for."""

    limit: int
    status: str = ""
    incident: str = ""


class Backend(Protocol):
    """The daemon behind the routes."""

    def begin(self, delivery: Delivery) -> "Future[Sequence[Receipt]]":
        """Where each alert of the delivery went: told when they survive a power cut.

        The body is read before this returns, and nothing is waited for. Raises UsageError.
        """
        ...

    def turned_away(self, kind: str, status: int) -> None:
        """Count a delivery that was answered with *status*. Called in the event loop.

        Whoever reads payloads counts those that are refused with 400.
        """
        ...

    def alerts(self, wanted: Wanted) -> Sequence[JsonObject]:
        """The newest alerts."""
        ...

    def incidents(self, wanted: Wanted) -> Sequence[JsonObject]:
        """The newest incidents."""
        ...

    def incident(self, incident: str) -> JsonObject:
        """All that is known of one incident. Raises NotFoundError."""
        ...

    def cancel(self, incident: str, reason: str) -> JsonObject:
        """The incident, and nobody investigates it any more."""
        ...

    def retry(self, incident: str) -> JsonObject:
        """The incident, waiting for an investigation from the last good step on."""
        ...

    def investigate(self, asked: JsonObject) -> JsonObject:
        """The incident that was opened, or found, for what a person asks to be investigated.

        *asked* holds an alert (an object) or an incident (its id), and may hold question, model,
        policy (texts), turns and usd (above 0); nothing else.
        """
        ...

    def readiness(self) -> Sequence[str]:
        """Why no alerts should be sent here now, one line each; empty when all is well."""
        ...

    def degraded(self) -> Sequence[str]:
        """What works less well than it should, one line each. Alerts are wanted all the same."""
        ...

    def metrics(self) -> bytes:
        """All counters in Prometheus' text format."""
        ...

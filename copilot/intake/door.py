"""The one door for alerts: bytes or alerts in, incident ids out once the inbox has synced them.

The web routes, the spool and the pollers all come through here. A body that is no alert is refused
with one line and nothing of it is kept; when the inbox cannot promise anything, its InboxError goes
to the caller, who asks the sender to come again.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import Protocol

from copilot.errors import UsageError
from copilot.inbox.values import Arrival, Taken
from copilot.intake.parcel import Kind
from copilot.intake.reader import Reader
from copilot.redact import Redactor
from copilot.settings import SettingsFile
from copilot.values import Alert

REFUSED = "refused"


class Accepts(Protocol):
    """What the door needs of the inbox."""

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """Return the incident of each arrival once they are on the disk. Raises InboxError."""

    def begin(self, arrivals: Sequence[Arrival]) -> "Future[list[Taken]]":
        """The same without waiting: the answer is told when they are on the disk."""


class Door:
    """Takes alerts in by the rules of one configuration. Safe for many threads."""

    def __init__(
        self, settings: SettingsFile, inbox: Accepts, redactor: Redactor, *,
        now: Callable[[], datetime], count: Callable[[str, str], None],
    ) -> None:  # fmt: skip
        """Raises ConfigError for a map that is no jmespath.

        *count* is told the source and the outcome of each alert, or `refused` for a body.
        """
        self._reader = Reader(settings, redactor, now=now)
        self.use = self._reader.use
        self.knows = self._reader.knows
        self._inbox = inbox
        self._count = count

    def take(self, body: bytes, kind: Kind, *, map: str = "") -> list[Taken]:
        """The incident of each alert in *body*. Raises UsageError and InboxError."""
        return self.accept(self.arrivals(body, kind, map=map))

    def take_alerts(self, alerts: Sequence[Alert], source: str) -> list[Taken]:
        """The incident of each alert that a poller or a person brings. Raises InboxError."""
        return self.accept(self._reader.of_alerts(alerts, source))

    def begin(self, body: bytes, kind: Kind, *, map: str = "") -> "Future[list[Taken]]":
        """As `take`, without waiting for the disk: an InboxError is told with the answer."""
        arrivals = self.arrivals(body, kind, map=map)
        if not arrivals:
            nothing: Future[list[Taken]] = Future()
            nothing.set_result([])
            return nothing
        taken = self._inbox.begin(arrivals)
        taken.add_done_callback(partial(self._count_told, arrivals))
        return taken

    def arrivals(
        self, body: bytes, kind: Kind, *, map: str = "", source: str = ""
    ) -> list[Arrival]:
        """What *body* brings, not yet accepted; see `Reader.read`. Raises UsageError."""
        try:
            return self._reader.read(body, kind, map=map, source=source)
        except UsageError:
            self._count(source or kind, REFUSED)
            raise

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """The incident of each arrival once all are synced to the disk. Raises InboxError."""
        if not arrivals:
            return []
        taken = self._inbox.accept(arrivals)
        self._count_taken(arrivals, taken)
        return taken

    def _count_told(self, arrivals: Sequence[Arrival], taken: "Future[list[Taken]]") -> None:
        if taken.exception() is None:
            self._count_taken(arrivals, taken.result())

    def _count_taken(self, arrivals: Sequence[Arrival], taken: Sequence[Taken]) -> None:
        for arrival, one in zip(arrivals, taken, strict=True):
            self._count(arrival.source, one.outcome)

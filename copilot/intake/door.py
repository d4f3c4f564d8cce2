"""The one door for alerts: bytes or alerts in, incident ids out once the inbox has synced them.

The web routes, the spool and the pollers all come through here. A body that is no alert is refused
with one line and nothing of it is kept; when the inbox cannot promise anything, its InboxError goes
to the caller, who asks the sender to come again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from copilot.errors import UsageError
from copilot.inbox.values import Arrival, Taken
from copilot.intake import alertmanager, bounds, generic, grafana, payloads
from copilot.intake.grouping import Grouping
from copilot.intake.parcel import Kind, Parcel
from copilot.intake.rule_use import RuleUse
from copilot.redact import Redactor
from copilot.settings import SettingsFile
from copilot.values import Alert, Json

REFUSED = "refused"


class Accepts(Protocol):
    """What the door needs of the inbox."""

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """Return the incident of each arrival once they are on the disk. Raises InboxError."""


class Door:
    """Takes alerts in by the rules of one configuration. Safe for many threads."""

    def __init__(
        self, settings: SettingsFile, inbox: Accepts, redactor: Redactor, *,
        now: Callable[[], datetime], count: Callable[[str, str], None],
    ) -> None:  # fmt: skip
        """Raises ConfigError for a map that is no jmespath.

        *count* is told the source and the outcome of each alert, or `refused` for a body.
        """
        self.use = RuleUse()
        self._inbox = inbox
        self._now = now
        self._count = count
        self._maps = generic.compiled({**generic.built_in(), **settings.intake.maps})
        self._grouping = Grouping(settings, redactor, self.use)

    def take(self, body: bytes, kind: Kind, *, map: str = "") -> list[Taken]:
        """The incident of each alert in *body*. Raises UsageError and InboxError."""
        return self.accept(self.arrivals(body, kind, map=map))

    def take_alerts(self, alerts: Sequence[Alert], source: str) -> list[Taken]:
        """The incident of each alert that a poller or a person brings. Raises InboxError."""
        return self.accept(self._grouping.arrivals(Parcel(source, tuple(alerts)), self._now()))

    def arrivals(
        self, body: bytes, kind: Kind, *, map: str = "", source: str = ""
    ) -> list[Arrival]:
        """What *body* brings, redacted and grouped, not yet accepted. Raises UsageError.

        *source* is how it came, where its sender is not told by its kind.
        """
        try:
            parcel = self._parcel(bounds.load(body), kind, map)
        except UsageError:
            self._count(source or kind, REFUSED)
            raise
        if source:
            parcel = replace(parcel, source=source)
        return self._grouping.arrivals(parcel, self._now())

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """The incident of each arrival once all are synced to the disk. Raises InboxError."""
        if not arrivals:
            return []
        taken = self._inbox.accept(arrivals)
        for arrival, one in zip(arrivals, taken, strict=True):
            self._count(arrival.source, one.outcome)
        return taken

    def knows(self, map: str) -> bool:
        """True when there is a map of that name."""
        return map in self._maps

    def _parcel(self, payload: Json, kind: Kind, map: str) -> Parcel:
        if map:
            if map not in self._maps:
                known = ", ".join(sorted(self._maps))
                raise UsageError(f"no map is called {map[:40]!r}; there are: {known}")
            return self._maps[map].parcel(payload)
        match kind:
            case "alertmanager":
                return alertmanager.parcel(payload)
            case "grafana":
                return grafana.parcel(payload)
            case "generic" | "any":
                return payloads.parcel(payload)

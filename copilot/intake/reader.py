"""Bodies become arrivals by the rules of one configuration: read, redacted and grouped."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from copilot.errors import UsageError
from copilot.inbox.values import Arrival
from copilot.intake import alertmanager, bounds, generic, grafana, payloads
from copilot.intake.grouping import Grouping
from copilot.intake.parcel import Kind, Parcel
from copilot.intake.rule_use import RuleUse
from copilot.redact import Redactor
from copilot.screening import screened_text
from copilot.settings import SettingsFile
from copilot.values import Alert, Json


class Reader:
    """Reads what senders write. Keeps nothing; safe for many threads."""

    def __init__(
        self, settings: SettingsFile, redactor: Redactor, *, now: Callable[[], datetime]
    ) -> None:
        """Raises ConfigError for a map that is no jmespath."""
        self.use = RuleUse()
        self._now = now
        self._redactor = redactor
        self._maps = generic.compiled({**generic.built_in(), **settings.intake.maps})
        self._grouping = Grouping(settings, redactor, self.use)

    def read(self, body: bytes, kind: Kind, *, map: str = "", source: str = "") -> list[Arrival]:
        """What *body* brings. Raises UsageError with one line that says why it is no alert.

        *source* is how it came, where its sender is not told by its kind.
        """
        try:
            parcel = self._parcel(bounds.load(body), kind, map)
        except UsageError as error:  # it quotes what came, and goes to the log and to the sender
            raise UsageError(screened_text(str(error), self._redactor)) from None
        if source:
            parcel = replace(parcel, source=source)
        return self._grouping.arrivals(parcel, self._now())

    def of_alerts(self, alerts: Sequence[Alert], source: str) -> list[Arrival]:
        """What a poller or a person brings."""
        return self._grouping.arrivals(Parcel(source, tuple(alerts)), self._now())

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

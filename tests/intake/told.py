"""What a poll told, and short ways to poll again and again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from copilot.intake.polls import Ask, Asked
from copilot.values import Alert, JsonObject


@dataclass
class Told:
    """Asks a poll with the cursor that it left, and keeps its alerts."""

    ask: Ask
    alerts: list[Alert] = field(default_factory=list)
    cursor: JsonObject = field(default_factory=dict)
    last: Asked | None = None

    def poll(self, now: datetime) -> list[str]:
        """Return the status and title of each alert of one poll."""
        before = len(self.alerts)
        self.last = self.ask(now, self.cursor, self._accept)
        self.cursor = self.last.cursor
        return [f"{alert.status} {alert.title}" for alert in self.alerts[before:]]

    def _accept(self, alerts: Sequence[Alert]) -> None:
        self.alerts.extend(alerts)

"""Arrivals as intake would hand them in, for tests of the inbox."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from copilot.inbox.values import Arrival, Rules, Severity
from copilot.values import digest

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RULES = Rules(debounce=timedelta(seconds=10), cooldown=timedelta(minutes=15))


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        """Return the time that the test chose."""
        return self.now

    def go_on(self, **length: float) -> datetime:
        """Let time pass; return what it is then."""
        self.now += timedelta(**length)
        return self.now


def arrival(
    workflow: str = "wf_1",
    *,
    minute: float = 0,
    status: Literal["firing", "resolved"] = "firing",
    ended: float | None = None,
    severity: Severity = "normal",
    ignored: str = "",
) -> Arrival:
    """An alert about *workflow* that started *minute* minutes after noon and ended at *ended*."""
    starts_at = NOW + timedelta(minutes=minute)
    return Arrival(
        alert={"title": f"{workflow} stalled", "labels": {"workflow": workflow}, "raw": "{}"},
        key=digest(f"{workflow} {starts_at.isoformat()}"),
        identity=digest(workflow)[:16],
        group="",
        source="alertmanager",
        status=status,
        starts_at=starts_at,
        ends_at=None if ended is None else NOW + timedelta(minutes=ended),
        severity=severity,
        ignored=ignored,
    )


def resolved(workflow: str = "wf_1", *, minute: float = 0, ended: float = 1) -> Arrival:
    """The word that such an alert is over."""
    return arrival(workflow, minute=minute, status="resolved", ended=ended)

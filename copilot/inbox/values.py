"""What goes into the inbox and what comes out of it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from copilot.safe_text import one_line
from copilot.values import JsonObject, text_at

Status = Literal[
    "waiting", "queued", "running", "waiting_model",
    "reported", "dismissed", "cancelled", "failed", "closed",
]  # fmt: skip
Ending = Literal["reported", "waiting_model", "dismissed", "cancelled", "failed"]
"""How a run may end."""
Outcome = Literal["opened", "joined", "repeated", "recurred", "resolved", "ignored"]
Severity = Literal["critical", "high", "normal", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "normal", "low")
"""Most severe first."""
URGENT: frozenset[Severity] = frozenset({"critical", "high"})
"""These are investigated even when they were resolved before anybody looked."""


LIMIT_TITLE = 300
EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One alert, redacted, as intake hands it in."""

    alert: JsonObject
    key: str
    """SHA-256 of fingerprint and start: the same firing has the same key."""
    identity: str
    group: str
    """Digest of the sender's group key, or an empty text."""
    source: str
    status: Literal["firing", "resolved"]
    starts_at: datetime
    ends_at: datetime | None
    severity: Severity
    ignored: str = ""
    """Why it needs no investigation; it is recorded, counted and dismissed."""
    is_dated: bool = True
    """False when the sender tells no start: then every message about the trouble has one key."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts_at", in_utc(self.starts_at))
        if self.ends_at:
            object.__setattr__(self, "ends_at", in_utc(self.ends_at))

    @property
    def title(self) -> str:
        """The alert's title on one line, or an empty text."""
        return one_line(text_at(self.alert, "title"), LIMIT_TITLE)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one arrival."""

    incident: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Entry:
    """An incident as the inbox knows it."""

    id: str
    identity: str
    title: str
    severity: Severity
    status: Status
    reason: str
    """Why it is dismissed, cancelled, failed or waiting for the model; else an empty text."""
    previous: str
    """The last incident of the same identity before this one."""
    began: datetime
    """When the earliest of its alerts started."""
    opened: datetime
    due: datetime
    """When it may be investigated."""
    updated: datetime
    """When something of it changed last; a repeated alert changes nothing."""
    runs: int
    """The number of its newest run; 0: none yet."""
    resolved: bool
    """True when all its alerts are resolved."""
    alerts: int
    """How many different alerts it has."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An alert of an incident."""

    key: str
    incident: str
    alert: JsonObject
    source: str
    group: str
    severity: Severity
    status: Literal["firing", "resolved"]
    starts_at: datetime
    ends_at: datetime | None
    ignored: str
    count: int
    """How often it was received."""
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """An incident that the notes know and the inbox may have lost; see `Inbox.adopt`."""

    id: str
    identity: str
    title: str
    status: Status
    previous: str
    began: datetime
    updated: datetime
    severity: Severity = "normal"
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """How alerts are grouped, and how many incidents may wait."""

    debounce: timedelta = timedelta(seconds=10)
    """How long more alerts are awaited before an incident is due."""
    cooldown: timedelta = timedelta(minutes=15)
    """An alert that starts so soon after all others were resolved is still the same incident."""
    backlog: int = 100_000
    """Incidents that may wait. Past it, what would open another is refused until there is room."""


def in_utc(time: datetime) -> datetime:
    """The instant in UTC; one that lies outside the calendar there becomes its first or last."""
    try:
        return time.astimezone(UTC)
    except OverflowError:
        return EARLIEST if time.year == 1 else LATEST

"""What the money allows: all, the cheaper model with fewer turns, or nothing for the moment.

The caps are over all investigations of all daemons. Their last part is kept for severe incidents,
so that a flood of small ones cannot leave nothing for the one that matters.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal

from copilot.settings.daemon import Severity, SpendSettings

Allowance = Literal["full", "cheaper", "nothing"]
USED_UP = "the dollars of this hour or day are used"
SEVERE: frozenset[Severity] = frozenset({"critical", "high"})


@dataclass(frozen=True, slots=True)
class Spent:
    """The dollars of this hour and of this day, both by the clock in UTC."""

    hour: Decimal
    day: Decimal


def hour_of(now: datetime) -> datetime:
    """When the hour of *now* began."""
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def day_of(now: datetime) -> datetime:
    """When the day of *now* began, in UTC."""
    return hour_of(now).replace(hour=0)


def next_hour(now: datetime) -> datetime:
    """When the next hour begins: the first time at which an hourly cap may allow more."""
    return hour_of(now) + timedelta(hours=1)


def allowance(spent: Spent, severity: Severity, caps: SpendSettings) -> Allowance:
    """What an incident of that severity may use now."""
    used = max(spent.hour / Decimal(str(caps.hour_usd)), spent.day / Decimal(str(caps.day_usd)))
    reserve = Decimal(0) if severity in SEVERE else Decimal(str(caps.reserve))
    if used >= 1 - reserve:
        return "nothing"
    return "cheaper" if used >= Decimal(str(caps.degrade_at)) * (1 - reserve) else "full"

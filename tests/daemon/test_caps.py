"""Claims about what the money allows."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.daemon.caps import SEVERE, Spent, allowance, day_of, hour_of
from copilot.settings.daemon import Severity, SpendSettings

CAPS = SpendSettings(hour_usd=10, day_usd=100, reserve=0.2, degrade_at=0.5)
ORDER = {"full": 0, "cheaper": 1, "nothing": 2}


def spent(hour: str, day: str = "0") -> Spent:
    return Spent(Decimal(hour), Decimal(day))


@pytest.mark.parametrize(
    ("hour", "severity", "allowed"),
    [
        ("0", "normal", "full"),
        ("3.9", "normal", "full"),
        ("4.1", "normal", "cheaper"),
        ("7.9", "low", "cheaper"),
        ("8", "normal", "nothing"),
        ("8", "high", "cheaper"),
        ("4.9", "critical", "full"),
        ("10", "critical", "nothing"),
    ],
)
def test_the_last_part_of_an_hour_is_kept_for_the_severe(
    hour: str, severity: Severity, allowed: str
) -> None:
    assert allowance(spent(hour), severity, CAPS) == allowed


def test_the_day_counts_as_the_hour_does() -> None:
    assert allowance(spent("0", "81"), "normal", CAPS) == "nothing"


@given(
    st.decimals(0, 20, places=2), st.decimals(0, 200, places=2), st.sampled_from(["low", "high"])
)
def test_spending_more_never_allows_more(hour: Decimal, day: Decimal, severity: Severity) -> None:
    less, more = Spent(hour, day), Spent(hour + 1, day + 1)

    assert ORDER[allowance(less, severity, CAPS)] <= ORDER[allowance(more, severity, CAPS)]


@given(st.decimals(0, 20, places=2), st.decimals(0, 200, places=2))
def test_the_severe_are_never_worse_off(hour: Decimal, day: Decimal) -> None:
    one = Spent(hour, day)

    assert ORDER[allowance(one, "critical", CAPS)] <= ORDER[allowance(one, "low", CAPS)]
    assert {"critical", "high"} == SEVERE


def test_hours_and_days_are_those_of_utc() -> None:
    now = datetime.fromisoformat("2026-11-30T01:30:00+02:00")

    assert hour_of(now) == datetime(2026, 11, 29, 23, tzinfo=UTC)
    assert day_of(now) == datetime(2026, 11, 29, tzinfo=UTC)

"""Times are absolute or refused; windows are half-open."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.errors import UsageError
from copilot.window import Window, iso, parse_duration, parse_iso, parse_time

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("now", NOW),
        ("now-2h", NOW - timedelta(hours=2)),
        ("15m", NOW - timedelta(minutes=15)),
        ("2h30m", NOW - timedelta(hours=2, minutes=30)),
        ("2026-11-30T13:00:00+01:00", NOW),
        ("2026-11-30 12:00Z", NOW),
        ("1796040000", datetime(2026, 11, 30, 12, 0, tzinfo=UTC)),
        ("1796040000000", datetime(2026, 11, 30, 12, 0, tzinfo=UTC)),
    ],
)
def test_a_time_that_says_what_it_means_is_read(text: str, meant: datetime) -> None:
    assert parse_time(text, NOW) == meant


@pytest.mark.parametrize(
    "text",
    ["", "may", "01/02/2026", "yesterday", "2026-11-30", "2026-11-30T12:00:00", "now-1d/d", "12",
     "1732693003E+3", "2026-13-45T12:00:00Z", "0001-01-01T00:00:00+14:00", "9" * 400 + "d"],
)  # fmt: skip
def test_a_time_that_must_be_guessed_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(UsageError, match=r"use 15m|write one like"):
        parse_time(text, NOW)


def test_nanoseconds_are_cut_to_microseconds() -> None:
    assert parse_iso("2023-01-29T09:26:48.079928222Z").microsecond == 79928


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(UsageError, match="start must come first"):
        Window(NOW, NOW)


def test_a_window_holds_its_start_and_not_its_end() -> None:
    window = Window(NOW, NOW + timedelta(hours=1))

    assert window.holds(NOW)
    assert not window.holds(NOW + timedelta(hours=1))


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_instant_written_and_read_is_the_same(time: datetime) -> None:
    assert parse_iso(iso(time)) == time


@given(st.text())
def test_no_text_makes_a_duration_crash(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse_duration(text) >= timedelta(0)

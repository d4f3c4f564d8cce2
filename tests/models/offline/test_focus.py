"""Which stretch of time the offline investigator looks at."""

from dataclasses import replace

import pytest

from copilot.models.offline.focus import Extent, choose
from copilot.window import Window, parse_iso

from .test_reading import brief

EXTENT = Extent(
    logbook="logs",
    total=200,
    first=parse_iso("2026-11-28T08:00:00Z"),
    last=parse_iso("2026-11-28T20:00:00Z"),
    buckets=(
        (parse_iso("2026-11-28T08:00:00Z"), 100, 0),
        (parse_iso("2026-11-28T14:00:00Z"), 100, 9),
    ),
    sources=("app.log",),
    healthy=(),
    untimed=False,
)


def window(start: str, end: str) -> Window:
    """The window between two clock times of that day; an empty one is an open end."""
    first, last = (parse_iso(f"2026-11-28T{at}:00Z") if at else None for at in (start, end))
    return Window(first, last)


@pytest.mark.parametrize(
    ("start", "end", "chosen"),
    [
        ("10:00", "12:00", ("2026-11-28T10:00:00Z", "2026-11-28T12:00:00Z")),
        ("10:00", "", ("2026-11-28T10:00:00Z", "")),
        ("", "12:00", ("", "2026-11-28T12:00:00Z")),
    ],
)
def test_the_window_that_a_person_gave_is_looked_at(
    start: str, end: str, chosen: tuple[str, str]
) -> None:
    asked = replace(brief("wf_1 fails since 2026-11-28T16:00:00Z"), window=window(start, end))
    focus = choose(asked, EXTENT, ("", ""))
    assert (focus.since, focus.until) == chosen


def test_a_window_that_the_logs_do_not_hold_is_no_help() -> None:
    asked = replace(brief("wf_1"), window=window("21:00", "22:00"))
    assert not choose(asked, EXTENT, ("", "")).is_bounded

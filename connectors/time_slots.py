"""How a window is cut into buckets, and which of its silences are holes. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from copilot.window import Window

WIDTHS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
        86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000,
    )
)  # fmt: skip
BUCKETS = 24
MAX_BUCKETS = 2_000
HOLES = 10
HOLE_TIMES = 20
"""A hole is that many times longer than the usual gap between two entries."""


def width_for(covered: Window, bucket: timedelta | None, notes: list[str]) -> timedelta:
    """The bucket asked for, or the one that gives about BUCKETS; wider where far too many."""
    assert covered.start
    assert covered.end
    length = covered.end - covered.start
    fewest = BUCKETS if bucket is None else MAX_BUCKETS
    wanted = bucket or WIDTHS[0]
    if length / wanted <= fewest:
        return wanted
    width = next((width for width in WIDTHS if length / width <= fewest), WIDTHS[-1])
    if bucket:
        notes.append(f"buckets of {bucket} would be more than {MAX_BUCKETS}; they are {width}")
    return width


def gaps_of(seconds: Iterable[int]) -> tuple[list[tuple[int, int]], float | None]:
    """The widest silences between occupied slots, and from how many seconds on one is a hole.

    None where there are too few slots to know what is usual.
    """
    occupied = sorted(seconds)
    gaps = [after - before for before, after in pairwise(occupied)]
    if len(gaps) < 3:
        return [], None
    least = HOLE_TIMES * median(gaps)
    wide = sorted(((gap, place) for place, gap in enumerate(gaps) if gap > least), reverse=True)
    return [(occupied[place], occupied[place + 1]) for _, place in wide[:HOLES]], least


def ends_of(
    covered: Window, span: tuple[datetime | None, datetime | None], least: float
) -> Iterator[Window]:
    """The silences of at least so many seconds before the first entry and after the last one."""
    first, last = span
    for start, end in ((covered.start, first), (last, covered.end)):
        if start and end and (end - start).total_seconds() > least:
            yield Window(start, end)

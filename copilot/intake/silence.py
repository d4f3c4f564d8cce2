"""Telling silent workflows from a logbook that lost their progress.

A stretch without any progress is a hole of the logbook, not of the workflows, when progress came
densely right before it and right behind it: as much again in the same time would have been some ten
entries, and there was none. A stretch that is only quiet (one slow workflow at night) is no hole,
nor is one of many alike: batches and working hours have a rhythm.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, pairwise

from connectors.logbook import Overview

EXPECTED = 10
"""Entries that would have come in a hole. Without it, none is one chance in twenty thousand."""
SEVERAL = 3
"""From so many workflows on, that all fell silent at once says more of the logbook than of them."""
RHYTHM = 5
"""More gaps alike than this are how the work goes, and no accidents."""
BUCKETS = 1_000


@dataclass(frozen=True, slots=True)
class Hole:
    """A stretch without any progress, out to the edges of the buckets around it."""

    start: datetime
    end: datetime


def bucket_for(window: timedelta, lag: timedelta) -> timedelta:
    """The width of buckets in which a hole of *lag* shows, as far as their number allows."""
    seconds = max(lag / 2, window / BUCKETS).total_seconds()
    return timedelta(seconds=max(1, round(seconds)))


def past_holes(seen: Overview, lag: timedelta) -> tuple[Hole, ...]:
    """The holes that are over, of at least *lag*."""
    sums = _sums(seen)
    return tuple(
        Hole(seen.buckets[first].start, seen.buckets[then].start + seen.bucket)
        for first, then in _gaps(seen)
        if _length(seen, first, then) >= lag
        and _is_hole(sums, first, then)
        and not is_usual(seen, _length(seen, first, then))
    )


def is_usual(seen: Overview, length: timedelta) -> bool:
    """True when many stretches without progress are at least half as long."""
    return sum(2 * _length(seen, *gap) >= length for gap in _gaps(seen)) > RHYTHM


def entries_since(seen: Overview, start: datetime) -> int:
    """How many entries came since then, to the bucket."""
    return sum(bucket.count for bucket in seen.buckets if bucket.start >= start)


def _gaps(seen: Overview) -> Iterator[tuple[int, int]]:
    """The buckets with entries, by pairs that have empty ones in between."""
    filled = [place for place, bucket in enumerate(seen.buckets) if bucket.count]
    return ((first, then) for first, then in pairwise(filled) if then > first + 1)


def _length(seen: Overview, first: int, then: int) -> timedelta:
    """How long it is between two buckets."""
    return (then - first - 1) * seen.bucket


def _sums(seen: Overview) -> Sequence[int]:
    """How many entries lie before each bucket."""
    return [0, *accumulate(bucket.count for bucket in seen.buckets)]


def _is_hole(sums: Sequence[int], first: int, then: int) -> bool:
    """True when progress was dense on both sides, over stretches as long as the gap itself.

    Where the gap ended only now, less has had the time to come.
    """
    length = then - first - 1
    last = len(sums) - 1
    end = min(then + length, last)
    before = sums[first + 1] - sums[max(0, first + 1 - length)]
    behind = sums[end] - sums[then]
    return before >= EXPECTED and behind * length >= EXPECTED * (end - then)

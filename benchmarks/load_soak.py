"""A daemon that works for a long time: what its memory and its files do meanwhile."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from benchmarks import load_rig, load_sender
from benchmarks.load_rig import Reading
from tests.daemon.running import RunningDaemon, alert, payload

RECENT = 200
WARM = 0.4
"""The share of the time in which caches and threads are still being made."""
QUARTERS = 4


def soak(folder: Path, seconds: float, a_second: float, fresh: float) -> None:
    """Send, investigate, and print the slopes. *fresh*: the share of alerts that open incidents."""
    total = round(seconds * a_second)
    with load_rig.ruled(folder) as daemon:
        assert daemon.plate
        bodies = [load_sender.encoded(payload(alert(name))) for name in names(total, fresh)]
        used = load_rig.processor_s(load_rig.pid_of(daemon))
        with load_rig.Gauge(load_rig.pid_of(daemon), every_s=1.0) as gauge:
            sent = load_sender.send(daemon.plate.url, bodies, connections=5, a_second=a_second)
        used = load_rig.processor_s(load_rig.pid_of(daemon)) - used
        print(sent)
        print_slopes(gauge.readings)
        print(f"  processor: {used / sent.seconds:.0%} of one; {counts(daemon)}")
    for part in ("notes", "state", "scratch"):
        print(f"  {part}: {load_rig.size_mib(folder / part):.1f} MiB")


def names(total: int, fresh: float) -> Iterator[str]:
    """Workflows: each is a new one, or one of the newest again, drawn with a fixed seed."""
    random = Random(1)
    newest = 0
    for _ in range(total):
        if newest == 0 or random.random() < fresh:
            newest += 1
            yield f"wf_soak_{newest:06}"
        else:
            yield f"wf_soak_{random.randint(max(1, newest - RECENT), newest):06}"


def print_slopes(readings: Sequence[Reading]) -> None:
    """Print how memory and files grow in an hour: in each quarter, and in all the time when warm.

    The quarters tell a cache that fills, whose last quarter is the flattest, and a table that is
    doubled once, which is in one of them only, from what grows for ever, which is in all.
    """
    warm = readings[int(len(readings) * WARM) :]
    first, last = readings[0], readings[-1]
    print(
        f"  RSS {first.rss_mib:.1f} MiB at first, {warm[0].rss_mib:.1f} when warm, "
        f"{last.rss_mib:.1f} at last: {_an_hour(warm, _memory):+.1f} MiB/h in the last "
        f"{warm[-1].at - warm[0].at:.0f} s"
    )
    quarters = ", ".join(f"{_an_hour(one, _memory):+.1f}" for one in _quarters(readings))
    print(f"  MiB/h in each quarter, the first of which is warm-up: {quarters}")
    print(
        f"  open files {first.files}, {warm[0].files}, {last.files}: "
        f"{_an_hour(warm, _files):+.1f} an hour; "
        f"threads {first.threads}, {warm[0].threads}, {last.threads}"
    )


def _quarters(readings: Sequence[Reading]) -> list[Sequence[Reading]]:
    """The readings of each quarter of the time."""
    ends = [len(readings) * part // QUARTERS for part in range(QUARTERS + 1)]
    return [readings[begin:end] for begin, end in pairwise(ends)]


def _an_hour(readings: Sequence[Reading], what: Callable[[Reading], float]) -> float:
    """By how much that grows in an hour: the slope of the line through all readings."""
    hours = [one.at / 3600 for one in readings]
    return statistics.linear_regression(hours, list(map(what, readings))).slope


def _memory(reading: Reading) -> float:
    return reading.rss_mib


def _files(reading: Reading) -> float:
    return reading.files


def counts(daemon: RunningDaemon) -> str:
    """How many incidents there are of each status."""
    found: dict[str, int] = {}
    for one in daemon.get("/v1/incidents?limit=1000").json()["incidents"]:
        found[one["status"]] = found.get(one["status"], 0) + 1
    return f"incidents {found}"

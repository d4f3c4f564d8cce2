"""Many investigations side by side in one daemon: what they take, whether all end, who waits."""

import itertools
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import load_rig
from benchmarks.load_rig import Gauge
from tests.daemon.running import Investigator

GOAL_MIB = 600.0
GOAL_FILES = 1024
"""The usual soft limit of a process."""
AT_ONCE = 0.9
"""The share that must be at work at one moment, or it was no crowd: let the model be slower."""
FAIR = 4.0
"""No investigation waits for any of its turns longer than so many times what is usual."""
LIMITS = """\
  spend:
    hour_usd: 100000
    day_usd: 100000"""


def crowd(folder: Path, count: int, turns: int, latency_s: float) -> bool:
    """Begin all, wait for all, print; whether all ended within the memory, none starved."""
    model = Investigator(turns=turns, latency_s=latency_s)
    with load_rig.asked(folder, model, workers=count, daemon=LIMITS) as daemon:
        pid = load_rig.pid_of(daemon)
        used, before = load_rig.processor_s(pid), load_rig.reading(pid).rss_mib
        begun = time.monotonic()
        with Gauge(pid) as gauge:
            wanted = daemon.send(*(f"wf_crowd_{number:04}" for number in range(count)))
            while load_rig.count(daemon.state, "reported") < count:
                time.sleep(0.25)
                if time.monotonic() - begun > 60 + count * turns:
                    break
        seconds, used = time.monotonic() - begun, load_rig.processor_s(pid) - used
        reported = load_rig.count(daemon.state, "reported")
    print(f"{count} investigations of {turns} turns in {seconds:.0f} s; processor {used:.0f} s")
    verdicts = [
        verdict(reported == count, f"{reported} of {count} reported"),
        *cost(gauge, before, count),
        verdict(
            sum(model.counts.values()) == count * turns,
            f"{sum(model.counts.values())} calls of the model, {count * turns} wanted",
        ),
        at_once(runs := [turns_of(one, model.answered) for one in wanted]),
        fairness(runs, turns),
    ]
    return all(verdicts)


def cost(gauge: Gauge, before: float, count: int) -> list[bool]:
    """Whether memory and files stayed within their goals."""
    peak = gauge.peak
    each = (peak.rss_mib - before) * 1024 / count
    return [
        verdict(
            peak.rss_mib <= GOAL_MIB,
            f"RSS {before:.0f} MiB before, {peak.rss_mib:.0f} at most ({each:.0f} KiB each), "
            f"under {GOAL_MIB:.0f}; {max(one.threads for one in gauge.readings)} threads",
        ),
        verdict(gauge.most_files <= GOAL_FILES, f"{gauge.most_files} open files at most"),
    ]


def turns_of(incident: str, answered: Mapping[tuple[str, int], float]) -> list[float]:
    """When each turn of one investigation was answered, in order."""
    return sorted(at for (one, _), at in answered.items() if one == incident)


def at_once(runs: Sequence[Sequence[float]]) -> bool:
    """Whether nearly all were at work at one moment."""
    moments = [run[0] for run in runs if run]
    most = max(sum(bool(run) and run[0] <= now <= run[-1] for run in runs) for now in moments)
    return verdict(most >= AT_ONCE * len(runs), f"{most} at work at one moment")


def fairness(runs: Sequence[Sequence[float]], turns: int) -> bool:
    """Whether nobody starved: how long each waited from its first answer to its last.

    All want the same, so what differs is the order in which the daemon let them.
    """
    whole = [run[-1] - run[0] for run in runs if len(run) == turns]
    gaps = [later - one for run in runs for one, later in itertools.pairwise(run)]
    if not whole or not gaps:
        return verdict(False, "no investigation came to its end")
    usual, longest = statistics.median(gaps), max(gaps)
    first, middle, last = min(whole), statistics.median(whole), max(whole)
    print(
        f"  from first turn to last: {first:.0f} s the fastest, {middle:.0f} s the median, "
        f"{last:.0f} s the slowest; at once {spread(runs)} turns between first and last"
    )
    return verdict(
        longest <= FAIR * usual,
        f"for one turn a run waited {longest:.0f} s at most, {usual:.0f} s is usual",
    )


def spread(runs: Sequence[Sequence[float]]) -> int:
    """The most turns by which one run was ahead of another while both were at work."""
    most = 0
    for now in sorted(at for run in runs for at in run):
        at_work = [run for run in runs if run and run[0] <= now < run[-1]]
        done = [sum(at <= now for at in run) for run in at_work]
        most = max(most, max(done, default=0) - min(done, default=0))
    return most


def verdict(kept: bool, what: str) -> bool:
    """*kept*, said on a line of its own."""
    print(f"  {'ok    ' if kept else 'MISSED'} {what}")
    return kept

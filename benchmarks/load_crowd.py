"""Many investigations side by side in one daemon: what each of them takes, and whether all end."""

import statistics
import time
from pathlib import Path

from benchmarks import load_rig
from tests.daemon.running import Investigator

GOAL_MIB = 600.0


def crowd(folder: Path, count: int, turns: int, latency_s: float) -> bool:
    """Begin all, wait for all, print; whether all ended within the memory."""
    model = Investigator(turns=turns)
    with load_rig.asked(folder, model, latency_s=latency_s, workers=count, daemon=LIMITS) as daemon:
        before = load_rig.reading(load_rig.pid_of(daemon)).rss_mib
        begun = time.monotonic()
        with load_rig.Gauge(load_rig.pid_of(daemon)) as gauge:
            wanted = daemon.send(*(f"wf_crowd_{number:04}" for number in range(count)))
            while load_rig.count(daemon.state, "reported") < count:
                time.sleep(0.25)
                if time.monotonic() - begun > 60 + count * turns:
                    break
        seconds = time.monotonic() - begun
        reported = load_rig.count(daemon.state, "reported")
    ended = [model.answered[one, turns] - begun for one in wanted if (one, turns) in model.answered]
    peak = gauge.peak
    print(f"{reported} of {count} investigations of {turns} turns reported in {seconds:.0f} s")
    again = sum(model.counts.values()) - count * turns
    print(f"  last answers after {min(ended):.0f} s, p50 {statistics.median(ended):.0f} s, "
          f"{max(ended):.0f} s; calls made twice: {again}")  # fmt: skip
    print(f"  RSS {before:.0f} MiB before, {peak.rss_mib:.0f} at most: "
          f"{(peak.rss_mib - before) * 1024 / count:.0f} KiB each; threads {peak.threads}, "
          f"open files {gauge.most_files}")  # fmt: skip
    return reported == count and peak.rss_mib <= GOAL_MIB


LIMITS = """\
  spend:
    hour_usd: 100000
    day_usd: 100000"""

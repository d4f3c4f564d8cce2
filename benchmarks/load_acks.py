"""How long senders wait until their alert is on the disk, at a steady rate."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks import load_rig, load_sender
from tests.daemon.running import Investigator, RunningDaemon, alert, payload

GOAL_MS = 100.0
LATENCY_S = 2.0
"""Of the model: investigations go on beside the door, as they would."""


def acks(folder: Path, seconds: float, a_second: float, repeats: float) -> bool:
    """Send, print, and say whether every alert was accepted soon and is in the inbox."""
    total = round(seconds * a_second)
    model = Investigator(turns=5, latency_s=LATENCY_S)
    with load_rig.asked(folder, model) as daemon:
        assert daemon.plate
        named = list(names(total, repeats))
        bodies = [load_sender.encoded(payload(alert(name))) for name in named]
        daemon.wait(lambda: daemon.send("wf_warm_001") and model.counts)
        pid = load_rig.pid_of(daemon)
        used = load_rig.processor_s(pid)
        with load_rig.Gauge(pid) as gauge:
            sent = load_sender.send(daemon.plate.url, bodies, a_second=a_second)
        used = load_rig.processor_s(pid) - used
        print(f"{repeats:.0%} repeats: {sent}")
        print(f"  processor {used / sent.seconds:.0%} of one, all in all {1000 * used / total:.2f} "
              f"ms an alert; RSS at most {gauge.peak.rss_mib:.0f} MiB, {gauge.most_files} open "
              "files")  # fmt: skip
        answered = set(sent.incidents())
        lost = answered - kept(daemon)
        print(f"  investigated meanwhile: {sum(model.counts.values())} calls of the model")
        print(f"  incidents answered {len(answered)} of {len(set(named))}, lost: {len(lost)}")
    is_whole = not sent.refused and not lost and len(answered) == len(set(named))
    return is_whole and sent.wait_ms(0.99) <= GOAL_MS


def kept(daemon: RunningDaemon) -> set[str]:
    """The incidents in the inbox of a daemon that was killed the moment after."""
    daemon.kill()
    return load_rig.incidents(daemon.state)


def names(total: int, repeats: float) -> Iterator[str]:
    """Workflows, of which that share was named before, drawn with a fixed seed."""
    random = Random(1)
    newest = 0
    for _ in range(total):
        if newest == 0 or random.random() >= repeats:
            newest += 1
            yield f"wf_load_{newest:06}"
        else:
            yield f"wf_load_{random.randint(1, newest):06}"

"""How fast the daemon takes files from its spool, and whether its memory stays as it is."""

import time
from pathlib import Path

from benchmarks import load_rig, load_sender
from tests.daemon.running import Investigator, alert, payload

GOAL = 200
LATENCY_S = 2.0
WARM = 0.1
"""The share of the time that counts as before."""


def spool(folder: Path, files: int) -> bool:
    """Fill the spool, start a daemon, print; whether it was fast enough and nothing is lost."""
    new = folder / "state" / "spool" / "new"
    new.mkdir(parents=True)
    for number in range(files):
        body = load_sender.encoded(payload(alert(f"wf_spool_{number:06}")))
        (new / f"{number:08}.json").write_bytes(body)
    backlog = f"  backlog: {2 * files}"
    model = Investigator(latency_s=LATENCY_S)
    with load_rig.asked(folder, model, intake=backlog) as daemon:
        before = load_rig.reading(load_rig.pid_of(daemon)).rss_mib
        begun = time.monotonic()
        with load_rig.Gauge(load_rig.pid_of(daemon)) as gauge:
            daemon.wait(lambda: is_empty(new), within=files / 20 + 60)
        seconds = time.monotonic() - begun
        daemon.kill()
    warm = gauge.readings[int(len(gauge.readings) * WARM)].rss_mib
    lost = files - len(load_rig.incidents(folder / "state"))
    print(f"{files} files in {seconds:.0f} s: {files / seconds:.0f}/s, lost: {lost}")
    print(f"  RSS {before:.0f} MiB before, {warm:.0f} at a tenth, {gauge.readings[-1].rss_mib:.0f} "
          f"after, {gauge.peak.rss_mib:.0f} at most; {gauge.most_files} open files")  # fmt: skip
    return lost == 0 and files / seconds >= GOAL


def is_empty(folder: Path) -> bool:
    """Whether nothing is left in it."""
    time.sleep(0.2)  # a listing of so many files is work too
    return next(folder.iterdir(), None) is None

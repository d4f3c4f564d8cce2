"""What an incident gets while the model is away, with the default patience, and afterwards.

    .venv/bin/python benchmarks/degraded.py [refused|silent|overloaded|failed|hour|day …]

Prints for each way the seconds from the alert to its triage report, how many alerts were taken in
meanwhile, and whether every full investigation ran afterwards, with nothing asked twice.
"""

import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import cast, get_args

from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.line import Line, Way
from tests.doubles.messages_api import MessagesApi

GOAL_S = 60.0
MEANWHILE = 5
RETURN_S = 400.0
START_S = 180.0
"""A start is not what is measured, and the machine may be busy."""
CAPS = ("hour", "day")
WAYS: tuple[str, ...] = (*(way for way in get_args(Way) if way), *CAPS)
NO_DOLLARS = "  spend: {{{period}_usd: 0.001, reserve: 0, degrade_at: 1}}"
"""Used up by the first answer."""


def main() -> int:
    """0 when every way keeps the promise."""
    kept = [measured(way) for way in sys.argv[1:] or WAYS]
    return 0 if all(kept) else 1


def measured(way: str) -> bool:
    """Whether the promise was kept in that way."""
    investigator = Investigator(turns=3)
    with (
        tempfile.TemporaryDirectory() as name,
        MessagesApi(responder=investigator) as api,
        Line(api) as line,
    ):
        daemon = RunningDaemon(
            Path(name), line, daemon=NO_DOLLARS.format(period=way) if way in CAPS else ""
        )
        # The debounce is a part of what an operator waits for: the tests' own has none.
        settings = daemon.folder / "copilot.yaml"
        settings.write_text(settings.read_text().replace("debounce: 0s", "debounce: 10s"))
        if way not in CAPS:
            line.cut(cast("Way", way))
        try:
            daemon.start(within=START_S)
            return _measured(way, daemon, line, investigator)
        finally:
            daemon.kill()


def _measured(way: str, daemon: RunningDaemon, line: Line, investigator: Investigator) -> bool:
    begun = time.monotonic()
    incidents = daemon.send("wf_alpha_001")
    report = daemon.folder / "notes" / incidents[0] / "report.md"
    daemon.wait(report.exists, within=4 * GOAL_S)
    seconds = time.monotonic() - begun
    is_marked = "Offline triage by rules" in report.read_text()
    incidents += daemon.send(*(f"wf_{number:03}" for number in range(MEANWHILE)))
    back = time.monotonic()
    _return(way, daemon, line)
    daemon.wait_for(incidents, within=RETURN_S)
    after = time.monotonic() - back
    twice = sum(count - 1 for count in investigator.counts.values())
    is_replaced = "Offline triage" not in report.read_text()
    is_kept = seconds <= GOAL_S and is_marked and is_replaced and not twice
    print(
        f"{way:<10}  triage after {seconds:5.1f} s (goal {GOAL_S:.0f}), "
        f"{len(incidents) - 1} of {MEANWHILE} alerts accepted meanwhile, "
        f"{len(incidents)} full investigations {after:5.1f} s after its return, "
        f"{twice} calls answered twice: {'kept' if is_kept else 'BROKEN'}",
        flush=True,
    )
    return is_kept


def _return(way: str, daemon: RunningDaemon, line: Line) -> None:
    """Mend the line, or raise the cap as an operator would."""
    if way not in CAPS:
        line.mend()
        return
    settings = daemon.folder / "copilot.yaml"
    settings.write_text(re.sub(r"_usd: 0\.001", "_usd: 100", settings.read_text()))
    assert daemon.process
    daemon.process.send_signal(signal.SIGHUP)


if __name__ == "__main__":
    sys.exit(main())

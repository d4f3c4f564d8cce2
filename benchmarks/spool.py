"""How fast files are taken from the spool, and what that costs in memory.

    python benchmarks/spool.py [--files 100000] [--folder DIR] [--json FILE]

Every file is a group of Alertmanager about a workflow of its own, so each opens an incident. After
that, 10,000 alerts come in one post: of one trouble, and of as many. The figures to reach: 200
files a second, no more memory at the end than after the first thousand, a second for a post.
"""

import argparse
import json
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Rules
from copilot.intake.door import Door
from copilot.intake.spool import Spool
from copilot.redact import Redactor
from copilot.settings import SettingsFile
from copilot.values import Json, JsonObject

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
POST = 10_000


def group(number: int) -> JsonObject:
    """A post of Alertmanager about one stalled workflow."""
    return {
        "version": "4",
        "groupKey": '{}:{alertname="WorkflowStalled"}',
        "status": "firing",
        "alerts": [
            {
                "status": "firing",
                "labels": {"alertname": "WorkflowStalled", "workflow": f"wf_{number}"},
                "annotations": {"description": "no progress for 6 h"},
                "startsAt": "2026-11-30T08:00:00Z",
                "fingerprint": f"{number:016x}",
            }
        ],
    }


def post(label: str) -> bytes:
    """One post of many alerts that differ in that label."""
    alerts: list[Json] = [
        {"labels": {"alertname": label, label: f"n{number}"}, "startsAt": "2026-11-30T08:00:00Z"}
        for number in range(POST)
    ]
    payload: JsonObject = {"version": "4", "groupLabels": {"alertname": label}, "alerts": alerts}
    return json.dumps(payload, separators=(",", ":")).encode()


def resident_mib() -> float:
    """What this process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / (1 << 20)


class Gauge:
    """Reads the memory every half second."""

    def __init__(self) -> None:
        self.seen: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._stop.wait(0.5):
            self.seen.append(resident_mib())

    def stop(self) -> list[float]:
        """All readings."""
        self._stop.set()
        self._thread.join()
        return [*self.seen, resident_mib()]


def measured(folder: Path, files: int) -> JsonObject:
    """The figures of one run in an empty folder."""
    new = folder / "spool" / "new"
    new.mkdir(parents=True)
    for number in range(files):
        (new / f"{number:08}.json").write_text(json.dumps(group(number)))
    with Inbox(folder / "inbox.sqlite", Rules(backlog=10 * files + POST), now=lambda: NOW) as inbox:
        door = Door(
            SettingsFile(), inbox, Redactor(b"benchmark"), now=lambda: NOW,
            count=lambda _source, _outcome: None,
        )  # fmt: skip
        gauge = Gauge()
        started = time.perf_counter()
        taken = Spool(folder / "spool", lambda: door, now=lambda: NOW).drain_once()
        seconds = time.perf_counter() - started
        memory = gauge.stop()
        return {
            "files": taken,
            "files_per_second": round(taken / seconds),
            "memory_mib": {"first": round(memory[0]), "most": round(max(memory))},
            "post_seconds": {label: posted(door, label) for label in ("instance", "workflow")},
        }


def posted(door: Door, label: str) -> JsonObject:
    """How long a post of many alerts takes to be read, and to be synced."""
    body = post(label)
    started = time.perf_counter()
    arrivals = door.arrivals(body, "alertmanager")
    read = time.perf_counter()
    taken = door.accept(arrivals)
    return {
        "bytes": len(body),
        "read": round(read - started, 2),
        "accept": round(time.perf_counter() - read, 2),
        "incidents": len({one.incident for one in taken}),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--json", type=Path, default=None)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        found = json.dumps(measured(Path(folder), asked.files), indent=2)
    print(found)
    if asked.json:
        asked.json.write_text(found + "\n")


if __name__ == "__main__":
    main()

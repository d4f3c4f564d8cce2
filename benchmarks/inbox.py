"""How fast alerts are accepted, each synced before its sender is answered.

    python benchmarks/inbox.py [--threads 50] [--seconds 5] [--waiting 100000]
                               [--database postgresql://...] [--folder DIR] [--json FILE]

Every thread is a sender that posts one alert, waits for the answer and posts the next: first new
ones (each opens an incident), then repeats. After that the inbox is filled, and what the desk asks
of it is timed. The figures to reach on SQLite: 1,500 accepts a second, 99 % within 50 ms.
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from copilot.inbox.inbox import Inbox
from copilot.inbox.values import SEVERITIES, Arrival, Rules
from copilot.values import digest

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TEXT = "no progress for 47 minutes; last event: waiting for input " * 20
POST = 1_000
"""Alerts in one post while the inbox is filled."""


def arrival(number: int) -> Arrival:
    """An alert of a size that senders send, about a trouble of its own."""
    labels = {"alertname": "WorkflowStalled", "workflow": f"wf_{number}", "site": "T2_EX_Site"}
    return Arrival(
        alert={"title": f"wf_{number} stalled", "text": TEXT, "labels": dict(labels), "raw": TEXT},
        key=digest(f"key {number}"),
        identity=digest(f"identity {number}")[:16],
        group=digest("group"),
        source="alertmanager",
        status="firing",
        starts_at=NOW + timedelta(milliseconds=number),
        ends_at=None,
        severity=SEVERITIES[number % len(SEVERITIES)],
    )


def flood(inbox: Inbox, threads: int, seconds: float, number: Callable[[], int]) -> list[float]:
    """How long each accept took, in seconds, while *threads* senders posted one after the other."""
    took: list[float] = []
    end = time.perf_counter() + seconds

    def send() -> None:
        while (begun := time.perf_counter()) < end:
            inbox.accept([arrival(number())])
            took.append(time.perf_counter() - begun)

    senders = [threading.Thread(target=send) for _ in range(threads)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    return took


def timed(work: Callable[[], object], times: int = 20) -> float:
    """The median of that many runs, in milliseconds."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def floods(inbox: Inbox, arguments: argparse.Namespace, numbers: Iterator[int]) -> dict[str, float]:
    """Accepts a second and their latency, for new alerts and for repeats."""
    figures: dict[str, float] = {}
    kinds: dict[str, Callable[[], int]] = {"new": lambda: next(numbers), "repeat": lambda: 7}
    for kind, number in kinds.items():
        took = sorted(flood(inbox, arguments.threads, arguments.seconds, number))
        figures[f"{kind}_per_second"] = len(took) / arguments.seconds
        figures[f"{kind}_p50_ms"] = took[len(took) // 2] * 1000
        figures[f"{kind}_p99_ms"] = took[len(took) * 99 // 100] * 1000
    return figures


def full(inbox: Inbox, waiting: int, numbers: Iterator[int]) -> dict[str, float]:
    """What questions cost, in milliseconds, with so many incidents waiting."""
    there = inbox.counts().get("waiting", 0)
    for _ in range(max(waiting - there, 0) // POST):
        inbox.accept([arrival(next(numbers)) for _ in range(POST)])
    later = NOW + timedelta(days=1)
    one = inbox.list(limit=1)[0].id
    return {
        "waiting": inbox.counts()["waiting"],
        "due_ms": timed(lambda: inbox.due(later, 20)),
        "due_none_ms": timed(lambda: inbox.due(NOW, 20)),
        "counts_ms": timed(inbox.counts),
        "list_ms": timed(lambda: inbox.list(limit=100)),
        "incident_ms": timed(lambda: inbox.incident(one)),
        "unnoted_ms": timed(lambda: inbox.unnoted(100)),
        "accept_new_ms": timed(lambda: inbox.accept([arrival(next(numbers))])),
    }


def main() -> None:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description="How fast alerts are accepted.")
    parser.add_argument("--threads", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--waiting", type=int, default=100_000)
    parser.add_argument("--database", default="")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        place = arguments.database or Path(folder) / "inbox.sqlite"
        begun = time.perf_counter()
        rules = Rules(backlog=10**7)
        with Inbox(place, rules, now=lambda: NOW) as inbox:
            figures = {"open_ms": (time.perf_counter() - begun) * 1000}
            numbers = count()
            figures |= floods(inbox, arguments, numbers)
            figures |= full(inbox, arguments.waiting, numbers)
        begun = time.perf_counter()
        Inbox(place, rules, now=lambda: NOW).shut()
        figures["open_full_ms"] = (time.perf_counter() - begun) * 1000
    for name, figure in figures.items():
        print(f"{name:20} {figure:12,.1f}")
    if arguments.json:
        rounded = {name: round(figure, 1) for name, figure in figures.items()}
        arguments.json.write_text(json.dumps(rounded, indent=1) + "\n")


if __name__ == "__main__":
    main()

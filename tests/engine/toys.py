"""Toy runs: each step pays for one call and writes it into a journal, like an investigation."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from time import monotonic, sleep

from copilot.engine.engine import Body, Engine
from copilot.engine.place import Place
from copilot.engine.steps import Steps
from copilot.errors import CopilotError
from copilot.values import JsonObject

QUICK = timedelta(milliseconds=30)


class ToyError(CopilotError):
    """A fault of the toy's own."""


class Journal:
    """What a run has done, one line a step; a line counts when it is whole."""

    def __init__(self, folder: Path, run: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{run.replace(':', '_')}.jsonl"

    def done(self) -> list[int]:
        """Return the numbers of the steps that are recorded."""
        if not self.path.exists():
            return []
        lines = self.path.read_text().splitlines(keepends=True)
        return [json.loads(line)["step"] for line in lines if line.endswith("\n")]

    def add(self, step: int) -> None:
        """Record a step, synced."""
        with self.path.open("a") as file:
            file.write(json.dumps({"step": step}) + "\n")
            file.flush()
            os.fsync(file.fileno())


def pay(folder: Path, run: str, step: int) -> None:
    """Count a call from outside: an appended line survives whoever made the call."""
    with (folder / "paid").open("a") as file:
        file.write(f"{run} {step}\n")


def paid(folder: Path) -> Counter[str]:
    """Return how often each call was paid for."""
    path = folder / "paid"
    return Counter(path.read_text().splitlines()) if path.exists() else Counter()


def nothing(_run: str, _step: int) -> None:
    """Do nothing before a step."""


def toy_body(
    folder: Path,
    count: int,
    *,
    before: Callable[[str, int], None] = nothing,
    latency: float = 0,
    journals: bool = True,
) -> Body:
    """Return a body of *count* steps that resumes from its journal; *before* runs in each step.

    One that does not keep a journal is the mutant that a crash test must find.
    """

    def body(job: JsonObject, steps: Steps) -> JsonObject:
        journal = Journal(folder, steps.run)
        for number in range(1, count + 1):
            if number in journal.done():
                continue

            def io(number: int = number) -> JsonObject:
                before(steps.run, number)
                pay(folder, steps.run, number)
                sleep(latency)
                if journals:
                    journal.add(number)
                return {"step": number}

            steps.step("model" if number % 2 else "tools", io)
        return {"steps": len(journal.done()), "job": job["name"]}

    return body


@contextmanager
def running(place: Place, body: Body) -> Iterator[Engine]:
    """Run an engine for a while."""
    engine = Engine(place, body)
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()


def waiting_for(event: Event) -> Callable[[str, int], None]:
    """Return what holds each step up until *event*."""
    return lambda _run, _step: [event.wait(60)].clear()


def wait_until(claim: Callable[[], object], seconds: float = 60) -> None:
    """Return when *claim* holds; fail when it does not in time."""
    deadline = monotonic() + seconds
    while not claim():
        assert monotonic() < deadline, "it did not come true in time"
        sleep(0.02)


def wait_over(engine: Engine, *runs: str, seconds: float = 60) -> None:
    """Return when those runs are over."""
    wait_until(lambda: all((known := engine.run(run)) and known.is_over for run in runs), seconds)

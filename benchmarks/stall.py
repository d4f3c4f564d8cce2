"""The stall detector among many workflows: `python benchmarks/stall.py [--workflows N]`.

Generates a logbook of N workflows (100,000 unless told), each with a few entries of progress, one
of which is stalled, and times a poll: the first, which tells it, and one more, which says nothing.
Then half of the workflows end, the stalled one too. Figures go to results/stall.json.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.logbook import Logbook
from copilot.daemon_settings import StallDetector
from copilot.intake.polls import Asked
from copilot.intake.stall import StallPoll
from copilot.values import Alert

T = TypeVar("T")
RESULTS = Path(__file__).resolve().parent / "results" / "stall.json"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
STEPS = 4
HOUR = 3600
GOAL_S = 10.0


def main() -> None:
    """Print the table; write the figures beside it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--workflows", type=int, default=100_000)
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), options.workflows)
    for name, value in figures.items():
        print(f"{name:45} {value:>12}")
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps(figures, indent=1) + "\n")


def measure(folder: Path, workflows: int) -> dict[str, Any]:
    """All figures of one generated logbook."""
    book = EmbeddedLogbook(folder / "logbook.db")
    entries = imported(book, folder / "running.jsonl", running(workflows))
    before = peak()
    by_words = detector(progress="step", terminal="completed")
    by_field = detector(progress_fields={"kind": "progress"}, terminal_fields={"kind": "end"})
    first, told, _ = polled(book, by_words, {})
    assert [alert.labels["workflow"] for alert in told] == ["wf-000042"], told
    by_field_s, told, asked = polled(book, by_field, {})
    assert len(told) == 1, told
    again, told, asked = polled(book, by_words, asked.cursor)
    assert told == [], told
    entries += imported(book, folder / "ended.jsonl", ended(workflows))
    late, told, _ = polled(book, by_words, asked.cursor)
    assert [alert.status for alert in told] == ["resolved"], told
    return {
        "workflows": workflows,
        "entries": entries,
        "seconds, progress by words, stall told": first,
        "seconds, progress by a field, stall told": by_field_s,
        "seconds, nothing new": again,
        "seconds, half of them ended": late,
        "seconds to reach": GOAL_S,
        "peak memory MB, of that by the polls": f"{peak():.0f}, {peak() - before:.0f}",
    }


def detector(**words: Any) -> StallDetector:
    """A detector of workflows that are silent for an hour."""
    return StallDetector(
        name="bench", logbook="local", field="workflow", threshold=timedelta(hours=1), **words
    )


def polled(
    book: Logbook, settings: StallDetector, cursor: dict[str, Any]
) -> tuple[float, Sequence[Alert], Asked]:
    """Seconds of one poll, its alerts and what it left."""
    told: list[Alert] = []
    seconds, asked = timed(lambda: StallPoll(book, settings)(NOW, cursor, told.extend))
    return seconds, told, asked


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Seconds that the call took, and what it returned."""
    started = time.perf_counter()
    answer = call()
    return round(time.perf_counter() - started, 2), answer


def peak() -> float:
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def imported(book: EmbeddedLogbook, path: Path, lines: Iterator[str]) -> int:
    """How many entries the lines are, imported as a file."""
    with path.open("w") as file:
        file.writelines(lines)
    return book.import_file(path, path.name).entries


def running(workflows: int) -> Iterator[str]:
    """Each workflow makes progress until now but one, which stopped two hours ago."""
    for step in range(STEPS):
        for number in range(workflows):
            if number == 42 and step > 1:
                continue
            ago = (STEPS - 1 - step) * HOUR + 60 + number * 7919 % 3500
            yield line(number, NOW - timedelta(seconds=ago), f"step {step} done", "progress")


def ended(workflows: int) -> Iterator[str]:
    """Half of the workflows complete, the stalled one too."""
    for number in range(0, workflows, 2):
        yield line(number, NOW - timedelta(seconds=30), "completed", "end")


def line(number: int, moment: datetime, text: str, kind: str) -> str:
    """One entry of a workflow."""
    entry = {"ts": moment.isoformat(), "level": "INFO", "workflow": f"wf-{number:06}", "kind": kind}
    return json.dumps({**entry, "msg": text}) + "\n"


if __name__ == "__main__":
    main()

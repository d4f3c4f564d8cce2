"""The stall detector among many workflows: `python benchmarks/stall.py [--opensearch]`.

Generates a logbook of N workflows (100,000 unless told), each with a few entries of progress, one
of which is stalled, and times a poll: the first, which tells it, and one more, which says nothing.
Then half of the workflows end, the stalled one too. With --opensearch a node holds the logbook:
then the requests of a poll are counted, and its time is held against a bare loop over the same
composite aggregation. Figures go to results/stall.json, or results/stall_opensearch.json.
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

from opensearchpy import OpenSearch

from benchmarks.opensearch import Listening
from connectors.embedded_logbook import EmbeddedLogbook
from connectors.logbook import Logbook
from connectors.opensearch import OpenSearchLogbook, Outside, Site
from copilot.intake.polls import Asked
from copilot.intake.stall import StallPoll
from copilot.settings.daemon import StallDetector
from copilot.values import Alert, JsonObject, object_at
from tests.nodes.opensearch import node

T = TypeVar("T")
Book = EmbeddedLogbook | OpenSearchLogbook
RESULTS = Path(__file__).resolve().parent / "results"
INDEX = "workflows"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
STEPS = 4
HOUR = 3600
GOAL_S = 10.0


def main() -> None:
    """Print the table; write the figures beside it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--workflows", type=int, default=100_000)
    parser.add_argument("--opensearch", action="store_true", help="over a node, not embedded")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.opensearch:
            figures = measure_on_a_node(Path(folder), options.workflows)
        else:
            book = EmbeddedLogbook(Path(folder) / "logbook.db")
            figures = measure(book, Path(folder), options.workflows)
    path = options.json or RESULTS / f"stall{'_opensearch' if options.opensearch else ''}.json"
    for name, value in figures.items():
        print(f"{name:45} {value:>12}")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(figures, indent=1) + "\n")


def measure_on_a_node(folder: Path, workflows: int) -> dict[str, Any]:
    """All figures of a logbook on a node, and what a poll is beside a bare loop."""
    with node.running(folder / "node") as url:
        site = Site(url, (INDEX,))
        listening = Listening(site)
        book = OpenSearchLogbook(site, name="local", outside=Outside(sender=listening))
        figures = measure(book, folder, workflows)
        listening.asked.clear()
        poll, _, _ = polled(book, detector(progress="step", terminal="completed"), {})
        pages = [
            ask.body[1]
            for ask in listening.asked
            if isinstance(ask.body, list) and "values" in object_at(ask.body[1], "aggs")
        ]
        bare, _ = timed(lambda: bare_loop(OpenSearch(url, timeout=120), pages))
    return figures | {
        "requests of a poll with nothing new": len(listening.asked),
        "pages of the aggregation among them": len(pages),
        "seconds of that poll, of a bare loop": f"{poll}, {bare}",
        "times as long": round(poll / bare, 2),
    }


def bare_loop(bare: OpenSearch, pages: Sequence[JsonObject]) -> int:
    """How many workflows the same pages hold, asked for with opensearch-py alone."""
    answers = [bare.search(index=INDEX, body=dict(page)) for page in pages]
    return sum(len(answer["aggregations"]["values"]["buckets"]) for answer in answers)


def measure(book: Book, folder: Path, workflows: int) -> dict[str, Any]:
    """All figures of one generated logbook."""
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


def imported(book: Book, path: Path, lines: Iterator[str]) -> int:
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

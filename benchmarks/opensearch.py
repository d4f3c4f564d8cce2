"""What the OpenSearch connector costs: `python benchmarks/opensearch.py [--entries N]`.

Starts a node, imports N made-up entries (500,000 unless told) and asks what an investigation asks.
Each tool is timed through the connector; then the very requests that it sent are sent again with
bare opensearch-py, which asks for compressed answers as the connector does, reads the JSON and does
no more. The two take turns, and the median of their ratios is held against the goal. OpenSearch has
no request for templates: `logbook_overview` and `logbook_patterns` mine them from a sample, which
the bare side only fetches; what mining costs is in their ratio. Last, a search of
10,000 hits goes to scratch in a process of its own, and its memory above idle is measured. Figures
go to results/opensearch.json. A missed goal ends it with status 1.

It cannot be called connectors.py: run as a script, that would hide the package of that name.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from benchmarks.logbook import DAY, START, generate
from connectors.logbook import Filters, Latest, Search
from connectors.opensearch import OpenSearchLogbook, Outside, Site
from connectors.opensearch.door import Door
from connectors.opensearch.replies import Ask, Reply
from copilot.scratch.store import Limits, Scratch
from copilot.tools.logbook_rows import entry_row
from copilot.window import Window
from tests.nodes.opensearch.node import RELEASES, running

RESULTS = Path(__file__).resolve().parent / "results" / "opensearch.json"
INDEX = "benchmark"
ROUNDS = 7
GOAL = 1.3
GOAL_MIB = 150
WINDOW = Window(START + DAY / 4, START + DAY / 2)
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Compared:
    """The median seconds of one tool, and of its requests with bare opensearch-py."""

    tool: str
    requests: int
    ours_s: float
    bare_s: float
    ratio: float
    """How many times as long ours takes: the median of all rounds."""

    @property
    def holds(self) -> bool:
        """True when the goal is reached."""
        return self.ratio <= GOAL


class Listening:
    """The door, and the questions that went through it; what an import sends would fill it."""

    def __init__(self, site: Site) -> None:
        self._door = Door(site, lambda: datetime.now(UTC))
        self.asked: list[Ask] = []

    def send(self, ask: Ask) -> Reply:
        """Pass the request on."""
        if not ask.path.endswith("_bulk"):
            self.asked.append(ask)
        return self._door.send(ask)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--entries", type=int, default=500_000)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--release", choices=sorted(RELEASES), default="2", help="of OpenSearch")
    parser.add_argument("--search-in", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.search_in:
        print(json.dumps(offloaded(asked.search_in)))
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "node", asked.release) as url,
    ):
        figures = measured(url, Path(folder), asked.entries)
    asked.json.parent.mkdir(exist_ok=True)
    asked.json.write_text(json.dumps(figures, indent=1) + "\n")
    sys.exit(0 if figures["goals_held"] else 1)


def measured(url: str, folder: Path, entries: int) -> dict[str, Any]:
    """Every figure, printed on the way."""
    site = Site(url, (INDEX,))
    files = generate(folder, entries)
    book = OpenSearchLogbook(site, name="app")
    started = time.perf_counter()
    for path in files:
        book.import_file(path, path.name)
    seconds = time.perf_counter() - started
    print(f"imported {entries} entries in {seconds:.1f} s, {entries / seconds:.0f} a second")
    compared = []
    for tool, ask in TOOLS.items():
        one = compare(url, site, tool, ask)
        compared.append(one)
        print(
            f"{one.tool:18} {one.requests:2} requests  ours {one.ours_s * 1000:8.1f} ms  bare "
            f"{one.bare_s * 1000:8.1f} ms  x {one.ratio:.2f}  {verdict(one.holds)} ({GOAL})",
            flush=True,
        )
    done = subprocess.run(
        [sys.executable, __file__, "--search-in", url], check=True, capture_output=True, text=True
    )
    memory = json.loads(done.stdout)
    held = memory["above_idle_mib"] < GOAL_MIB
    print(
        f"10,000 hits offloaded: {memory['above_idle_mib']:.0f} MiB above idle  {verdict(held)} "
        f"({GOAL_MIB})"
    )
    return {
        "entries": entries,
        "measured": datetime.now(UTC).date().isoformat(),
        "imported_s": round(seconds, 1),
        "tools": [{**asdict(one), "ratio": round(one.ratio, 3)} for one in compared],
        "offload": memory,
        "goals_held": held and all(one.holds for one in compared),
    }


def verdict(holds: bool) -> str:
    """One word on a goal."""
    return "held" if holds else "MISSED"


Question = Callable[[OpenSearchLogbook], object]
FAILED = Filters(text="refused")
TOOLS: dict[str, Question] = {
    "search_logbook": lambda book: book.search(Search(FAILED, WINDOW)),
    "… 10,000 hits": lambda book: book.search(Search(Filters(), WINDOW, limit=10_000)),
    "logbook_overview": lambda book: book.overview(WINDOW, Filters(), timedelta(minutes=15)),
    "logbook_patterns": lambda book: book.patterns(
        Window(WINDOW.start, START + DAY / 4 + timedelta(minutes=30)), None, Filters()
    ),
    "logbook_fields": lambda book: book.fields(),
    "logbook_context": lambda book: book.context("java.log", 50_000, 5, 10),
    "logbook_trace": lambda book: book.trace("T2_US_Lakes", WINDOW, 200),
    "latest": lambda book: book.latest(Latest("component", window=WINDOW)),
}


def compare(url: str, site: Site, tool: str, question: Question) -> Compared:
    """The medians of a question through the connector and of its requests without it.

    The two take turns, so that what else the machine does falls on both.
    """
    listening = Listening(site)
    book = OpenSearchLogbook(site, name="app", outside=Outside(sender=listening))
    bare = OpenSearch(url, timeout=60, http_compress=True)
    question(book)  # the list of fields is asked for once
    ours, theirs = [], []
    for _ in range(ROUNDS):
        listening.asked.clear()
        ours.append(timed(lambda: question(book)))
        theirs.append(timed(lambda: repeated(bare, listening.asked)))
    ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    return Compared(
        tool, len(listening.asked), statistics.median(ours), statistics.median(theirs), ratio
    )


def repeated(bare: OpenSearch, asks: Sequence[Ask]) -> None:
    """Send the same requests with opensearch-py alone; a frozen view gets its new id."""
    point = ""
    for ask in asks:
        body: Any = ask.body
        if isinstance(body, list):
            body = "".join(json.dumps(line) + "\n" for line in body)
        elif isinstance(body, dict) and "pit" in body:
            body = {**body, "pit": {**body["pit"], "id": point}}
        elif isinstance(body, dict) and "pit_id" in body:
            body = {"pit_id": [point]}
        answer = bare.transport.perform_request(
            ask.method, f"/{ask.path}", params=dict(ask.params), body=body
        )
        if isinstance(answer, dict):
            point = answer.get("pit_id", point)


def timed(call: Callable[[], object]) -> float:
    """How many seconds *call* takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def offloaded(url: str) -> dict[str, float]:
    """The memory that a search of 10,000 hits takes until its rows are in scratch, in MiB."""
    book = OpenSearchLogbook(Site(url, (INDEX,)), name="app")
    book.search(Search(FAILED, WINDOW))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(Path(folder), "inc", limits=Limits(256 * MIB, 512 * MIB))
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        idle = _held("VmRSS")
        found = book.search(Search(window=WINDOW, limit=10_000))
        scratch.put(map(entry_row, found.entries), tool="search_logbook", arguments={})
        peak = _held("VmHWM")
    return {"hits": len(found.entries), "above_idle_mib": round(peak - idle, 1)}


def _held(name: str) -> float:
    """What the kernel says of this process's memory, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    main()

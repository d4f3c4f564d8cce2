"""Figures of the embedded logbook: `python benchmarks/logbook.py [--lines N] [--shared DIR]`.

Generates N lines (one million unless told) of four kinds of log, imports them, asks what an
investigation asks, and prints a table beside the figures that were set as goals. Then imports every
file of the evaluation data and counts lost lines. The same figures go to results/logbook.json.
"""

import argparse
import gzip
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from connectors.embedded_logbook import EmbeddedLogbook, Imported
from connectors.logbook import Filters, Order, Search
from copilot.window import ALWAYS, Window

RESULTS = Path(__file__).resolve().parent / "results" / "logbook.json"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
START = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
COMPONENTS = ("org.example.queue.Broker", "org.example.site.Catalog", "org.example.job.Runner")
SITES = ("T1_DE_North", "T2_FR_South", "T2_US_Lakes", "T3_JP_Hills")
ERRORS = (
    "Connection refused by store-{n}.example.org:8443 after {ms} ms",
    "Data identifier not found: /data/run{n}/block-{hex}/file_{n}.root",
    "Job job_{stamp}_{n} exited with code {code} at {site}",
)
USUAL = (
    "Assigned task task_{stamp}_{n} of workflow wf-{wf:05d} to {site}",
    "Fetched {n} elements for splitting, continuous flag: False",
    "Progress of attempt_{stamp}_{n}_m_000{code} is 0.{ms}",
    "GET /api/v2/rules/{hex} HTTP/1.1 200 {ms} from 10.1.{code}.{code}",
    "Heartbeat from node-{code}.cluster.example.org:4{ms}, {n} slots free, request {hex}",
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure; `goal` is what it should reach."""

    name: str
    value: float
    unit: str
    goal: str = ""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """One file of the evaluation data, and the lines that its import lost."""

    source: str
    lines: int
    lost: int
    seconds: float


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), asked.lines)
    show(figures)
    files: list[ImportedFile] = []
    if asked.shared.is_dir():
        with tempfile.TemporaryDirectory() as folder:
            files = list(losses(Path(folder), asked.shared))
        print(f"\n{len(files)} files of the evaluation data:")
        for file in (*files, total(files)):
            print(f"{file.seconds:9.3f} s {file.lines:8d} lines {file.lost:3d} lost  {file.source}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(
        json.dumps(
            {"figures": list(map(asdict, figures)), "files": list(map(asdict, files))}, indent=1
        )
    )
    sys.exit(1 if any(file.lost for file in files) else 0)


def measure(folder: Path, lines: int) -> list[Figure]:
    """All figures of one generated logbook."""
    paths = generate(folder, lines)
    book = EmbeddedLogbook(folder / "logbook.db")
    started = time.perf_counter()
    done = [item for item in book.import_files(paths, folder) if isinstance(item, Imported)]
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    imported = sum(item.lines for item in done)
    figures = [
        Figure("lines generated", lines, "lines"),
        Figure("lines lost in the import", lines - imported, "lines", "0"),
        Figure("import", imported / seconds, "lines/s", ">= 15000"),
        Figure("peak memory of the import", peak, "MB", "< 300"),
        Figure("store on disk", book.path.stat().st_size / 1e6, "MB"),
    ]
    figures += searches(book)
    figures += [
        timed("overview of all", lambda: book.overview(ALWAYS, Filters(), None), "<= 400"),
        timed("overview of 6 hours", lambda: book.overview(WINDOW, Filters(), None), "<= 400"),
        timed(
            "overview of a common word",
            lambda: book.overview(WINDOW, Filters(text="refused"), None),
        ),
        timed("fields", book.fields),
        mined(book),
        timed(
            "patterns of 1 hour against the hour before",
            lambda: book.patterns(HOUR, None, Filters()),
        ),
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [*figures, Figure("peak memory of all", peak, "MB")]


WINDOW = Window(START + DAY / 4, START + DAY / 2)
HOUR = Window(START + DAY / 2, START + DAY / 2 + timedelta(hours=1))
QUERIES = (
    "wf-00042", "job_1700000000_77", "node-12.cluster.example.org", '"not found"', "refused",
    "refused store-17", "T2_FR_South error", "task_1700000000_123", "Broker -refused",
    "exited code 13", "Data identifier", "block",
)  # fmt: skip


def searches(book: EmbeddedLogbook) -> Iterator[Figure]:
    """Newest-first and ranked searches of six hours, twelve queries each."""
    goals: tuple[tuple[Order, str], ...] = (("newest", "p50 <= 5"), ("ranked", "p50 <= 60"))
    for order, goal in goals:
        asked = [Search(Filters(text=text), WINDOW, order) for text in QUERIES]
        spent = [elapsed(partial(book.search, search)) for search in asked]
        yield Figure(f"{order} search in a window, p50", statistics.median(spent), "ms", goal)
        yield Figure(f"{order} search in a window, max", max(spent), "ms")


def mined(book: EmbeddedLogbook) -> Figure:
    """Lines mined for templates in a second."""
    started = time.perf_counter()
    found = book.patterns(ALWAYS, None, Filters())
    seconds = time.perf_counter() - started
    lines = min(found.total.value, sum(pattern.count for pattern in found.rose), 200_000)
    return Figure("patterns", lines / seconds, "lines/s", ">= 20000")


def timed(name: str, call: Callable[[], object], goal: str = "") -> Figure:
    """The time of one call, the middle one of three."""
    return Figure(name, statistics.median(elapsed(call) for _ in range(3)), "ms", goal)


def elapsed(call: Callable[[], object]) -> float:
    """Milliseconds that the call took."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def generate(folder: Path, lines: int) -> list[Path]:
    """Four logs of one day, *lines* lines together, the same for every run."""
    dice = random.Random(7)
    kinds = (java_line, python_line, json_line, syslog_line)
    paths = []
    for place, kind in enumerate(kinds):
        count = lines // len(kinds) + (place < lines % len(kinds))
        path = folder / f"{kind.__name__.removesuffix('_line')}.log"
        with path.open("w") as out:
            for number in range(count):
                moment = START + DAY * (number / count) + timedelta(milliseconds=dice.randrange(50))
                bad = dice.random() < 0.03
                text = dice.choice(ERRORS if bad else USUAL).format(**values(dice))
                out.write(kind(moment, "ERROR" if bad else "INFO", text, dice) + "\n")
        paths.append(path)
    return paths


def values(dice: random.Random) -> dict[str, object]:
    """What a line may mention."""
    return {
        "n": dice.randrange(1000), "ms": dice.randrange(10, 1000), "code": dice.randrange(10, 99),
        "wf": dice.randrange(5000), "site": dice.choice(SITES),
        "stamp": 1_700_000_000 + dice.randrange(99), "hex": f"{dice.getrandbits(128):032x}",
    }  # fmt: skip


def java_line(moment: datetime, level: str, text: str, dice: random.Random) -> str:
    """A line as Java frameworks write it."""
    stamp = moment.strftime("%Y-%m-%d %H:%M:%S,") + f"{moment.microsecond // 1000:03d}"
    return f"{stamp} {level} [worker-{dice.randrange(9)}] {dice.choice(COMPONENTS)}: {text}"


def python_line(moment: datetime, level: str, text: str, dice: random.Random) -> str:
    """A line of Python's logging with colons."""
    stamp = moment.strftime("%Y-%m-%d %H:%M:%S,") + f"{moment.microsecond // 1000:03d}"
    return f"{stamp}:14043777726{dice.randrange(9)}:{level}:WorkQueue:{text}"


def json_line(moment: datetime, level: str, text: str, dice: random.Random) -> str:
    """One JSON object."""
    return json.dumps(
        {"ts": moment.isoformat(), "level": level, "pod": f"gate-{dice.randrange(5)}", "msg": text}
    )


def syslog_line(moment: datetime, level: str, text: str, dice: random.Random) -> str:
    """A line of syslog, without a year."""
    sender = f"node-{dice.randrange(40)} agentd[{dice.randrange(999)}]"
    return f"{moment:%b %d %H:%M:%S} {sender}: {level.lower()}: {text}"


def losses(folder: Path, shared: Path) -> Iterator[ImportedFile]:
    """Every file of the evaluation data but the answers, imported."""
    book = EmbeddedLogbook(folder / "logbook.db")
    for path in sorted(shared.rglob("*")):
        if path.is_file() and "truth" not in path.parts:
            source, lines = path.relative_to(shared).as_posix(), physical_lines(path)
            started = time.perf_counter()
            done = book.import_file(path, source)
            seconds = round(time.perf_counter() - started, 4)
            yield ImportedFile(source, lines, lines - done.lines, seconds)


def total(files: list[ImportedFile]) -> ImportedFile:
    """All files as one."""
    return ImportedFile(
        "in all",
        sum(file.lines for file in files),
        sum(file.lost for file in files),
        sum(file.seconds for file in files),
    )


def physical_lines(path: Path) -> int:
    """The lines of a file as `grep -c ''` counts them, unpacked."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    return text.count(b"\n") + (not text.endswith(b"\n") and text != b"")


def show(figures: list[Figure]) -> None:
    """Print the table."""
    for figure in figures:
        print(f"{figure.name:45} {figure.value:12,.1f} {figure.unit:8} {figure.goal}")


if __name__ == "__main__":
    main()

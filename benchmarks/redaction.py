"""Figures of the redactor: `python benchmarks/redaction.py [--samples N] [--shared DIR]`.

Plants forty kinds of secrets in five frames, whole and cut into pieces and records, and counts
what can still be read; then what is masked in public logs, where nothing is secret. Ends with 1
when a goal is missed. Every secret is made up while it runs.
"""

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from copilot.redact import Redactor  # noqa: E402 - it is found beside this folder
from tests.redaction_kinds import (  # noqa: E402
    FRAMES,
    KINDS,
    cases,
    in_pieces,
    in_records,
    is_read,
    needed,
)

SHARED = ROOT.parent / "shared" / "data"
SEED = 7
USUAL = "2026-03-01 10:00:{:02} INFO queue.Broker: assigned task task_{:06} to T2_US_Nebraska"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure beside its goal."""

    name: str
    shown: str
    goal: str
    is_reached: bool


def main() -> int:
    """Run the benchmark, print its table, and return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--samples", type=int, default=20, help="of each kind in each frame")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    redactor = Redactor(b"a key of this benchmark", emails=True)
    figures = [*recalls(redactor, asked.samples), kept(redactor, asked.samples)]
    logs = sorted((asked.shared / "loghub").glob("*.log"))
    lines = [line for log in logs for line in log.read_text(errors="replace").splitlines()]
    if lines:
        figures.append(false_hits(lines))
    else:
        print(f"skipped: no public logs in {asked.shared / 'loghub'}, so no false hits counted")
        lines = [USUAL.format(number % 60, number) for number in range(12_000)]
    figures.append(speed(lines))
    for figure in figures:
        mark = "ok" if figure.is_reached else "MISSED"
        print(f"{figure.name:42} {figure.shown:>26}   goal {figure.goal:10} {mark}")
    return 0 if all(figure.is_reached for figure in figures) else 1


def recalls(redactor: Redactor, samples: int) -> tuple[Figure, ...]:
    """How many planted secrets cannot be read: framed, cut in two; and whether twice is once."""
    total = 0
    framed: Counter[str] = Counter()
    cut: Counter[str] = Counter()
    unsteady = 0
    for kind, frame, planted, text in cases(Random(SEED), samples):
        total += 1
        once = redactor.redact(text)
        framed[f"{kind.name}/{frame}"] += is_read(planted.secret, once)
        unsteady += redactor.redact(once) != once
        parts = in_pieces(text, redactor.redact) + in_records(text, redactor.redact)
        cut[f"{kind.name}/{frame}"] += is_read(planted.secret, parts)
    for title, misses in (("read in", +framed), ("read when cut in", +cut)):
        for place, count in misses.most_common(20):
            print(f"{title} {place}: {count} of {samples}")
    about = f"{len(KINDS)} kinds x {len(FRAMES)} frames"
    return (
        _recall(f"recall, {about}", total, framed.total()),
        _recall("recall, cut into pieces and records", total, cut.total()),
        Figure("changed by a second redaction", f"{unsteady} of {total}", "0", not unsteady),
    )


def kept(redactor: Redactor, samples: int) -> Figure:
    """How many hashes, UUIDs, job ids and timestamps were masked."""
    random = Random(SEED)
    texts = [text for _ in range(samples) for text in needed(random)]
    masked = [text for text in texts if redactor.redact(text) != text]
    for text in masked[:5]:
        print(f"masked: {text!r}")
    return Figure("identifiers masked", f"{len(masked)} of {len(texts)}", "0", not masked)


def false_hits(lines: list[str]) -> Figure:
    """How many lines of logs without secrets were changed; with mail addresses left alone."""
    redactor = Redactor(b"a key of this benchmark")
    changed = sum(redactor.redact(line) != line for line in lines)
    share = 100 * changed / len(lines)
    shown = f"{changed} of {len(lines):,} ({share:.3f} %)"
    return Figure("false hits, public logs", shown, "<= 0.1 %", share <= 0.1)


def speed(lines: list[str]) -> Figure:
    """Lines for a second of processor time, one call a line: what others do here is not in it."""
    redactor = Redactor(b"a key of this benchmark")
    start = time.process_time()
    for line in lines:
        redactor.redact(line)
    rate = len(lines) / (time.process_time() - start)
    return Figure("speed", f"{rate:,.0f} lines a CPU second", ">= 20,000", rate >= 20_000)


def _recall(name: str, total: int, missed: int) -> Figure:
    share = 100 * (total - missed) / total
    return Figure(name, f"{total - missed} of {total} ({share:.2f} %)", ">= 98 %", share >= 98)


if __name__ == "__main__":
    raise SystemExit(main())

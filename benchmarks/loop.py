"""What the loop itself costs a turn, without the model's and the tools' own time.

    python benchmarks/loop.py [--turns 410] [--json FILE]

A scripted model calls one search a turn, each a new one with forty hits. Shown are medians around
turn 40 and turn 400 and their ratio; the figures to reach are 10 ms at turn 40, ratio 2.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from copilot.investigation import investigate
from copilot.journal import Event
from copilot.models.model import Request, Response
from copilot.tools.base import Case
from copilot.tools.registry import Prepared, Ran, Registry
from tests.bench import AMPLE, Bench, made_workspace
from tests.doubles.scripted_model import ScriptedModel, message

T = TypeVar("T")
HITS = 40
AROUND = 8
"""Turns on each side of the one that is looked at."""


@dataclass
class Stopwatch:
    """Seconds spent outside the loop, and when each turn's request was recorded."""

    outside: float = 0.0
    marks: list[tuple[float, float]] = field(default_factory=list)

    def around(self, work: Callable[[], T]) -> T:
        """Run *work* and count its time as outside the loop."""
        begun = time.perf_counter()
        try:
            return work()
        finally:
            self.outside += time.perf_counter() - begun

    def mark(self, event: Event) -> None:
        """Note the time at each request."""
        if event.kind == "request":
            self.marks.append((time.perf_counter(), self.outside))

    def turns(self) -> list[float]:
        """Seconds of each turn from request to request, without what was outside."""
        return [
            (end - start) - (outside_end - outside_start)
            for (start, outside_start), (end, outside_end) in zip(
                self.marks, self.marks[1:], strict=False
            )
        ]


class TimedModel(ScriptedModel):
    """A scripted model whose time does not count; it remembers no requests."""

    def __init__(self, watch: Stopwatch, turns: int) -> None:
        super().__init__(())
        self._watch = watch
        self._turns = turns
        self._turn = 0

    def respond(self, request: Request) -> Response:  # noqa: ARG002 - a script reads nothing
        """Ask for one more search, then hand in a report."""
        return self._watch.around(self._answer)

    def _answer(self) -> Response:
        self._turn += 1
        name, arguments = "search_logbook", {"text": f"batch_{self._turn:04}", "limit": HITS}
        if self._turn >= self._turns:
            name, arguments = "submit_report", {"verdict": "inconclusive", "summary": "end"}
        block = {"type": "tool_use", "id": f"toolu_{self._turn}", "name": name, "input": arguments}
        return Response(message([block], "tool_use"))


class TimedRegistry(Registry):
    """A registry whose tools' time does not count."""

    def __init__(self, inner: Registry, watch: Stopwatch) -> None:
        self.__dict__ = inner.__dict__
        self._watch = watch

    def run(self, prepared: Prepared, case: Case) -> Ran:
        """Run one call and count its time as outside."""
        return self._watch.around(lambda: super(TimedRegistry, self).run(prepared, case))


def measured(turns: int) -> list[float]:
    """Seconds of loop overhead by turn in one investigation."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        workspace = made_workspace(Path(folder))
        log = "".join(
            f"2026-11-30 11:{batch // 60 % 60:02}:{batch % 60:02},{copy:03} INFO mover: copied "
            f"/store/{batch}_{copy}.root for wf_gamma_{copy:04} in batch_{batch:04}\n"
            for batch in range(turns + 1)
            for copy in range(HITS)
        )
        (Path(folder) / "many.log").write_text(log)
        workspace.logbooks["logs"].import_file(Path(folder) / "many.log", "many.log")
        bench = Bench(workspace, budgets=replace(AMPLE, turns=turns + 10))
        with bench.work(TimedModel(watch, turns)) as (work, notebook):
            bench.observe = watch.mark
            registry = TimedRegistry(work.registry, watch)
            investigate(replace(work, registry=registry, window=100_000_000), notebook)
    return watch.turns()


def main() -> None:
    """Print the table; write the figures beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=410)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/loop.json"))
    options = parser.parse_args()
    turns = measured(options.turns)

    def median_at(turn: int) -> float:
        return statistics.median(turns[max(0, turn - AROUND) : turn + AROUND]) * 1000

    figures: dict[str, Any] = {
        "turns": len(turns),
        "ms_at_40": round(median_at(40), 2),
        "ms_at_400": round(median_at(min(400, len(turns) - AROUND)), 2),
    }
    figures["ratio"] = round(figures["ms_at_400"] / figures["ms_at_40"], 2)
    print("loop overhead a turn, model and tools not counted")
    print(f"  median at turn 40    {figures['ms_at_40']:>8} ms   (figure: 10 ms or less)")
    print(f"  median at turn 400   {figures['ms_at_400']:>8} ms")
    print(f"  ratio                {figures['ratio']:>8}      (figure: 2 or less)")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

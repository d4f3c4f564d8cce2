"""What the investigator finds where the cause is known: `python benchmarks/scenarios.py DIR`.

DIR is the folder of the evaluation data. Each scenario of `truth/scenarios.json`, those about
compaction left out, gets a fresh workspace with the files it names; its alert is investigated by
the real loop, and the report is held against the truth, which the investigator never sees.

A line of `must_cite` counts when report.json cites that source and line (an entry of a JSON array:
that source and record). An alert that is no incident and was closed without a search is its own
evidence. A decoy or a wrong answer counts as named when two thirds of its telling words stand in
the cause as whole names; the cause is printed, so that a person can judge. Figures go to
results/scenarios.json.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.scenarios_judged import Result, judged
from benchmarks.scenarios_truth import Scenario, alert_of, load, scenarios
from copilot.app import Wishes, run
from copilot.report.render import as_json, as_markdown
from copilot.values import Json, text_at
from copilot.workspace import open_workspace
from tests.nodes.opensearch.node import running

RESULTS = Path(__file__).resolve().parent / "results" / "scenarios.json"
SEARCHES = frozenset({"search_logbook", "logbook_patterns", "logbook_overview", "logbook_trace"})


@dataclass(frozen=True, slots=True)
class Setup:
    """What every scenario is run with."""

    data: Path
    model: str
    reports: Path | None
    opensearch: str = ""
    """The address of the node that holds the logs; empty: the embedded logbook does."""

    def settings(self, scenario: Scenario) -> str:
        """The copilot.yaml of the scenario's workspace."""
        if not self.opensearch:
            return "{}"
        source = {
            "name": "logs",
            "kind": "opensearch",
            "url": self.opensearch,
            "indices": [f"scenario-{scenario.id.lower()}"],
        }
        return json.dumps({"logbooks": [source]})


def main() -> None:
    """Run the scenarios and print their table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder of the evaluation data")
    parser.add_argument("--only", default="", help="ids that begin so")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--model", default="offline")
    parser.add_argument("--reports", type=Path, help="folder to write each report.md to")
    parser.add_argument("--logbook", choices=["embedded", "opensearch"], default="embedded")
    asked = parser.parse_args()
    setup = Setup(asked.data, asked.model, asked.reports)
    if asked.logbook == "opensearch":
        with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as url:
            results = _run(replace(setup, opensearch=url), asked.only)
    else:
        results = _run(setup, asked.only)
    print(_totals(results))
    if not asked.only:
        asked.json.parent.mkdir(exist_ok=True)
        figures = {
            "model": asked.model,
            "logbook": asked.logbook,
            "measured": datetime.now(UTC).date().isoformat(),
            "totals": _totals(results),
            "scenarios": [asdict(result) for result in results],
        }
        asked.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


def _run(setup: Setup, only: str) -> list[Result]:
    results = []
    for scenario in scenarios(setup.data):
        if scenario.id.startswith(only):
            results.append(measure(scenario, setup))
            print(_row(results[-1]), flush=True)
    return results


def measure(scenario: Scenario, setup: Setup) -> Result:
    """Investigate one scenario in a workspace of its own."""
    data, reports = setup.data, setup.reports
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "copilot.yaml").write_text(setup.settings(scenario))
        options: dict[str, Json] = {"model.name": setup.model}
        workspace = open_workspace(None, options, environ={}, cwd=Path(folder))
        load(workspace, scenario, data)
        started = time.perf_counter()
        ending = run(workspace, alert_of(scenario, data), Wishes())
        seconds = time.perf_counter() - started
        report = as_json(ending.page, workspace.scratch(ending.incident))
        if reports:
            reports.mkdir(parents=True, exist_ok=True)
            text = as_markdown(ending.page, workspace.scratch(ending.incident))
            (reports / f"{scenario.id}.md").write_text(text)
        calls = [e for e in workspace.events(ending.incident) if e.kind == "result"]
        searches = sum(text_at(event.data, "tool") in SEARCHES for event in calls)
        return judged(scenario, ending, report, seconds, searches)


def _row(result: Result) -> str:
    traps = f"  NAMED: {'; '.join(result.traps_named)}" if result.traps_named else ""
    missed = f"  missed: {'; '.join(result.missed)}" if result.missed else ""
    left = f"\n    left out: {' | '.join(result.left_out)}" if result.left_out else ""
    return (
        f"{result.id:32} {result.cited}/{result.wanted} {'first' if result.first_cited else '-':5} "
        f"{result.verdict:16} {result.status:9} {result.turns:2} turns {result.tokens:6} tokens "
        f"{result.seconds:5.1f} s{missed}{traps}\n    {result.cause[:400]}{left}"
    )


def _totals(results: Sequence[Result]) -> str:
    wanted = sum(result.wanted for result in results)
    cited = sum(result.cited for result in results)
    firsts = sum(result.first_cited for result in results)
    traps = sum(bool(result.traps_named) for result in results)
    share = 100 * cited / max(wanted, 1)
    return (
        f"{cited} of {wanted} lines cited ({share:.0f} %); the first one in {firsts} of "
        f"{len(results)}; a decoy or wrong answer as the cause in {traps}; "
        f"{sum(result.tokens for result in results)} tokens, "
        f"{sum(result.seconds for result in results):.0f} s"
    )


if __name__ == "__main__":
    main()

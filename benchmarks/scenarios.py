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
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from connectors.embedded_tracker import EmbeddedTracker
from copilot.app import Wishes, run
from copilot.errors import CopilotError
from copilot.intake.payloads import from_words, parse_alert
from copilot.notebook import Ending
from copilot.report.render import as_json, as_markdown
from copilot.values import Alert, Json, JsonObject, list_at, object_at, text_at
from copilot.workspace import Workspace, open_workspace
from tests.nodes.opensearch.node import running

RESULTS = Path(__file__).resolve().parent / "results" / "scenarios.json"
PAYLOAD = "payload file: "
DULL = frozenset(
    ("with", "from", "that", "this", "into", "itself", "data", "alert", "error", "errors", "cause")
)
SEARCHES = frozenset({"search_logbook", "logbook_patterns", "logbook_overview", "logbook_trace"})


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario of the truth file, as far as it is measured."""

    id: str
    alert: str
    load: tuple[str, ...]
    must_cite: tuple[tuple[str, int | None, str], ...]
    by_record: bool
    traps: tuple[str, ...]
    """Decoys and wrong answers."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one investigation came to."""

    id: str
    cited: int
    wanted: int
    first_cited: bool
    missed: tuple[str, ...]
    traps_named: tuple[str, ...]
    verdict: str
    status: str
    cause: str
    turns: int
    tokens: int
    seconds: float
    searches: int
    left_out: tuple[str, ...]
    places: tuple[str, ...] = field(default=())


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


def scenarios(data: Path) -> Iterator[Scenario]:
    """The scenarios of the truth file that are investigations."""
    loaded: Any = json.loads((data / "truth" / "scenarios.json").read_text("utf-8"))
    for item in loaded["scenarios"] if isinstance(loaded, dict) else loaded:
        if item["difficulty"] == "compaction":
            continue
        yield Scenario(
            id=item["id"],
            alert=item["alert"],
            load=tuple(item["load"]),
            must_cite=tuple((name, _number(line), text) for name, line, text in item["must_cite"]),
            by_record=any("index" in str(line) for _, line, _ in item["must_cite"]),
            traps=(*item["decoys"], *item["wrong_answers"]),
        )


def _number(line: object) -> int | None:
    """The line or the record's index; None where any line of the file will do."""
    found = re.search(r"\d+", str(line))
    return int(found[0]) if found else None


def measure(scenario: Scenario, setup: Setup) -> Result:
    """Investigate one scenario in a workspace of its own."""
    data, reports = setup.data, setup.reports
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "copilot.yaml").write_text(setup.settings(scenario))
        options: dict[str, Json] = {"model.name": setup.model}
        workspace = open_workspace(None, options, environ={}, cwd=Path(folder))
        _load(workspace, scenario, data)
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
        return _judged(scenario, ending, report, seconds, searches)


def alert_of(scenario: Scenario, data: Path) -> Alert:
    """The alert: a ticket, a payload (or the request beside it where it is empty), or words."""
    if scenario.load[0].startswith("threads/"):
        return parse_alert((data / scenario.load[0] / "ticket.json").read_bytes())
    if not scenario.alert.startswith(PAYLOAD):
        return from_words(scenario.alert, "", None)
    path = data / scenario.alert.removeprefix(PAYLOAD)
    try:
        return parse_alert(path.read_bytes())
    except CopilotError:
        beside = path.name.replace("__issue_data", "__investigate_request")
        return parse_alert(path.with_name(beside).read_bytes())


def _load(workspace: Workspace, scenario: Scenario, data: Path) -> None:
    """Import what the scenario names: tickets into the tracker, everything else as logs."""
    logbook = next(iter(workspace.logbooks.values()))
    tracker = next(iter(workspace.trackers.values()))
    assert isinstance(tracker, EmbeddedTracker)
    logs = []
    for name in scenario.load:
        path = data / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.name == "ticket.json":
                tracker.import_file(file, str(file.relative_to(data)))
            elif file.is_file():
                logs.append(file)
    for _ in logbook.import_files(logs, data):
        pass


def _judged(
    scenario: Scenario, ending: Ending, report: JsonObject, seconds: float, searches: int
) -> Result:
    cause = object_at(report, "cause")
    cited = list(_cited(report))
    dismissed = ending.report.verdict == "no_action" and not searches
    hits = [_is_cited(wanted, cited, scenario) or dismissed for wanted in scenario.must_cite]
    told = f"{text_at(cause, 'claim')} {ending.report.summary}" if cause else ""
    return Result(
        id=scenario.id,
        cited=sum(hits),
        wanted=len(hits),
        first_cited=hits[0],
        missed=tuple(
            f"{name.rsplit('/', 1)[-1]}:{line} {text}"
            for (name, line, text), hit in zip(scenario.must_cite, hits, strict=True)
            if not hit
        ),
        traps_named=tuple(trap for trap in scenario.traps if _named(trap, told)),
        verdict=ending.report.verdict,
        status=text_at(cause, "status"),
        cause=text_at(cause, "claim") or ending.report.summary,
        turns=ending.page.cost.turns,
        tokens=ending.page.cost.tokens,
        seconds=round(seconds, 2),
        searches=searches,
        left_out=tuple(str(item) for item in list_at(report, "left_out")),
        places=tuple(f"{source}:{line}" for source, line, _ in cited),
    )


def _cited(report: JsonObject) -> Iterator[tuple[str, int, int | None]]:
    """Source, line and record of every line that the claims cite."""
    claims = [object_at(report, "cause"), *list_at(report, "chain"), *list_at(report, "evidence")]
    claims += list_at(report, "ruled_out")
    for claim in claims:
        for item in list_at(claim, "evidence"):
            if isinstance(item, dict):
                line, record = item.get("line"), item.get("record")
                yield (
                    text_at(item, "source"),
                    line if isinstance(line, int) else 0,
                    record if isinstance(record, int) else None,
                )


def _is_cited(
    wanted: tuple[str, int | None, str],
    cited: Sequence[tuple[str, int, int | None]],
    scenario: Scenario,
) -> bool:
    name, number, _ = wanted
    if scenario.by_record:
        return any(source == name and record == number for source, _, record in cited)
    return any(source == name and number in (None, line) for source, line, _ in cited)


def _named(trap: str, told: str) -> bool:
    """True when two thirds of the trap's telling words stand in what was told as the cause."""
    words = {word for word in re.findall(r"[a-z0-9]{4,}", trap.lower()) if word not in DULL}
    said = {word.strip(".:-'") for word in re.findall(r"[\w.:'-]+", told.lower())}
    return bool(words) and 3 * len(words & said) >= 2 * len(words)


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

"""Claims about our runbooks over real incidents: whom they fit, and that their calls find the cause.

The alerts and their causes are those of the evaluation data, which no runbook quotes a verdict of.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from connectors.embedded_tracker import EmbeddedTracker
from copilot import alerts, assembly, surface
from copilot.errors import CopilotError
from copilot.intake.payloads import from_words, parse_alert
from copilot.ledger import Ledger
from copilot.models.model import ToolCall
from copilot.runbooks import announced
from copilot.tools.base import Case
from copilot.tools.registry import Ran, Registry
from copilot.values import Alert
from copilot.workspace import Workspace, open_workspace
from policies.runbook import read_shelf
from tests.test_runbooks import CALL

SHELF = Path("/nonexistent/runbooks")
FIT = {
    "S01_hadoop_network": ["stalled-workflow"],
    "S02_crab_stageout": ["site-or-transfer-problem"],
    "S03_workqueue_no_location": ["work-queue-without-locations", "stalled-workflow"],
    "S05_fwjr_rss": ["killed-for-memory-or-time"],
    "S07_nezha_basic": ["rising-errors"],
    "S08_nezha_contacts": ["rising-errors"],
    "S12_holmes_four_errors": ["rising-errors"],
    "t01_acdc_rucio_lookup": ["agent-not-submitting"],
    "t02_acdc_collection_timeout": ["recovery-collection-too-large"],
    "t03_schedd_limit": ["agent-not-submitting"],
    "t06_local_vs_global_location": ["work-queue-without-locations"],
    "t10_airflow_queued": ["stalled-workflow"],
    "t12_tape_rules_block_archival": ["waiting-on-purpose"],
}
"""Scenarios with a runbook; the others have none."""


def scenarios(data: Path) -> Iterator[tuple[dict[str, Any], Alert]]:
    """Each scenario with its alert, those about compaction left out."""
    for item in json.loads((data / "truth" / "scenarios.json").read_text()):
        if item["difficulty"] == "compaction":
            continue
        path = data / item["alert"].removeprefix("payload file: ")
        if item["load"][0].startswith("threads/"):
            yield item, parse_alert((data / item["load"][0] / "ticket.json").read_bytes())
        elif len(item["alert"]) > 200 or not path.is_file():
            yield item, from_words(item["alert"], "", None)
        elif path.stat().st_size > 10:
            yield item, parse_alert(path.read_bytes())


def test_each_alert_gets_the_runbook_about_its_cause_and_the_others_none(shared_data: Path) -> None:
    shelf = read_shelf(SHELF)

    got = {
        item["id"]: [path.removesuffix("/SKILL.md") for path, _ in announced(shelf, alert, str)]
        for item, alert in scenarios(shared_data)
    }

    assert {name: found for name, found in got.items() if found} == FIT
    assert len(got) > len(FIT)


def test_no_alert_of_other_systems_gets_one(shared_data: Path) -> None:
    shelf = read_shelf(SHELF)
    seen = 0
    for path in (shared_data / "alerts").rglob("*.json"):
        try:
            alert = parse_alert(path.read_bytes())
        except CopilotError:
            continue
        seen += 1
        assert announced(shelf, alert, str) == (), path.name
    assert seen > 10


@dataclass(frozen=True)
class Trial:
    """A runbook, followed to the letter over the data of an incident."""

    scenario: str
    runbook: str
    words: dict[str, str]
    """What stands for REQUEST and its like."""


@pytest.mark.parametrize(
    "trial",
    [
        Trial("S02_crab_stageout", "site-or-transfer-problem", {}),
        Trial(
            "S03_workqueue_no_location",
            "work-queue-without-locations",
            {"REQUEST": "ops02_ReDigiWorkF1_150929_090040_9049", "BLOCK": "dc84f012-a0b1-11e3"},
        ),
        Trial("S05_fwjr_rss", "killed-for-memory-or-time", {"TASK": "RECODreHLT"}),
        Trial("t01_acdc_rucio_lookup", "agent-not-submitting", {}),
        Trial("t02_acdc_collection_timeout", "recovery-collection-too-large", {"REQUEST": "4136"}),
        Trial("t03_schedd_limit", "agent-not-submitting", {}),
        Trial(
            "t06_local_vs_global_location",
            "work-queue-without-locations",
            {"REQUEST": "Inputs", "BLOCK": "07d501eb-b735-45bd-9077-91213af50655"},
        ),
        Trial(
            "t12_tape_rules_block_archival",
            "waiting-on-purpose",
            {"RULE": "8d11f0c3bec04b2ca11e81ec3fc63bef"},
        ),
    ],
    ids=lambda trial: trial.scenario,
)
def test_the_calls_of_a_runbook_show_every_line_that_proves_the_cause(
    shared_data: Path, tmp_path: Path, trial: Trial
) -> None:
    (truth,) = (item for item, _ in scenarios(shared_data) if item["id"] == trial.scenario)
    workspace = _filled(tmp_path, truth["load"], shared_data)

    shown = list(_followed(workspace, trial))

    for name, line, words in truth["must_cite"]:
        number = int(re.findall(r"\d+", str(line))[0])
        assert any(_says(row, name, number, words) for row in shown), (name, line, words)


def _says(row: dict[str, Any], source: str, line: int, words: str) -> bool:
    """Whether the row is that record, or holds that line."""
    if row.get("source") != source:
        return False
    if row.get("record") is not None:
        return bool(row["record"] == line)
    lines = str(row["message"]).split("\n")
    at = line - row["line"]
    return 0 <= at < len(lines) and words in lines[at]


def _filled(folder: Path, load: list[str], data: Path) -> Workspace:
    workspace = open_workspace(None, {"model.name": "offline"}, environ={}, cwd=folder)
    paths = [data / name for name in load]
    files = [file for path in paths for file in (path.iterdir() if path.is_dir() else [path])]
    for file in files:
        if file.name == "ticket.json":
            tracker = workspace.trackers["tickets"]
            assert isinstance(tracker, EmbeddedTracker)
            tracker.import_file(file, file.name)
    logs = [file for file in files if file.name != "ticket.json"]
    list(workspace.logbooks["logs"].import_files(logs, data))
    return workspace


def _followed(workspace: Workspace, trial: Trial) -> Iterator[dict[str, Any]]:
    """Every row that the calls of the runbook show; R0001 is the last search that found something."""
    (runbook,) = (one for one in workspace.runbooks.runbooks if one.name == trial.runbook)
    alert = alerts.redacted(from_words("x", "y", None), workspace.redactor)
    registry = surface.registry_for(workspace)
    case = assembly.case_for(workspace, "inc-1", alert, "", Ledger())
    handle = ""
    for tool, written in CALL.findall(runbook.text):
        said = written
        for word, meant in ({"R0001": handle} | trial.words).items():
            said = said.replace(word, meant)
        if "R0001" in written and not handle:
            continue  # there was nothing to ask of
        ran = _ran(registry, case, tool, json.loads(said))
        assert ran.outcome.ok, (tool, written, ran.outcome.hint)
        rows = ran.outcome.rows
        if tool == "search_logbook" and rows:
            handle = case.scratch.put(rows, tool=tool, arguments=ran.arguments).handle
        yield from rows


def _ran(registry: Registry, case: Case, tool: str, arguments: dict[str, Any]) -> Ran:
    prepared = registry.prepare(ToolCall("t1", tool, arguments))
    return prepared if isinstance(prepared, Ran) else registry.run(prepared, case)

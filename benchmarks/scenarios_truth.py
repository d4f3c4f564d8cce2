"""The scenarios of the evaluation data: their alerts, and the workspaces with what they name."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.embedded_tracker import EmbeddedTracker
from copilot.errors import CopilotError
from copilot.intake.payloads import from_words, parse_alert
from copilot.values import Alert
from copilot.workspace import Workspace

PAYLOAD = "payload file: "


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


def load(workspace: Workspace, scenario: Scenario, data: Path) -> None:
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

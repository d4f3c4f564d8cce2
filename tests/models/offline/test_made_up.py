"""The offline investigator on incidents of systems that it cannot know, through the whole loop."""

import json
from pathlib import Path

import pytest

from copilot.app import Wishes, run
from copilot.intake.payloads import parse_alert
from copilot.notebook import Ending
from copilot.report.render import as_json
from copilot.values import JsonObject, list_at, object_at, text_at
from copilot.workspace import Workspace, open_workspace

from .made_up import ALL, MadeUp

MAX_TURNS = 12


def investigated(incident: MadeUp, folder: Path) -> tuple[Workspace, Ending, JsonObject]:
    """The workspace, how it ended, and report.json."""
    data = folder / "data"
    for name, text in incident.files.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(text)
    (folder / "space").mkdir()
    workspace = open_workspace(None, {"model.name": "offline"}, environ={}, cwd=folder / "space")
    logbook = next(iter(workspace.logbooks.values()))
    for _ in logbook.import_files([data], data):
        pass
    ending = run(workspace, parse_alert(json.dumps(incident.alert).encode()), Wishes())
    return workspace, ending, as_json(ending.page, workspace.scratch(ending.incident))


def cited(report: JsonObject) -> str:
    """Every line that a claim cites."""
    claims = [object_at(report, "cause"), *list_at(report, "chain"), *list_at(report, "evidence")]
    return "\n".join(
        f"{text_at(piece, 'quote')}\n{text_at(piece, 'text')}"
        for claim in claims
        for piece in list_at(claim, "evidence")
    )


@pytest.mark.parametrize("incident", ALL, ids=lambda item: item.name)
def test_the_cause_is_named_and_its_lines_are_cited(incident: MadeUp, tmp_path: Path) -> None:
    _, ending, report = investigated(incident, tmp_path)
    cause = text_at(object_at(report, "cause"), "claim")
    assert incident.says in f"{cause} {ending.report.summary}"
    for text in incident.cites:
        assert text in cited(report)
    for text in incident.never:
        assert text not in cause
    assert ending.report.verdict in incident.verdicts
    assert text_at(object_at(report, "cause"), "status") in incident.statuses
    assert ending.page.cost.turns <= MAX_TURNS
    assert not ending.page.unsupported

"""What the offline investigator does with runbooks, past incidents and tickets."""

import json
from pathlib import Path

from copilot.app import Wishes, run
from copilot.intake.payloads import parse_alert
from copilot.workspace import open_workspace

from .made_up import memory


def test_a_runbook_and_the_incident_before_are_pointed_to(tmp_path: Path) -> None:
    incident = memory()
    data, space = tmp_path / "data", tmp_path / "space"
    data.mkdir()
    space.mkdir()
    for name, text in incident.files.items():
        (data / name).write_text(text)
    book = data / "books" / "executors"
    book.mkdir(parents=True)
    (book / "SKILL.md").write_text(
        "---\nname: executors\ndescription: jobs aborted in a stage\n---\n"
        "# Job aborted in a stage\n\nLook at the memory of the executors.\n"
    )
    workspace = open_workspace(None, {"model.name": "offline"}, environ={}, cwd=space)
    for _ in next(iter(workspace.logbooks.values())).import_files([data / "driver.log"], data):
        pass
    next(iter(workspace.libraries.values())).import_folder(data / "books")
    alert = parse_alert(json.dumps(incident.alert).encode())
    first = run(workspace, alert, Wishes())
    again = parse_alert(
        json.dumps({**incident.alert, "title": "Job 14 aborted in stage 7"}).encode()
    )
    second = run(workspace, again, Wishes())
    assert any("Document: executors/SKILL.md" in step for step in first.report.next_steps)
    assert any(first.incident in step for step in second.report.next_steps)

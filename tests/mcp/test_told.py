"""What servers said of their tools: kept for commands that start none, and over a resume."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from copilot import app
from copilot.cli.root import root
from copilot.doctor import examine
from copilot.errors import ModelError
from copilot.workspace import Workspace
from tests.bench import ALERT, NOW
from tests.doubles.scripted_model import ScriptedModel, Turn
from tests.mcp.test_offers import opened, settings_text
from tests.mcp.test_servers import ODD

STARTS = "starts"
HOSTS: Turn = [("odd_hosts", {"site": "se"})]
SUBMIT: Turn = [("submit_report", {"verdict": "inconclusive", "summary": "Nothing was found."})]
EXPLAIN = ("policy", "explain", "--size", "40KB", "odd_hosts")


def counting(allow: str) -> str:
    """The settings of a server that counts its starts in a file of its folder."""
    return settings_text(allow).replace(str(ODD), f"{ODD}, {STARTS}")


def starts(folder: Path) -> int:
    counts = folder / STARTS
    return counts.stat().st_size if counts.exists() else 0


class Described(ScriptedModel):
    """One that says that it has no lever of its own, so that nobody tries."""

    def describe(self) -> dict[str, Any]:
        return {}


def wishes(model: ScriptedModel) -> app.Wishes:
    return app.Wishes(model_for=lambda *_: nullcontext(model))


def asked_by_doctor(workspace: Workspace) -> None:
    assert list(examine(lambda: workspace, {}, NOW, offline=False))


def copilot(workspace: Workspace, *arguments: str) -> Result:
    return CliRunner().invoke(root, ["--config", str(workspace.settings.file), *arguments])


def test_policy_check_starts_no_server_and_names_what_it_cannot_count(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, counting("hosts, lines"))

    shown = copilot(workspace, "policy", "check", "default")

    assert shown.exit_code == 0
    assert "without odd_hosts, odd_lines: `copilot doctor` asks the MCP servers" in shown.output
    assert starts(folder) == 0


def test_policy_check_counts_what_doctor_was_told(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, counting("hosts, lines"))
    asked_by_doctor(workspace)

    shown = copilot(workspace, "policy", "check", "default")

    assert "(2 of MCP servers) take about" in shown.output
    assert "without" not in shown.output
    assert starts(folder) == 1


def test_policy_explain_and_a_dry_run_start_no_server(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, counting("hosts"))
    asked_by_doctor(workspace)
    (folder / "alert.json").write_text('{"title": "WorkflowStalled"}')

    explained = copilot(workspace, *EXPLAIN)
    dry = copilot(workspace, "investigate", str(folder / "alert.json"), "--show-request")

    assert "placement: pointer" in explained.output
    assert '"odd_hosts"' in dry.output
    assert starts(folder) == 1


def test_what_was_told_counts_for_nothing_once_the_settings_are_others(
    folder: Path, workspaces: list[Workspace]
) -> None:
    asked_by_doctor(opened(folder, workspaces, counting("hosts")))
    workspace = opened(folder, workspaces, counting("hosts, lines"))

    assert "without odd_hosts, odd_lines" in copilot(workspace, "policy", "check").output


def test_a_file_that_cannot_be_read_is_as_good_as_none(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, counting("hosts"))
    asked_by_doctor(workspace)
    (workspace.settings.state / "mcp_tools" / "odd.json").write_text("{")

    assert "without odd_hosts" in copilot(workspace, "policy", "check").output


def test_an_investigation_goes_on_with_the_tools_that_it_began_with(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, counting("hosts, moody"))
    first = Described([HOSTS, ModelError("away", kind="down")])
    with pytest.raises(ModelError):
        app.run(workspace, ALERT, wishes(first))
    for server in workspace.mcp_servers.values():
        server.close()

    again = opened(folder, workspaces, counting("hosts, lines, moody"))
    second = Described([HOSTS, [("odd_moody", {})], SUBMIT])
    app.run(again, ALERT, wishes(second))

    assert second.requests[0].tools == first.requests[0].tools
    events = again.events(again.incidents.open_for(ALERT, again.settings.identity_labels))
    (moody,) = [event for event in events if event.data.get("tool") == "odd_moody"]
    assert "not what it was when the investigation began" in str(moody.data["text"])
    assert starts(folder) == 2


def test_the_request_of_a_past_turn_is_shown_without_its_servers(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, counting("hosts"))
    model = Described([SUBMIT])
    app.run(workspace, ALERT, wishes(model))
    incident = workspace.incidents.open_for(ALERT, workspace.settings.identity_labels)
    text = counting("hosts").replace(sys.executable, "/nowhere/python")
    (folder / "copilot.yaml").write_text(text)

    shown = copilot(workspace, "incidents", "show", incident, "--turn", "1", "--request")

    assert json.loads(shown.output)["tools"] == [*model.requests[0].tools]

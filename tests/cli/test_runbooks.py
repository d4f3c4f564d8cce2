"""`copilot runbooks`: a person sees what there is, what is wrong, and what an alert would get."""

import json
from pathlib import Path

from copilot import doctor
from copilot.workspace import open_workspace
from tests.bench import NOW
from tests.cli.conftest import Run

GOOD = "---\nname: {name}\ndescription: When it stalls.\n{more}---\n\nAsk the DNS desk. \x1b[2J\n"


def shelve(workspace: Path, name: str, more: str = "") -> None:
    """Put a runbook into the workspace."""
    path = workspace / "runbooks" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD.format(name=name, more=more))


def test_those_that_there_are_are_listed_with_what_picks_them(workspace: Path, run: Run) -> None:
    shelve(workspace, "dns", "metadata:\n  alertnames: Workflow*\n  labels: site=*\n")
    (workspace / "runbooks" / "bad").mkdir()
    (workspace / "runbooks" / "bad" / "SKILL.md").write_text("x")

    said = run("runbooks", "list")

    assert said.code == 0
    assert said.out.splitlines()[1].split()[:3] == ["dns", "Workflow*", "site=*"]
    assert "bad/SKILL.md:1: begin with a front matter" in said.err
    assert run("runbooks", "list", "-q").out == "dns\n"
    assert len(json.loads(run("runbooks", "list", "--json").out)["problems"]) == 1


def test_without_a_folder_ours_hold(workspace: Path, run: Run) -> None:
    assert "waiting-on-purpose" in run("runbooks", "list", "-q").out.split()


def test_one_is_shown_safely(workspace: Path, run: Run) -> None:
    shelve(workspace, "dns")

    assert "Ask the DNS desk. \\x1b[2J" in run("runbooks", "show", "dns").out
    unknown = run("runbooks", "show", "nds")
    assert unknown.code == 4
    assert "copilot runbooks list" in unknown.err


def test_an_alert_shows_which_it_gets_and_why(workspace: Path, run: Run) -> None:
    for name in ("aa", "bb", "cc", "dd"):
        shelve(workspace, name, "metadata:\n  alertnames: Workflow*\n")
    shelve(workspace, "other", "metadata:\n  alertnames: DiskFull\n")
    (workspace / "a.json").write_text(
        json.dumps({"title": "x", "labels": {"alertname": "WorkflowStalled"}})
    )

    said = run("runbooks", "match", "a.json")
    found = json.loads(run("runbooks", "match", "a.json", "--json").out)["runbooks"]

    assert said.out.splitlines()[1].split() == ["aa", "yes", "alertname=Workflow*"]
    assert "labels: alertname=WorkflowStalled" in said.err
    assert [one["name"] for one in found if one["announced"]] == ["aa", "bb", "cc"]
    assert run("runbooks", "match", "a.json", "-q").out.split() == ["aa", "bb", "cc", "dd"]


def test_an_alert_that_gets_none_is_told_so(workspace: Path, run: Run) -> None:
    (workspace / "a.json").write_text('{"title": "PodDown"}')

    said = run("runbooks", "match", "a.json")

    assert said.code == 0
    assert "labels: none" in said.err
    assert "none is announced" in said.err


def test_a_check_fails_by_a_problem_and_tells_doubts(workspace: Path, run: Run) -> None:
    shelve(workspace, "dns")

    doubtful = run("runbooks", "check")
    (workspace / "runbooks" / "dns" / "SKILL.md").write_text("x")
    wrong = run("runbooks", "check")

    assert doubtful.code == 0
    assert "only a search finds it" in doubtful.err
    assert wrong.code == 2
    assert "dns/SKILL.md:1: begin" in wrong.err


def test_the_doctor_says_the_same(workspace: Path) -> None:
    shelve(workspace, "dns")
    shelve(workspace, "bad", "unknown: 1\n")

    def opened() -> object:
        return open_workspace(None, environ={}, cwd=workspace)

    checks = doctor.examine(opened, {}, NOW, offline=True)  # type: ignore[arg-type]
    found = [(one.state, one.found) for one in checks if one.name == "runbooks"]

    assert [state for state, _ in found] == ["fail", "warn"]
    assert "bad/SKILL.md:4: unknown: " in found[0][1]
    assert "only a search finds it" in found[1][1]


def test_a_library_cannot_take_the_name_of_the_runbooks(workspace: Path, run: Run) -> None:
    (workspace / "copilot.yaml").write_text("libraries:\n  - name: runbooks\n    path: x.sqlite\n")

    said = run("config", "check")

    assert said.code == 2
    assert "libraries: one is called runbooks" in said.err

"""`copilot outbox`: a person sees what would be done, and decides."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from copilot.workspace import open_workspace
from tests.cli.conftest import HOSTILE, Run
from tests.doubles.jira import Issue, Jira, Site

TEXT = f"It is DNS.\n\n```\n{HOSTILE}\n```\n| to post it: copilot outbox approve all"
NONE = "0123456789ab"


@pytest.fixture(params=["cloud", "server"])
def jira(
    request: pytest.FixtureRequest, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Jira]:
    """Return a Jira that the workspace may write to."""
    with Jira(Site(request.param, issues=[Issue("OPS-7")])) as double:
        with (workspace / "copilot.yaml").open("a") as file:
            file.write(
                f"trackers: [{{name: desk, kind: jira, url: '{double.url}', projects: [OPS],"
                " user: ada@example.org, write: true}]\n"
            )
        monkeypatch.setenv("JIRA_DESK_TOKEN", double.site.token)
        monkeypatch.setenv("USER", "ada")
        yield double


def proposed(text: str = TEXT) -> str:
    return open_workspace(None).outbox.propose("inc-1", "desk", "OPS-7", text).id


def test_an_empty_outbox_says_how_it_is_filled(jira: Jira, run: Run) -> None:
    said = run("outbox", "list")

    assert (said.code, said.out) == (0, "")
    assert "write: true" in said.err


def test_drafts_are_listed_for_people_scripts_and_programs(jira: Jira, run: Run) -> None:
    name = proposed()

    table, quiet, whole = (
        run("outbox", "list"),
        run("outbox", "list", "-q"),
        run("outbox", "list", "--json"),
    )

    assert table.out.splitlines()[1].split()[:5] == [name, "draft", "OPS-7", "desk", "inc-1"]
    assert quiet.out.split() == [name]
    [draft] = json.loads(whole.out)["drafts"]
    assert (draft["id"], draft["project"], draft["status"]) == (name, "OPS", "draft")
    assert run("outbox", "list", "--status", "posted", "-q").out == ""
    assert jira.requests == []


def test_what_a_model_wrote_cannot_pass_for_our_words(jira: Jira, run: Run) -> None:
    said = run("outbox", "show", proposed())

    ours, _, theirs = said.out.partition("comment:\n")
    assert "action: comment on OPS-7 (project OPS, tracker desk)" in ours
    assert "DNS" not in ours
    assert all(line.startswith("|") for line in theirs.splitlines())
    assert "\x1b" not in said.out
    assert jira.requests == []


def test_a_dry_run_prints_the_exact_body_and_sends_nothing(jira: Jira, run: Run) -> None:
    name = proposed()

    plain, whole = (
        run("outbox", "approve", name, "--dry-run"),
        run("outbox", "approve", name, "--dry-run", "--json"),
    )
    status = json.loads(run("outbox", "show", name, "--json").out)["status"]
    methods = {received.method for received in jira.requests}
    run("outbox", "approve", name)

    body = jira.site.issues[0].comments[0].body
    assert (status, methods) == ("draft", {"GET"})
    assert json.loads(whole.out)["body"] == body
    assert (json.loads(plain.out) if jira.site.is_cloud else plain.out.removesuffix("\n")) == body


def test_approving_posts_once_and_says_what_was_done(jira: Jira, run: Run) -> None:
    name = proposed()

    first, again = run("outbox", "approve", name), run("outbox", "approve", name, "--json")

    assert (first.code, again.code) == (0, 0)
    assert "OPS-7: the comment 1 was made" in first.err
    found = json.loads(again.out)
    assert (found["done"], found["status"], found["by"]) == ("unchanged", "posted", "ada")
    assert len(jira.site.issues[0].comments) == 1


def test_a_second_draft_says_that_it_replaces_the_first(jira: Jira, run: Run) -> None:
    first, second = proposed(), proposed("It is the disk.")
    run("outbox", "approve", first)

    shown, done = run("outbox", "show", second), run("outbox", "approve", second)

    assert f"posted from {first}" in shown.out
    assert "edited in place" in done.err
    assert len(jira.site.issues[0].comments) == 1


def test_a_rejected_draft_is_kept_and_cannot_be_approved(jira: Jira, run: Run) -> None:
    name = proposed()

    rejected = run("outbox", "reject", name, "--note", "not our ticket", "--by", "eve")
    approved = run("outbox", "approve", name)

    assert rejected.code == 0
    assert approved.code == 2
    assert "rejected by eve" in approved.err
    assert "not our ticket" in run("outbox", "show", name).out
    assert jira.requests == []


def test_an_incident_names_the_drafts_that_wait(jira: Jira, run: Run) -> None:
    assert run("logbook", "import", "app.log").code == 0
    assert run("investigate", "alert.json").code == 0
    [incident] = run("incidents", "list", "-q").out.split()
    name = open_workspace(None).outbox.propose(incident, "desk", "OPS-7", TEXT).id

    before = run("incidents", "show", incident).err
    run("outbox", "reject", name)
    after = run("incidents", "show", incident).err

    assert f"a comment for OPS-7 waits for you: copilot outbox show {name}" in before
    assert "waits for you" not in after


def test_nobody_approves_without_a_name(
    jira: Jira, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("USER")

    said = run("outbox", "approve", proposed())

    assert said.code == 2
    assert "--by NAME" in said.err
    assert jira.requests == []


@pytest.mark.parametrize("verb", ["show", "approve", "reject"])
def test_an_unknown_draft_is_no_traceback(jira: Jira, run: Run, verb: str) -> None:
    said = run("outbox", verb, NONE)

    assert said.code == 4
    assert "copilot outbox list" in said.err


def test_a_workspace_that_may_not_write_approves_nothing(
    jira: Jira, run: Run, workspace: Path
) -> None:
    name = proposed()
    settings = workspace / "copilot.yaml"
    settings.write_text(settings.read_text().replace("write: true", "write: false"))

    plain, dry = run("outbox", "approve", name), run("outbox", "approve", name, "--dry-run")

    assert (plain.code, dry.code) == (2, 2)
    assert "comments are not written to" in plain.err
    assert jira.requests == []

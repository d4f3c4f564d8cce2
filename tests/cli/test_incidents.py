"""`copilot incidents` and `copilot notes`: they read heads and git, and nothing else."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from copilot.notes.front import Front
from copilot.notes.repository import NotesRepository
from copilot.notes.state import State, render
from tests.cli.conftest import HOSTILE, Run

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
FIRST = "inc-20260131-000001"
HOLE_BYTES = 1 << 30
"""Behind each head. Nothing that reads whole files could list a thousand of them."""


@pytest.fixture
def thousand(workspace: Path) -> Path:
    """Return a workspace with a thousand incidents, each with a gigabyte behind its head."""
    for number in range(1, 1001):
        name = f"inc-20260131-{number:06}"
        front = Front(
            incident=name,
            title=f"wf_{number} has stalled",
            status="reported" if number % 2 else "closed",
            outcome="likely",
            verdict=f"cause {number}",
            updated=START + timedelta(minutes=number),
        )
        folder = workspace / "notes" / name
        folder.mkdir(parents=True)
        with (folder / "STATE.md").open("w") as file:
            file.write(render(State(front=front)))
            file.truncate(HOLE_BYTES)
    return workspace


@pytest.fixture
def noted(workspace: Path) -> NotesRepository:
    """Return notes with one incident in three commits."""
    notes = NotesRepository(workspace / "notes", now=lambda: START)
    notes.create()
    for now in ("looking at DNS", "se01 does not resolve", f"hostile {HOSTILE}"):

        def change(state: State, now: str = now) -> State:
            front = replace(state.front, title="wf_alpha has stalled", updated=START)
            return replace(state, front=front, now=now)

        notes.update(FIRST, change, subject=f"{FIRST}: {now[:20]}", trailers={"Turn": "3"})
    return notes


@pytest.mark.usefixtures("thousand")
def test_a_thousand_incidents_are_listed_from_their_heads_and_without_git(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    for words in (("incidents", "list"), ("notes", "list")):
        lines = run(*words).out.splitlines()
        assert len(lines) == 1001, words
        assert lines[1].startswith("inc-20260131-001000")


@pytest.mark.usefixtures("thousand")
def test_a_list_is_chosen_by_status_and_length(run: Run) -> None:
    assert len(run("incidents", "list", "--status", "closed", "-q").out.split()) == 500
    assert run("incidents", "list", "--limit", "2", "-q").out.split() == [
        "inc-20260131-001000",
        "inc-20260131-000999",
    ]


@pytest.mark.usefixtures("thousand")
def test_one_incident_of_a_thousand_is_found_by_its_name(run: Run) -> None:
    said = run("incidents", "close", "inc-20260131-0005")

    assert said.code == 4
    assert "no such incident" in said.err


def test_no_incident_yet_says_what_to_type(workspace: Path, run: Run) -> None:
    said = run("incidents", "list")

    assert said.code == 0
    assert said.out == ""
    assert "copilot investigate" in said.err


@pytest.mark.parametrize(
    "name", ["../../x", "-rf", "inc-*", "INC-1", "inc-20990101-ffffff", "", "a" * 5000, "in\nc"]
)
def test_a_name_that_no_incident_has_is_not_found(noted: object, name: str, run: Run) -> None:
    for words in (
        ("incidents", "show"), ("incidents", "close"), ("incidents", "reopen"), ("notes", "show"),
        ("notes", "history"), ("notes", "diff"), ("scratch", "ls"),
    ):  # fmt: skip
        said = run(*words, "--", name)
        assert said.code == 4, words
        assert said.err.startswith("copilot: no such incident"), words


def test_show_json_with_a_dashed_name_is_not_found(noted: object, run: Run) -> None:
    assert run("incidents", "show", "--json", "--", "-rf").code == 4


def test_an_incident_without_a_report_shows_what_is_known(noted: object, run: Run) -> None:
    said = run("incidents", "show", FIRST)

    assert "wf_alpha has stalled" in said.out
    assert "## Findings" in said.out
    assert f"copilot investigate {FIRST}" in said.err
    assert "\x1b" not in said.out


def test_closing_records_the_judgement_and_reopening_opens(noted: object, run: Run) -> None:
    closed = run(
        "incidents",
        "close",
        FIRST,
        "--verdict",
        "wrong",
        "--cause",
        "a cable",
        "--note",
        "was loose",
    )
    listed = run("incidents", "list", "--status", "closed", "-q").out.split()
    shown = json.loads(run("incidents", "show", FIRST, "--json").out)["incident"]
    reopened = run("incidents", "reopen", FIRST)

    assert closed.code == reopened.code == 0
    assert f"copilot incidents reopen {FIRST}" in closed.err
    assert listed == [FIRST]
    assert (shown["judgement"], shown["cause"], shown["note"]) == ("wrong", "a cable", "was loose")
    assert run("incidents", "list", "--status", "closed", "-q").out == ""


def test_a_secret_in_a_closing_note_is_masked(noted: object, workspace: Path, run: Run) -> None:
    run("incidents", "close", FIRST, "--note", "the password=hunter2secret was wrong")

    assert "hunter2secret" not in (workspace / "notes" / FIRST / "STATE.md").read_text()


def test_notes_show_state_and_other_files(noted: object, run: Run) -> None:
    assert run("notes", "show", FIRST).out.startswith("---\nincident: ")
    missing = run("notes", "show", FIRST, "report.md")
    assert missing.code == 4
    assert "report.md" in missing.err
    assert run("notes", "show", FIRST, "../../copilot.yaml").code == 4


def test_history_names_each_change_of_belief(noted: object, run: Run) -> None:
    said = run("notes", "history", FIRST)

    assert [line.split()[3] for line in said.out.splitlines()] == ["TURN", "3", "3", "3"]
    commits = json.loads(run("notes", "history", FIRST, "--json").out)["commits"]
    assert len(commits) == 3
    assert commits[-1]["trailers"]["Turn"] == "3"
    assert run("notes", "history", FIRST, "--since", "2026-02-01T00:00:00Z").out == ""


def test_diff_is_of_the_last_change_or_of_two_that_are_named(noted: object, run: Run) -> None:
    commits = json.loads(run("notes", "history", FIRST, "--json").out)["commits"]
    first, last = commits[-1]["commit"][:12], commits[0]["commit"][:12]

    assert "-se01 does not resolve" in run("notes", "diff", FIRST).out
    assert "-looking at DNS" in run("notes", "diff", FIRST, first).out
    assert "+looking at DNS" in run("notes", "diff", FIRST, last, first).out
    assert run("notes", "diff", FIRST, "HEAD~1").code == 4


def test_notes_are_searched_by_words(noted: object, run: Run) -> None:
    assert run("notes", "search", "wf_alpha", "-q").out.split() == [FIRST]
    assert run("notes", "search", "unheard", "-q").out == ""


def test_a_report_that_was_edited_to_nonsense_points_to_the_text(
    noted: object, workspace: Path, run: Run
) -> None:
    (workspace / "notes" / FIRST / "report.json").write_text("not json")

    said = run("incidents", "show", FIRST)

    assert said.code == 4
    assert f"copilot notes show {FIRST} report.md" in said.err


@pytest.mark.parametrize(
    "text",
    ["{}", '{"turns": "x", "usd": [], "cause": 3, "chain": {}, "evidence": [7, null], "model": 1}'],
)
def test_a_report_that_was_edited_by_hand_is_shown_as_far_as_it_goes(
    noted: object, workspace: Path, text: str, run: Run
) -> None:
    (workspace / "notes" / FIRST / "report.json").write_text(text)

    said = run("incidents", "show", FIRST)

    assert said.code == 0
    assert "NO VERDICT" in said.out


def test_a_secret_that_a_person_wrote_into_the_notes_is_not_shown(
    investigated: str, workspace: Path, run: Run
) -> None:
    state = workspace / "notes" / investigated / "STATE.md"
    state.write_text(state.read_text() + "\nThe login is password=hunter2secret\n")
    shown = run("notes", "show", investigated)

    assert "<secret:" in shown.out
    assert "hunter2secret" not in shown.out

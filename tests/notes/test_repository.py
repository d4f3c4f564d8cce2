"""The notes repository: whose edit is whose, what is refused, and what git is never allowed to do."""

import json
import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from copilot.errors import NotesError, NotFoundError
from copilot.notes.repository import NotesRepository
from copilot.notes.sections import Finding, Moment, Question
from copilot.notes.state import State

INCIDENT = "inc-20260131-3fa9c1"
TRAILERS = {"Turn": "3", "Model": "offline", "Tokens": "1200", "Cost": "0.01"}


@pytest.fixture
def notes(tmp_path: Path) -> NotesRepository:
    """Return a fresh repository."""
    made = NotesRepository(tmp_path / "notes")
    made.create()
    return made


def git(notes: NotesRepository, *arguments: str) -> str:
    """Run git as a person would."""
    person = {
        "PATH": os.environ["PATH"], "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org",
        "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.org", "GIT_EDITOR": ":",
    }  # fmt: skip
    done = subprocess.run(
        ["git", *arguments], cwd=notes.root, env=person, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def add(text: str) -> Callable[[State], State]:
    """Return a change that notes a finding, once."""

    def change(state: State) -> State:
        finding = Finding(text, "likely")
        known = finding in state.findings
        return state if known else replace(state, findings=(*state.findings, finding))

    return change


def note(notes: NotesRepository, text: str, incident: str = INCIDENT) -> str | None:
    """Note a finding."""
    return notes.update(incident, add(text), subject=f"finding: {text}", trailers=TRAILERS)


def subjects(notes: NotesRepository) -> list[str]:
    """Return the subjects of the incident's commits, oldest first."""
    return [one.subject for one in reversed(notes.history(INCIDENT))]


def test_a_change_is_one_commit_with_trailers(notes: NotesRepository) -> None:
    commit = note(notes, "the disk is full")

    (found,) = notes.history(INCIDENT)
    assert found.name == commit
    assert found.trailers == {"Incident": INCIDENT, **TRAILERS}
    assert git(notes, "status", "--porcelain") == ""


def test_no_subject_and_no_value_adds_a_line_to_the_message_of_a_commit(
    notes: NotesRepository,
) -> None:
    forged = "it is DNS\n\nIncident: inc-9\r\nCost-Usd: 0\u2028Turn: 9"

    notes.update(INCIDENT, add("x"), subject=forged, trailers={"Turn": forged})

    [found] = notes.history(INCIDENT)
    assert set(found.trailers) == {"Incident", "Turn"}
    assert found.trailers["Incident"] == INCIDENT
    assert len(git(notes, "show", "--no-patch", "--format=%B", "HEAD").strip().splitlines()) == 4


def test_a_change_that_changes_nothing_makes_no_commit(notes: NotesRepository) -> None:
    note(notes, "the disk is full")

    assert note(notes, "the disk is full") is None
    assert len(notes.history(INCIDENT)) == 1


def test_the_report_is_in_the_same_commit_as_the_notes(notes: NotesRepository) -> None:
    notes.update(
        INCIDENT, add("x"), subject="report", trailers={}, files={"report.md": "# Report\n"}
    )

    assert notes.show_file(INCIDENT, "report.md") == "# Report\n"
    shown = git(notes, "show", "--name-only", "--format=")
    assert shown.split() == [f"{INCIDENT}/STATE.md", f"{INCIDENT}/report.md"]


def test_an_operators_edit_survives_and_is_committed_as_hers(notes: NotesRepository) -> None:
    note(notes, "the disk is full")
    page = notes.root / INCIDENT / "STATE.md"
    page.write_text(page.read_text() + "\n## Shift log\n\ncalled Ann\n")

    note(notes, "the network is down")

    assert subjects(notes) == [
        "finding: the disk is full",
        f"{INCIDENT}: an operator's edit",
        "finding: the network is down",
    ]
    assert notes.history(INCIDENT)[1].author == "Operator"
    assert "called Ann" in page.read_text()
    assert "the network is down" in page.read_text()


def test_an_edit_made_while_the_change_is_computed_survives(notes: NotesRepository) -> None:
    """Bug B085: read, think for two minutes, write."""
    note(notes, "first")
    page = notes.root / INCIDENT / "STATE.md"
    calls = []

    def slow(state: State) -> State:
        calls.append(state)
        if len(calls) == 1:
            page.write_text(page.read_text().replace("## Ruled out", "her line\n\n## Ruled out"))
        return replace(state, now="thinking done")

    notes.update(INCIDENT, slow, subject="now", trailers={})

    text = page.read_text()
    assert "her line" in text
    assert "thinking done" in text
    assert len(calls) == 2


@pytest.mark.bad_input("B86")
def test_an_operators_other_edits_are_left_alone(notes: NotesRepository) -> None:
    note(notes, "first")
    note(notes, "other", "inc-2")
    other = notes.root / "inc-2" / "STATE.md"
    other.write_text(other.read_text() + "her draft\n")
    (notes.root / "todo.txt").write_text("buy milk")

    note(notes, "second")

    status = git(notes, "status", "--porcelain").splitlines()
    assert [line.split()[-1] for line in status] == ["inc-2/STATE.md", "todo.txt"]


@pytest.mark.bad_input("B86")
def test_what_she_had_staged_stays_staged(notes: NotesRepository) -> None:
    (notes.root / "todo.txt").write_text("buy milk")
    git(notes, "add", "todo.txt")

    note(notes, "first")

    assert git(notes, "status", "--porcelain") == "A  todo.txt"


def test_her_commit_of_another_file_takes_nothing_back(notes: NotesRepository) -> None:
    """An index older than the branch would silently revert our change."""
    note(notes, "first")
    note(notes, "second")
    (notes.root / "todo.txt").write_text("buy milk")
    git(notes, "add", "todo.txt")
    git(notes, "commit", "-m", "todo")

    assert "second" in git(notes, "show", f"HEAD:{INCIDENT}/STATE.md")


def test_a_rebase_between_two_changes_is_accepted(notes: NotesRepository) -> None:
    note(notes, "first")
    note(notes, "second")
    git(notes, "commit", "--amend", "-m", "my wording")

    note(notes, "third")

    assert subjects(notes) == ["finding: first", "my wording", "finding: third"]


def test_a_rebase_under_way_is_said_and_changes_nothing(notes: NotesRepository) -> None:
    note(notes, "first")
    note(notes, "second")
    before = notes.read(INCIDENT)
    editor = ["-c", "sequence.editor=sed -i s/pick/edit/"]
    git(notes, *editor, "rebase", "-i", "HEAD~1")

    with pytest.raises(NotesError, match="a rebase is under way"):
        note(notes, "third")

    assert notes.read(INCIDENT) == before
    git(notes, "rebase", "--continue")
    assert note(notes, "third")


def test_writers_of_different_incidents_all_land(notes: NotesRepository) -> None:
    def write(incident: str) -> None:
        for number in range(4):
            NotesRepository(notes.root).update(
                incident, add(f"{number}"), subject=f"{incident} {number}", trailers={}
            )

    threads = [threading.Thread(target=write, args=(f"inc-{name}",)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [len(notes.history(f"inc-{name}")) for name in "abc"] == [4, 4, 4]
    assert git(notes, "rev-list", "--count", "--merges", "HEAD") == "0"
    assert git(notes, "status", "--porcelain") == ""


@pytest.mark.parametrize("junk", [b"\xff\xfe---", b"ok\xc3\x28"])
def test_a_page_that_cannot_be_decoded_is_never_overwritten(
    notes: NotesRepository, junk: bytes
) -> None:
    """Bug B087: a failed read taken for an empty file wipes the notes."""
    note(notes, "first")
    page = notes.root / INCIDENT / "STATE.md"
    page.write_bytes(junk)

    with pytest.raises(NotesError, match="not UTF-8"):
        note(notes, "second")

    assert page.read_bytes() == junk
    assert len(notes.history(INCIDENT)) == 1


def test_a_page_that_is_a_folder_is_refused(notes: NotesRepository) -> None:
    (notes.root / INCIDENT / "STATE.md").mkdir(parents=True)

    with pytest.raises(NotesError, match="not a regular file"):
        note(notes, "first")


@pytest.mark.parametrize("kind", ["fifo", "link", "folder link"])
def test_a_planted_file_is_neither_read_nor_waited_for(
    notes: NotesRepository, tmp_path: Path, kind: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "STATE.md").write_text("secret")
    folder = notes.root / INCIDENT
    if kind == "folder link":
        folder.symlink_to(outside)
    else:
        folder.mkdir()
        if kind == "fifo":
            os.mkfifo(folder / "STATE.md")
        else:
            (folder / "STATE.md").symlink_to(outside / "STATE.md")

    with pytest.raises(NotesError):
        notes.read(INCIDENT)
    with pytest.raises(NotesError):
        note(notes, "x")

    assert (outside / "STATE.md").read_text() == "secret"


@pytest.mark.parametrize(
    "name",
    ["../../x", "..", ".", "", "--upload-pack=x", ".git/hooks/x", ".git", "INC-1", "a\0b", "a b",
     "a/b", "inc-*", "ä", "x" * 65, "inc-1\n", "%2e%2e"],
)  # fmt: skip
def test_a_name_that_is_no_incidents_is_not_found(notes: NotesRepository, name: str) -> None:
    reads: list[Callable[[str], object]] = [
        notes.read, notes.state, notes.front, notes.history,
        lambda one: notes.show_file(one, "report.md"),
        lambda one: notes.at(one, datetime.now(UTC)),
        lambda one: note(notes, "x", one),
    ]  # fmt: skip
    if name == "--upload-pack=x":  # every sign of it but `=` is allowed
        assert not (notes.root / name).exists()
    for read in reads:
        with pytest.raises(NotFoundError, match="no such incident"):
            read(name)


@pytest.mark.parametrize("name", ["../x", ".git", "a/b", "", "-rf", "a\0", "x" * 81])
def test_a_name_that_is_no_files_is_not_found(notes: NotesRepository, name: str) -> None:
    with pytest.raises(NotFoundError, match="no such file"):
        notes.show_file(INCIDENT, name)
    with pytest.raises(NotFoundError, match="no such file"):
        notes.update(INCIDENT, add("x"), subject="x", trailers={}, files={name: "x"})


def test_an_unknown_commit_is_not_found_and_never_an_option(notes: NotesRepository) -> None:
    commit = note(notes, "first") or ""

    for revision in ("--output=x", "HEAD", "main", "0000000", "", f"{commit}:README.md"):
        with pytest.raises(NotFoundError, match="no such commit"):
            notes.diff(INCIDENT, revision, commit)
    assert not (notes.root / "x").exists()


def test_the_notes_as_they_were_at_a_time(tmp_path: Path) -> None:
    clock = [datetime(2026, 1, 31, 12, tzinfo=UTC)]
    notes = NotesRepository(tmp_path / "notes", now=lambda: clock[0])
    notes.create()
    clock[0] += timedelta(hours=1)
    first = note(notes, "first") or ""
    clock[0] += timedelta(hours=1)
    second = note(notes, "second") or ""

    at_half_past = notes.at(INCIDENT, clock[0] - timedelta(minutes=30))
    assert at_half_past is not None
    assert "first" in at_half_past
    assert "second" not in at_half_past
    assert notes.at(INCIDENT, clock[0] - timedelta(hours=5)) is None
    assert "+- **likely**: second" in notes.diff(INCIDENT, first, second)


@pytest.mark.bad_input("B85", "B86")
def test_no_hook_filter_or_strangers_setting_is_run(
    notes: NotesRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(notes, "first")
    trap = tmp_path / "trap"
    run = f"#!/bin/sh\ntouch {trap}\nexit 1\n"
    hooks = notes.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ):
        (hooks / name).write_text(run)
        (hooks / name).chmod(0o755)
    (notes.root / ".gitattributes").write_text("* filter=trap diff=trap\n")
    config = notes.root / ".git" / "config"
    config.write_text(
        config.read_text()
        + f'[filter "trap"]\n\tclean = touch {trap}\n\tsmudge = touch {trap}\n\trequired = true\n'
        + f'[diff "trap"]\n\ttextconv = touch {trap}\n\tcommand = touch {trap}\n'
        + f"[core]\n\tfsmonitor = touch {trap}\n\tpager = touch {trap}\n\teditor = touch {trap}\n"
        + f"[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = touch {trap}\n[log]\n\tshowSignature = true\n"
    )
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {trap}")

    second = note(notes, "second") or ""
    first = notes.history(INCIDENT)[1].name
    notes.diff(INCIDENT, first, second)
    notes.at(INCIDENT, datetime.now(UTC))

    assert not trap.exists()
    assert not (tmp_path / "elsewhere").exists()
    assert subjects(notes) == ["finding: first", "finding: second"]


def test_no_text_can_add_a_trailer(notes: NotesRepository) -> None:
    notes.update(INCIDENT, add("x"), subject="x\n\nTurn: 99", trailers={"Model": "a\nCost: 0"})

    (found,) = notes.history(INCIDENT)
    assert found.trailers == {"Incident": INCIDENT, "Model": "a Cost: 0"}


@pytest.mark.bad_input("B88")
def test_files_are_their_owners_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        notes = NotesRepository(tmp_path / "notes")
        notes.create()
        note(notes, "first")
    finally:
        os.umask(before)

    open_to_others = [
        path
        for path in (tmp_path / "notes").rglob("*")
        if path.lstat().st_mode & 0o077 and path.is_dir()
    ]
    assert open_to_others == []
    assert (notes.root / INCIDENT / "STATE.md").stat().st_mode & 0o777 == 0o600


def test_create_is_harmless_twice_and_keeps_a_readme(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("ours")
    notes = NotesRepository(tmp_path)

    notes.create()
    notes.create()

    assert (tmp_path / "README.md").read_text() == "ours"
    assert git(notes, "log", "--format=%s") == "notes: begin"


def test_create_refuses_a_folder_with_something_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")

    with pytest.raises(NotesError, match="not empty"):
        NotesRepository(tmp_path).create()

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.bad_input("B86")
def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)

    with pytest.raises(NotesError, match="bare"):
        NotesRepository(tmp_path).create()


@pytest.mark.bad_input("B86")
def test_a_submodule_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: ../.git/modules/notes\n")

    with pytest.raises(NotesError, match="submodule"):
        NotesRepository(tmp_path).create()


@pytest.mark.bad_input("B86")
def test_a_detached_head_is_refused_but_can_be_read(notes: NotesRepository) -> None:
    note(notes, "first")
    git(notes, "checkout", "-q", "--detach")

    with pytest.raises(NotesError, match="git switch main"):
        note(notes, "second")

    assert "first" in (notes.read(INCIDENT) or "")
    assert len(notes.history(INCIDENT)) == 1


def test_notes_that_were_never_made_are_said_so(tmp_path: Path) -> None:
    notes = NotesRepository(tmp_path / "notes")

    with pytest.raises(NotesError, match="copilot init"):
        note(notes, "first")
    assert notes.read(INCIDENT) is None
    assert notes.incidents().incidents == ()


@pytest.mark.bad_input("B86")
def test_another_users_notes_are_refused(notes: NotesRepository) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(notes.root / ".git", 12345, 12345)

    with pytest.raises(NotesError, match="belong to user 12345"):
        note(notes, "first")


def test_tidying_packs_history_and_loses_nothing(notes: NotesRepository) -> None:
    for number in range(5):
        note(notes, f"finding {number}")

    notes.tidy()

    assert [one.subject for one in notes.history(INCIDENT)][-1] == "finding: finding 0"
    assert "count: 0" in git(notes, "count-objects", "-v")
    assert note(notes, "later")


def test_a_disk_that_refuses_is_said_and_the_notes_stay_whole(notes: NotesRepository) -> None:
    note(notes, "first")
    own = notes.root / ".git" / "copilot"
    own.rename(own.with_name("away"))
    own.write_text("in the way")

    with pytest.raises(NotesError, match="cannot write the notes") as refusal:
        note(notes, "second")

    assert refusal.value.retryable
    assert "first" in (notes.read(INCIDENT) or "")


def test_an_incident_that_broke_after_a_kill_does_not_stop_the_others(
    notes: NotesRepository,
) -> None:
    note(notes, "first")
    page = notes.root / INCIDENT / "STATE.md"
    intent = {
        "incident": INCIDENT, "before": {"STATE.md": "0" * 40}, "after": {"STATE.md": "1" * 40},
        "message": "x", "author": {"name": "a", "address": "b"}, "epoch_s": 0,
    }  # fmt: skip
    (notes.root / ".git" / "copilot" / "intent.json").write_text(json.dumps(intent))
    page.unlink()
    page.mkdir()

    assert note(notes, "other", "inc-2")


def test_a_missing_git_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotesError, match="git is not installed"):
        NotesRepository(tmp_path / "notes").create()


def test_incidents_are_listed_last_updated_first(notes: NotesRepository) -> None:
    start = datetime(2026, 1, 31, tzinfo=UTC)
    for day, name in enumerate(["inc-a", "inc-b", "inc-c"]):
        when = start + timedelta(days=day)

        def change(state: State, when: datetime = when, name: str = name) -> State:
            return replace(state, front=replace(state.front, updated=when, title=f"Title {name}"))

        notes.update(name, change, subject="x", trailers={})
    (notes.root / "inc-d").mkdir()
    (notes.root / "inc-e" / "STATE.md").mkdir(parents=True)

    listing = notes.incidents()

    assert [(one.incident, one.title) for one in listing.incidents] == [
        ("inc-c", "Title inc-c"), ("inc-b", "Title inc-b"), ("inc-a", "Title inc-a")
    ]  # fmt: skip
    assert listing.unreadable == ("inc-e",)


def test_a_page_stays_below_its_limit_and_says_what_was_folded(notes: NotesRepository) -> None:
    """Bad input B58, over many turns: no model can grow the notes without end."""
    start = datetime(2026, 1, 31, tzinfo=UTC)

    def change(state: State) -> State:
        moments = tuple(
            Moment(start + timedelta(seconds=number), "x" * 2000) for number in range(400)
        )
        questions = (Question("the newest question"),)
        return replace(state, timeline=moments, open_questions=questions, alert="y" * 10**6)

    notes.update(INCIDENT, change, subject="x", trailers={})

    page = notes.read(INCIDENT) or ""
    assert len(page.encode()) <= 256 * 1024
    state = notes.state(INCIDENT)
    assert state is not None
    assert len(state.timeline) + state.folded["timeline"] == 400
    assert state.timeline[-1].time == start + timedelta(seconds=399)
    assert state.open_questions == (Question("the newest question"),)

"""The notes survive `kill -9` at any moment, and every lock that a killed git can leave."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from copilot.errors import NotesError
from copilot.notes.repository import NotesRepository
from copilot.notes.sections import Question
from copilot.notes.state import State, parse

KILLS = 24
LIMIT_RECOVERY_S = 5.0
GIT = next(
    path
    for folder in os.environ["PATH"].split(os.pathsep)
    if (path := Path(folder) / "git").exists()
)


@pytest.fixture
def notes(tmp_path: Path) -> NotesRepository:
    """Return a fresh repository."""
    made = NotesRepository(tmp_path / "notes")
    made.create()
    return made


def ask(notes: NotesRepository, incident: str, text: str) -> str | None:
    """Note a question, once."""

    def change(state: State) -> State:
        question = Question(text)
        known = question in state.open_questions
        return state if known else replace(state, open_questions=(*state.open_questions, question))

    return notes.update(
        incident, change, subject=text, trailers={"Turn": "1"}, files={"report.md": text}
    )


def git(notes: NotesRepository, *arguments: str) -> str:
    """Run git as a person would."""
    person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    done = subprocess.run(
        [str(GIT), *person, *arguments],
        cwd=notes.root, capture_output=True, text=True, check=True, env={"GIT_EDITOR": ":"},
    )  # fmt: skip
    return done.stdout.strip()


def in_a_child(work: Callable[[], object]) -> int:
    """Start *work* in a child that leads its own process group; return its process id."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        work()
    finally:
        os._exit(0)


def questions(page: str) -> list[str]:
    """Return what a STATE.md asks."""
    return [one.text for one in parse(page).open_questions]


def assert_sound(notes: NotesRepository, incidents: list[str]) -> None:
    """Check that history is linear and never goes back, and that disk, index and branch agree."""
    assert git(notes, "fsck", "--strict", "--no-dangling") == ""
    assert git(notes, "rev-list", "--count", "--merges", "HEAD") == "0"
    assert git(notes, "status", "--porcelain") == ""
    for incident in incidents:
        path = f"{incident}/STATE.md"
        before: list[str] = []
        for commit in reversed(notes.history(incident)):
            asked = questions(git(notes, "show", f"{commit.name}:{path}"))
            assert asked[: len(before)] == before
            assert commit.subject == asked[-1], "one commit for each change, in order"
            before = asked
        assert questions(notes.read(incident) or "") == before


def test_notes_survive_kills_at_random_moments(notes: NotesRepository) -> None:
    moments = random.Random(7)
    incidents = ["inc-a", "inc-b"]
    slowest = 0.0
    for kill in range(KILLS):
        reader, writer = os.pipe()

        def write(kill: int = kill, writer: int = writer) -> None:
            for number in range(1000):
                incident = incidents[number % 2]
                ask(notes, incident, f"{kill}-{number}")
                os.write(writer, f"{incident} {kill}-{number}\n".encode())

        child = in_a_child(write)
        os.close(writer)
        time.sleep(moments.uniform(0.02, 0.16))
        with suppress(ProcessLookupError):  # it may not have come to lead a group of its own
            os.killpg(child, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reader) as acknowledged:
            promised = [line.split() for line in acknowledged]

        started = time.monotonic()
        ask(notes, incidents[kill % 2], f"{kill}-after")
        slowest = max(slowest, time.monotonic() - started)

        for incident, text in promised:
            assert text in questions(notes.read(incident) or "")
    assert slowest < LIMIT_RECOVERY_S
    assert_sound(notes, incidents)


@pytest.fixture
def deadly_git(tmp_path: Path) -> Callable[[int, str], str]:
    """Return a PATH on which the n-th call of git ends in a kill of the whole process group."""

    def made(number: int, when: str) -> str:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        count = folder / "count"
        count.write_text("0")
        before, after = ("kill -9 0", "") if when == "before" else ("", "kill -9 0")
        (folder / "git").write_text(
            f"#!/bin/sh\nread count < {count}\ncount=$((count + 1))\necho $count > {count}\n"
            f'if [ $count -eq {number} ]; then {before or ":"}; {GIT} "$@"; {after or ":"}; fi\n'
            f'exec {GIT} "$@"\n'
        )
        (folder / "git").chmod(0o755)
        return f"{folder}{os.pathsep}{os.environ['PATH']}"

    return made


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_change_that_is_killed_at_any_step_is_made_once(
    notes: NotesRepository,
    deadly_git: Callable[[int, str], str],
    monkeypatch: pytest.MonkeyPatch,
    when: str,
) -> None:
    ask(notes, "inc-a", "before")
    path = os.environ["PATH"]
    number = 0
    killed = True
    while killed:
        number += 1
        text = f"step {number}"
        monkeypatch.setenv("PATH", deadly_git(number, when))
        child = in_a_child(partial(ask, notes, "inc-a", text))
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        monkeypatch.setenv("PATH", path)

        ask(notes, "inc-b", text)
        ask(notes, "inc-a", text)

        for incident in ("inc-a", "inc-b"):
            assert [one.subject for one in notes.history(incident)].count(text) == 1
            assert notes.show_file(incident, "report.md") == text
    assert number > 8, "the kills must reach every call of git"
    assert_sound(notes, ["inc-a", "inc-b"])


def test_her_commit_right_after_a_kill_takes_nothing_back(
    notes: NotesRepository,
    deadly_git: Callable[[int, str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = os.environ["PATH"]
    before: list[str] = []
    for number in range(4, 16):
        monkeypatch.setenv("PATH", deadly_git(number, "after"))
        child = in_a_child(partial(ask, notes, "inc-a", f"step {number}"))
        os.waitpid(child, 0)
        monkeypatch.setenv("PATH", path)
        committed = git(notes, "ls-tree", "-r", "--name-only", "HEAD")

        git(notes, "commit", "--allow-empty", "-m", "hers")

        now = git(notes, "ls-tree", "-r", "--name-only", "HEAD")
        assert set(committed.split()) <= set(now.split())
        if "inc-a/STATE.md" in now:
            after = questions(git(notes, "show", "HEAD:inc-a/STATE.md"))
            assert after[: len(before)] == before
            before = after
    assert len(before) > 4


@pytest.mark.parametrize(
    "lock", ["index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock"]
)
@pytest.mark.bad_input("B86")
def test_a_lock_that_nobody_holds_is_cleared(notes: NotesRepository, lock: str) -> None:
    ask(notes, "inc-a", "first")
    (notes.root / ".git" / lock).write_bytes(b"")

    started = time.monotonic()
    ask(notes, "inc-a", "second")

    assert time.monotonic() - started < LIMIT_RECOVERY_S
    assert not (notes.root / ".git" / lock).exists()
    assert_sound(notes, ["inc-a"])


@pytest.mark.bad_input("B86")
def test_a_lock_that_a_process_holds_is_left_alone(notes: NotesRepository) -> None:
    ask(notes, "inc-a", "first")
    impatient = NotesRepository(notes.root, sleep=lambda _: None)
    lock = notes.root / ".git" / "index.lock"

    with lock.open("wb"), pytest.raises(NotesError, match=r"index\.lock is held") as refusal:
        ask(impatient, "inc-a", "second")

    assert refusal.value.retryable
    assert lock.exists()
    assert "second" not in (notes.read("inc-a") or "")


@pytest.mark.bad_input("B86")
def test_her_open_editor_keeps_its_lock(notes: NotesRepository, tmp_path: Path) -> None:
    """While the editor of `git commit -a` is open its lock file has no holder at all."""
    ask(notes, "inc-a", "first")
    page = notes.root / "inc-a" / "STATE.md"
    page.write_text(page.read_text() + "her line\n")
    opened, closed = tmp_path / "opened", tmp_path / "closed"
    os.mkfifo(opened)
    os.mkfifo(closed)
    editor = f"echo hers >> $1; echo > {opened}; read line < {closed}; :"
    hers = subprocess.Popen(
        [str(GIT), "-c", "user.name=Ann", "-c", "user.email=a@b", "commit", "-q", "-a"],
        cwd=notes.root,
        env={"GIT_EDITOR": f"sh -c '{editor}' --", "PATH": os.environ["PATH"]},
    )
    opened.read_text()
    assert (notes.root / ".git" / "index.lock").exists()

    with pytest.raises(NotesError, match="git is busy"):
        ask(NotesRepository(notes.root, sleep=lambda _: None), "inc-a", "second")

    closed.write_text("\n")
    assert hers.wait() == 0
    ask(notes, "inc-a", "third")
    assert [one.subject for one in notes.history("inc-a")] == ["third", "hers", "first"]


def test_an_index_that_a_kill_left_old_takes_nothing_back(notes: NotesRepository) -> None:
    """Killed between the branch and the index, git leaves an index that would revert a file."""
    ask(notes, "inc-a", "first")
    index = notes.root / ".git" / "index"
    old = index.read_bytes()
    ask(notes, "inc-a", "second")
    index.write_bytes(old)
    (notes.root / ".git" / "index.lock").write_bytes(b"")

    ask(notes, "inc-b", "other")
    (notes.root / "todo.txt").write_text("buy milk")
    git(notes, "add", "todo.txt")
    git(notes, "commit", "-m", "todo")

    assert "second" in git(notes, "show", "HEAD:inc-a/STATE.md")
    assert git(notes, "status", "--porcelain") == ""


def test_a_torn_index_is_made_anew(notes: NotesRepository) -> None:
    ask(notes, "inc-a", "first")
    (notes.root / ".git" / "index").write_bytes(b"DIRC\0\0")

    ask(notes, "inc-a", "second")

    assert_sound(notes, ["inc-a"])


def test_creation_that_was_killed_is_finished(
    tmp_path: Path, deadly_git: Callable[[int, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.environ["PATH"]
    for number in range(1, 15):
        notes = NotesRepository(tmp_path / f"notes-{number}")
        monkeypatch.setenv("PATH", deadly_git(number, "after"))
        os.waitpid(in_a_child(notes.create), 0)
        monkeypatch.setenv("PATH", path)

        notes.create()

        assert git(notes, "log", "--format=%s") == "notes: begin"
        assert git(notes, "status", "--porcelain") == ""


def test_every_file_is_synced_before_it_is_named(notes: NotesRepository, tmp_path: Path) -> None:
    """The order that survives a power cut: sync the file, rename it, sync the folder."""
    if not Path("/usr/bin/strace").exists():
        pytest.skip("strace is not installed")
    trace = tmp_path / "trace"
    code = (
        "import sys; from pathlib import Path; from dataclasses import replace;"
        "from copilot.notes.repository import NotesRepository;"
        "NotesRepository(Path(sys.argv[1])).update('inc-a', lambda s: replace(s, now='x'),"
        "subject='x', trailers={})"
    )
    command = ["strace", "-o", str(trace), "-y", "-e", "trace=fsync,rename,renameat,renameat2"]
    done = subprocess.run(
        [*command, sys.executable, "-c", code, str(notes.root)], capture_output=True, check=False,
        text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"strace cannot trace here: {done.stderr.splitlines()[-1:]}")

    calls = trace.read_text().splitlines()
    named = next(at for at, call in enumerate(calls) if '"STATE.md"' in call)
    synced = [at for at, call in enumerate(calls) if call.startswith("fsync") and "new-0" in call]
    folder = [at for at, call in enumerate(calls) if call.startswith("fsync") and "inc-a>" in call]
    assert synced
    assert synced[0] < named < folder[0]

"""A writer that is frozen in the middle of a commit holds nobody up, and spoils nothing later."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from copilot.errors import NotesError
from copilot.notes.pen import FROZEN_S, STEP_S, Pen, one_writer
from copilot.notes.repository import NotesRepository
from copilot.notes.sections import Question
from copilot.notes.state import State
from tests.notes.test_kill import GIT, assert_sound, git, in_a_child, questions


@pytest.fixture
def notes(tmp_path: Path) -> NotesRepository:
    """Return a repository with one incident, for somebody who waits in no time."""
    made = NotesRepository(tmp_path / "notes", sleep=lambda _: None)
    made.create()
    ask(made, "inc-a", "before")
    return made


def ask(notes: NotesRepository, incident: str, text: str) -> None:
    """Note a question, and a file of it, once."""

    def change(state: State) -> State:
        question = Question(text)
        known = question in state.open_questions
        return state if known else replace(state, open_questions=(*state.open_questions, question))

    files = {f"{text.replace(' ', '-')}.md": text}
    notes.update(incident, change, subject=text, trailers={"Turn": "1"}, files=files)


@contextmanager
def frozen(work: Callable[[], object]) -> Iterator[bool]:
    """Freeze *work* where it freezes itself until the block is left; False when it never does."""
    child = in_a_child(work)
    _, status = os.waitpid(child, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        yield False
        return
    try:
        yield True
    finally:
        os.killpg(child, signal.SIGCONT)
        os.waitpid(child, 0)


def check(notes: NotesRepository, *asked: str) -> None:
    """Check that each was asked once, in that history nothing was lost, and that all agrees."""
    assert sorted(questions(notes.read("inc-a") or "")) == sorted(asked)
    assert_sound(notes, ["inc-a"])
    ask(notes, "inc-b", f"after {asked[-1]}")  # what was left lying about is cleared, not committed
    assert sorted(questions(notes.read("inc-a") or "")) == sorted(asked)
    assert [commit.author for commit in notes.history("inc-a")] == ["Copilot"] * len(asked)
    assert git(notes, "status", "--porcelain") == ""


@pytest.mark.parametrize("when", ["before", "after"])
def test_frozen_with_its_git_at_any_command_it_holds_up_nobody_and_its_change_is_made(
    notes: NotesRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    path, number, is_frozen = os.environ["PATH"], 0, True
    asked = ["before"]
    while is_frozen:
        number += 1
        monkeypatch.setenv("PATH", freezing_git(tmp_path, number, when))
        with frozen(partial(ask, notes, "inc-a", f"frozen {number}")) as is_frozen:
            monkeypatch.setenv("PATH", path)
            ask(notes, "inc-a", f"meanwhile {number}")
        asked += [f"frozen {number}", f"meanwhile {number}"]
        check(notes, *asked)
    assert number > 8, "the freezes must reach every call of git"


def test_frozen_between_its_look_at_the_turn_and_the_deed_it_takes_back_what_it_wrote(
    notes: NotesRepository,
) -> None:
    number, is_frozen = 0, True
    asked = ["before"]
    while is_frozen:
        number += 1
        with frozen(partial(looking, number, notes, f"frozen {number}")) as is_frozen:
            ask(notes, "inc-a", f"meanwhile {number}")
        asked += [f"frozen {number}", f"meanwhile {number}"]
        check(notes, *asked)
    assert number > 12, "the freezes must reach every look"


def test_a_writer_that_shows_signs_of_life_keeps_its_turn(tmp_path: Path) -> None:
    looks = 0
    with one_writer(tmp_path) as pen:

        def pause(_seconds: float) -> None:
            nonlocal looks
            looks += 1
            if looks % int(FROZEN_S / STEP_S / 2) == 0:
                pen.go_on()

        with pytest.raises(NotesError, match="other processes"), one_writer(tmp_path, pause):
            pass
        assert not pen.is_lost


def test_a_turn_that_was_lost_leaves_one_lock_behind(tmp_path: Path) -> None:
    with one_writer(tmp_path) as old:
        for _ in range(3):
            with one_writer(tmp_path, lambda _: None) as new:
                assert old.is_lost
                assert not new.is_lost
    assert len([*tmp_path.iterdir()]) == 1


def freezing_git(tmp_path: Path, number: int, when: str) -> str:
    """Return a PATH on which the n-th call of git freezes its whole process group."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    count = folder / "count"
    count.write_text("0")
    before, after = ("kill -STOP 0", ":") if when == "before" else (":", "kill -STOP 0")
    (folder / "git").write_text(
        f"#!/bin/sh\nread count < {count}\ncount=$((count + 1))\necho $count > {count}\n"
        f'[ $count -eq {number} ] || exec {GIT} "$@"\n'
        f'{before}\n{GIT} "$@"\ncode=$?\n{after}\nexit $code\n'
    )
    (folder / "git").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def looking(number: int, notes: NotesRepository, text: str) -> None:
    """Ask, and freeze right after the n-th look whether it is still our turn."""
    look, looks = Pen.go_on, 0

    def go_on(pen: Pen) -> None:
        nonlocal looks
        look(pen)
        looks += 1
        if looks == number:
            os.kill(os.getpid(), signal.SIGSTOP)

    setattr(Pen, "go_on", go_on)  # noqa: B010 - of this child only
    ask(notes, "inc-a", text)

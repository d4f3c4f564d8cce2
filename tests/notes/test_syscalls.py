"""System calls that fail, or kill, in us or in git, while notes are committed."""

import subprocess
from pathlib import Path

import pytest

from copilot.notes.repository import NotesRepository
from tests.syscalls import run_with

INCIDENT = "inc-20261130-000001"
CHANGES = 3
PROGRAM = f"""
import sys
from dataclasses import replace
from pathlib import Path
from copilot.errors import NotesError
from copilot.notes.repository import NotesRepository
from copilot.notes.sections import Question
notes = NotesRepository(Path(sys.argv[1]) / "notes")
for number in range({CHANGES}):
    question = Question(f"question {{number}}")
    def change(state, question=question):
        known = question in state.open_questions
        questions = (*state.open_questions, question)
        return state if known else replace(state, open_questions=questions)
    for _ in range(4):
        try:
            notes.update("{INCIDENT}", change, subject=question.text, trailers={{"Turn": "1"}})
        except NotesError:
            print("refused", number, flush=True)
        else:
            print("kept", number, flush=True)
            break
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a fresh repository in it."""
    NotesRepository(tmp_path / "notes").create()
    return tmp_path


def check(folder: Path, said: list[str]) -> None:
    """Check that the repository is sound and holds each change that was acknowledged, once."""
    notes = NotesRepository(folder / "notes")
    notes.create()  # clears what a killed process left, as each start does
    text = notes.read(INCIDENT) or ""
    for line in said:
        word, number = line.split()
        if word == "kept":
            assert text.count(f"question {number}\n") == 1
    checked = subprocess.run(
        ["git", "-C", str(notes.root), "fsck", "--full", "--strict"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("call", ["fsync", "rename", "link"])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_after_a_kill_at_any_call_what_was_acknowledged_is_in_a_sound_repository(
    folder: Path, call: str, number: int
) -> None:
    check(folder, run_with(f"{call}:signal=SIGKILL:when={number}", PROGRAM, folder))

    again = run_with("fsync:error=EIO:when=1000", PROGRAM, folder)
    assert again == [f"kept {number}" for number in range(CHANGES)]
    check(folder, again)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("call", ["fsync", "rename"])  # without link, git renames
def test_what_the_disk_never_takes_is_refused_and_made_once_it_does(
    folder: Path, call: str, error: str
) -> None:
    said = run_with(f"{call}:error={error}", PROGRAM, folder)

    assert {line.split()[0] for line in said} == {"refused"}
    check(folder, said)
    again = run_with("fsync:error=EIO:when=1000", PROGRAM, folder)
    assert again == [f"kept {number}" for number in range(CHANGES)]
    check(folder, again)


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_a_fault_that_passes_refuses_what_it_hits_and_harms_nothing_else(
    folder: Path, number: int
) -> None:
    """The fault comes once in each process, so in every git anew."""
    said = run_with(f"fsync:error=EIO:when={number}", PROGRAM, folder)

    check(folder, said)
    again = run_with("fsync:error=EIO:when=1000", PROGRAM, folder)
    assert again == [f"kept {number}" for number in range(CHANGES)]
    check(folder, again)

"""System calls that fail, or kill, while a draft is kept and posted: it is there, and posted once."""

from pathlib import Path

import pytest

from tests.syscalls import run_with

PROGRAM = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from copilot.errors import OutboxError
from copilot.outbox import Outbox, Posted
folder = Path(sys.argv[1])
ticket = folder / "ticket"
outbox = Outbox(
    folder / "outbox", {"desk": ("OPS",)}, redact=str,
    now=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC),
)

def post(draft):
    done = "unchanged" if ticket.exists() and draft.id in ticket.read_text() else "made"
    if done == "made":
        with ticket.open("a") as file:
            file.write(draft.id + "\\n")
    return Posted("1", done)

for act in ("propose", "approve"):
    for _ in range(2):
        try:
            draft = outbox.propose("inc-1", "desk", "OPS-7", "It is the disk.")
            if act == "approve":
                draft = outbox.approve(draft.id, "ada", post).draft
        except OutboxError:
            print("refused", act, flush=True)
        else:
            print(draft.status, draft.id, flush=True)
            break
"""
NO_FAULT = "fsync:error=EIO:when=1000"


def drafts(folder: Path) -> list[str]:
    """Return the ids that there are files of."""
    return [path.stem for path in (folder / "outbox").glob("*.json")]


# The folder's name synced; then for each state the file, its rename, and the folder.
@pytest.mark.parametrize(
    "call", [*(f"fsync:{number}" for number in range(1, 8)), "rename:1", "rename:2", "rename:3"]
)
def test_after_a_kill_at_any_call_a_draft_is_kept_and_posted_once(
    tmp_path: Path, call: str
) -> None:
    name, _, number = call.partition(":")

    said = run_with(f"{name}:signal=SIGKILL:when={number}", PROGRAM, tmp_path)
    told = [line.split()[1] for line in said]
    there = drafts(tmp_path)
    again = run_with(NO_FAULT, PROGRAM, tmp_path)

    assert len(said) < 2
    assert set(told) <= set(there)
    [posted] = drafts(tmp_path)
    assert again[-1] == f"posted {posted}"
    assert (tmp_path / "ticket").read_text() == f"{posted}\n"


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize(
    "call", ["fsync:2", "fsync:4", "fsync:6", "rename:1", "rename:2", "rename:3"]
)
def test_a_disk_that_fails_once_refuses_and_loses_nothing(
    tmp_path: Path, call: str, error: str
) -> None:
    name, _, number = call.partition(":")

    said = run_with(f"{name}:error={error}:when={number}", PROGRAM, tmp_path)

    [posted] = drafts(tmp_path)
    assert [line.split()[0] for line in said].count("refused") == 1
    assert said[-1] == f"posted {posted}"
    assert (tmp_path / "ticket").read_text() == f"{posted}\n"
    assert not [*(tmp_path / "outbox").glob(".tmp*")]


def test_nothing_is_posted_while_an_approval_cannot_be_kept(tmp_path: Path) -> None:
    run_with("fsync:error=EIO:when=4+", PROGRAM, tmp_path)

    assert len(drafts(tmp_path)) == 1
    assert not (tmp_path / "ticket").exists()

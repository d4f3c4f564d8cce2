"""System calls that fail, or kill, while a result is kept: it is there whole, or not at all."""

from pathlib import Path

import pytest

from copilot.scratch.store import Scratch
from tests.syscalls import run_with

PUTS = 4
PROGRAM = f"""
import sys
from pathlib import Path
from copilot.errors import ScratchError
from copilot.scratch.store import Scratch
scratch = Scratch(Path(sys.argv[1]), "inc")
for number in range({PUTS}):
    for _ in range(3):
        try:
            stored = scratch.put([{{"n": number}}] * 20, tool="t", arguments={{"n": number}})
        except ScratchError:
            print("refused", number, flush=True)
        else:
            print("kept", number, stored.handle, flush=True)
            break
"""


def kept(said: list[str]) -> dict[str, int]:
    """Return the handles that were given, each with the number of its result."""
    words = [line.split() for line in said if line.startswith("kept")]
    return {handle: int(number) for _, number, handle in words}


def check(folder: Path, said: list[str]) -> None:
    """Check that all results with a handle are whole, and that what is torn has none."""
    scratch = Scratch(folder, "inc")
    assert kept(said).keys() <= set(scratch.handles())
    for handle in scratch.handles():
        rows = [scratch.row(handle, number + 1) for number in range(20)]
        assert rows == [rows[0]] * 20
        assert rows[0]["n"] == kept(said).get(handle, rows[0]["n"])


# For each result: the content synced, its number taken, the content named, then the same with what
# describes it, and at last the folder synced.
@pytest.mark.parametrize("number", [1, 2, 3, 5])
@pytest.mark.parametrize("call", ["fsync", "renameat", "pwrite64"])
def test_after_a_kill_at_any_call_a_result_is_whole_or_not_there(
    tmp_path: Path, call: str, number: int
) -> None:
    said = run_with(f"{call}:signal=SIGKILL:when={number}", PROGRAM, tmp_path)

    assert len(said) < PUTS or number > PUTS
    check(tmp_path, said)
    again = run_with("fsync:error=EIO:when=1000", PROGRAM, tmp_path)
    assert {*kept(again).values()} == {*range(PUTS)}
    check(tmp_path, again)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize(
    "call", ["fsync:1", "fsync:2", "fsync:3", "renameat:1", "renameat:2", "pwrite64:1"]
)
def test_a_result_that_fails_is_refused_and_kept_when_the_disk_takes_it(
    tmp_path: Path, call: str, error: str
) -> None:
    name, _, number = call.partition(":")

    said = run_with(f"{name}:error={error}:when={number}", PROGRAM, tmp_path)

    assert said[0] == "refused 0"
    assert {*kept(said).values()} == {*range(PUTS)}
    check(tmp_path, said)
    assert not [*(tmp_path / "inc").glob(".tmp*")]


def test_a_disk_that_never_syncs_gets_no_handle(tmp_path: Path) -> None:
    said = run_with("fsync:error=EIO", PROGRAM, tmp_path)

    assert kept(said) == {}
    assert not [*(tmp_path / "inc").glob(".tmp*")]

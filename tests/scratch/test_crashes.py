"""Killed at any moment, or out of space, scratch holds whole results and no half ones."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from copilot.errors import ScratchError
from copilot.scratch import folder as disk
from copilot.scratch.store import Scratch
from copilot.values import JsonObject

WRITER = """
import sys
from pathlib import Path
from copilot.scratch.store import Scratch
scratch = Scratch(Path(sys.argv[1]), "inc")
for number in range(10_000):
    stored = scratch.put(rows=[{"n": number, "x": "x" * 3000}] * 20, tool="t", arguments={"n": number})
    print(stored.handle, flush=True)
"""


def killed_after(root: Path, acknowledged: int) -> list[str]:
    """Return the handles that a writer gave before it was killed."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    ) as writer:
        assert writer.stdout
        handles = [writer.stdout.readline().strip() for _ in range(acknowledged)]
        writer.kill()
        return handles + writer.stdout.read().split()


def test_nothing_acknowledged_is_lost_and_nothing_is_torn_by_kill_9(tmp_path: Path) -> None:
    for acknowledged in (1, 7, 20):
        handles = killed_after(tmp_path, acknowledged)
        scratch = Scratch(tmp_path, "inc")

        assert len(handles) >= acknowledged
        assert set(handles) <= set(scratch.handles())
        for handle in scratch.handles():
            rows: list[JsonObject] = [{"n": int(handle[1:]) - 1, "x": "x" * 3000}] * 20
            assert [scratch.row(handle, n + 1) for n in range(20)] == rows


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_result_that_the_disk_does_not_take_leaves_nothing_behind(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, "inc")
    scratch.put([{"n": 1}], tool="t", arguments={})
    before = sorted((tmp_path / "inc").iterdir())

    with files_of_at_most(2000), pytest.raises(ScratchError, match="could not be kept"):
        scratch.put([{"x": "x" * 100_000}], tool="t", arguments={})

    assert sorted((tmp_path / "inc").iterdir()) == before
    assert scratch.put([{"n": 2}], tool="t", arguments={}).handle == "R0002"


def test_a_planted_lock_file_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.link(victim, tmp_path / "inc" / disk.LOCK)

    with pytest.raises(ScratchError, match="is not a plain file of ours"):
        Scratch(tmp_path, "inc").put([{"n": 1}], tool="t", arguments={})

    assert victim.read_text() == "precious"

"""A small file takes little room, whatever it might have held; every folder of files reads so."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from copilot.errors import OutboxError
from copilot.file_start import file_start
from copilot.intake.spool_folder import SpoolFolder
from copilot.notes import folder as notes
from copilot.outbox.folder import Folder as Outbox
from copilot.scratch import folder as scratch

DRAFT = "0123456789ab"
SMALL = b"[]\n"
LITTLE_ROOM = 100_000
"""Bytes; the least of the limits is more than twice that."""


def start_of(path: Path, count: int) -> bytes:
    """Return what is read of a file at *path*."""
    file = os.open(path, os.O_RDONLY)
    try:
        return file_start(file, count)
    finally:
        os.close(file)


def peak(read: Callable[[], object]) -> int:
    """Return the most bytes that were in use at one moment while *read* ran."""
    read()  # what is made once does not count
    tracemalloc.start()
    read()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("count", [0, 1, 4096, 9_999, 10_000, 10_001, 1 << 30])
def test_no_more_than_was_asked_for_comes_back(tmp_path: Path, count: int) -> None:
    content = os.urandom(10_000)
    path = tmp_path / "file"
    path.write_bytes(content)

    assert start_of(path, count) == content[:count]


def test_a_file_that_does_not_say_its_size_is_read_whole() -> None:
    path = Path("/proc/self/maps")

    assert path.stat().st_size == 0
    assert len(start_of(path, 1 << 20)) > 4096


def in_notes(root: Path) -> Callable[[], object]:
    """Return a reader of a small file in the notes."""
    (root / "inc-1").mkdir()
    (root / "inc-1" / "STATE.md").write_bytes(SMALL)
    return lambda: notes.read_file(root, "inc-1", "STATE.md")


def in_scratch(root: Path) -> Callable[[], object]:
    """Return a reader of a small file in scratch."""
    (root / "R0001.json").write_bytes(SMALL)

    def read() -> bytes:
        folder = os.open(root, os.O_RDONLY)
        try:
            return scratch.read_file(folder, "R0001.json", 1 << 20)
        finally:
            os.close(folder)

    return read


def in_spool(root: Path) -> Callable[[], object]:
    """Return a reader of a small file in the spool."""
    (root / "new").mkdir()
    (root / "new" / "alert.json").write_bytes(SMALL)
    return lambda: SpoolFolder(root).read("alert.json")


def in_outbox(root: Path) -> Callable[[], object]:
    """Return a reader of a small file in the outbox: of a draft, or what the folder says of it."""
    (root / f"{DRAFT}.json").write_bytes(SMALL)

    def read() -> None:
        with pytest.raises(OutboxError, match="no draft of ours"):
            Outbox(root).find(DRAFT)

    return read


@pytest.mark.parametrize("place", [in_notes, in_scratch, in_spool, in_outbox])
def test_a_small_file_takes_little_room(
    tmp_path: Path, place: Callable[[Path], Callable[[], object]]
) -> None:
    assert peak(place(tmp_path)) < LITTLE_ROOM

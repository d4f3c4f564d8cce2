"""Claims about the disk that the daemon's state lies on."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from copilot.daemon.room import BELIEVED_S, Room, no_room


def test_a_folder_that_cannot_be_looked_at_is_a_reason_and_no_fault_of_ours(tmp_path: Path) -> None:
    gone = tmp_path / "state"

    assert no_room(gone) == (
        f"{gone} cannot be looked at (No such file or directory); mount it, or make it readable"
    )


def test_a_disk_with_room_is_no_reason(tmp_path: Path) -> None:
    assert no_room(tmp_path) == ""


def test_a_disk_is_looked_at_once_a_second_while_it_has_room_and_each_time_while_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, looks, now = 50, list[Path](), 100.0

    def look(folder: Path) -> object:
        looks.append(folder)
        return SimpleNamespace(total=100 << 30, used=0, free=free << 30)

    monkeypatch.setattr("shutil.disk_usage", look)
    room = Room(lambda: now)

    assert [room.problem(tmp_path) for _ in range(100)] == [""] * 100
    assert len(looks) == 1
    free, now = 0, now + BELIEVED_S
    assert all("kept free" in room.problem(tmp_path) for _ in range(3))
    free = 50
    assert room.problem(tmp_path) == ""

"""Claims about the disk that the daemon's state lies on."""

from pathlib import Path

from copilot.daemon.room import no_room


def test_a_folder_that_cannot_be_looked_at_is_a_reason_and_no_fault_of_ours(tmp_path: Path) -> None:
    gone = tmp_path / "state"

    assert no_room(gone) == (
        f"{gone} cannot be looked at (No such file or directory); mount it, or make it readable"
    )


def test_a_disk_with_room_is_no_reason(tmp_path: Path) -> None:
    assert no_room(tmp_path) == ""

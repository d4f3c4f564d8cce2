"""Claims about how the daemon of a workspace is found."""

import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from copilot.daemon.doorplate import Doorplate, Hung, alive, find

PLATE = Doorplate("http://127.0.0.1:8080", "word", 4711)


def test_a_running_daemon_is_found_with_its_address_and_token(tmp_path: Path) -> None:
    hung = Hung(tmp_path, PLATE)

    assert find(tmp_path) == PLATE
    hung.take_down()


def test_only_its_owner_may_read_the_token(tmp_path: Path) -> None:
    hung = Hung(tmp_path, PLATE)

    [file] = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    hung.take_down()


def test_a_daemon_that_left_is_not_found(tmp_path: Path) -> None:
    Hung(tmp_path, PLATE).take_down()

    assert find(tmp_path) is None


def test_what_a_killed_daemon_left_is_not_taken_for_one_and_goes(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from copilot.daemon.doorplate import Doorplate, Hung\n"
        "Hung(Path(sys.argv[1]), Doorplate('http://x', 't', 1)); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)

    assert find(tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_who_looks_while_a_plate_is_hung_takes_nothing_down(tmp_path: Path) -> None:
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            list(alive(tmp_path))

    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            threads.submit(look)
        found = 0
        for number in range(300):
            plate = replace(PLATE, pid=number)
            hung = Hung(tmp_path, plate)
            found += plate in alive(tmp_path)
            hung.take_down()
        over.set()

    assert found == 300


def test_the_plate_of_a_host_whose_name_goes_on_is_another_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "node-2")
    other = Hung(tmp_path, PLATE)
    monkeypatch.setattr("socket.gethostname", lambda: "node")

    assert find(tmp_path) is None
    other.take_down()


def test_a_plate_that_cannot_be_read_is_no_daemon(tmp_path: Path) -> None:
    hung = Hung(tmp_path, PLATE)
    [file] = tmp_path.iterdir()
    file.write_text("{")

    assert find(tmp_path) is None
    hung.take_down()


def test_the_plate_of_another_host_is_neither_read_nor_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "other")
    hung = Hung(tmp_path, PLATE)
    monkeypatch.undo()
    own = Hung(tmp_path, PLATE)

    own.take_down()

    assert find(tmp_path) is None
    assert len(list(tmp_path.iterdir())) == 1
    hung.take_down()


def test_all_daemons_of_this_host_are_found(tmp_path: Path) -> None:
    first, second = (Hung(tmp_path, Doorplate("http://x", "t", pid)) for pid in (1, 2))

    assert {plate.pid for plate in alive(tmp_path)} == {1, 2}
    first.take_down()
    second.take_down()


def test_a_folder_that_is_not_there_has_no_daemon(tmp_path: Path) -> None:
    assert find(tmp_path / "state") is None

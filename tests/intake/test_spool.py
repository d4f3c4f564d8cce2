"""What is renamed into the spool is taken once, and nothing that lies there stops the rest."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from copilot.errors import InboxError, UsageError
from copilot.inbox.inbox import Inbox
from copilot.intake.bounds import load
from copilot.intake.door import Door
from copilot.intake.spool import ALERTS_AT_ONCE, FILES_AT_ONCE, NAMES_AT_ONCE, Spool
from copilot.intake.spool_folder import SpoolFolder
from tests.permissions import obeyed

from . import killed_spool
from . import test_bounds as bounds
from .box import NOW, Box, door
from .test_alertmanager import alert, group

ALERT = b'{"title": "wf_1 has stalled", "labels": {"workflow": "wf_1"}}'


class Place:
    """A spool in a folder, in front of a box."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.box = Box()
        self.door: Door | None = door(self.box)
        self.now = NOW
        self.spool = Spool(root, self._entrance, now=lambda: self.now)
        SpoolFolder(root).prepare()

    def _entrance(self) -> Door:
        if self.door is None:
            raise InboxError("the daemon is leaving", retryable=True)
        return self.door

    def drop(self, name: str | bytes, content: bytes = ALERT) -> None:
        """Write in tmp and rename into new, as a sender does."""
        written = self.root / "tmp" / "being-written"
        written.write_bytes(content)
        written.rename(self.root / "new" / os.fsdecode(name))

    def lists(self, name: str) -> list[str]:
        """Return what lies in one of the folders."""
        return sorted(path.name for path in (self.root / name).iterdir())

    def reason(self, name: str) -> str:
        """Return why that file failed."""
        return (self.root / "failed" / f"{name}.reason").read_text()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return an empty spool."""
    return Place(tmp_path / "spool")


def test_a_file_is_taken_and_then_kept_in_done(place: Place) -> None:
    place.drop("1.json")

    assert place.spool.drain_once() == 1
    assert [one.source for one in place.box.kept] == ["spool"]
    assert (place.lists("new"), place.lists("done")) == ([], ["1.json"])
    assert place.spool.problem == ""


def test_files_are_taken_in_the_order_of_their_names(place: Place) -> None:
    for name in ("b.json", "a.json", "c.json"):
        place.drop(name, json.dumps({"title": name}).encode())
    place.spool.drain_once()

    assert [one.title for one in place.box.kept] == ["a.json", "b.json", "c.json"]


def test_a_group_of_alertmanager_is_known_by_its_content(place: Place) -> None:
    place.drop("group", json.dumps(group(alert(), alert(fingerprint="bb"))).encode())
    place.spool.drain_once()

    assert [one.alert["source"] for one in place.box.kept] == ["alertmanager"] * 2


def test_a_name_may_ask_for_a_map(place: Place) -> None:
    event = {"event": {"data": {"type": "incident", "id": "PX1", "title": "wf_1"}}}
    place.drop("17.pagerduty.json", json.dumps(event).encode())
    place.spool.drain_once()

    assert [one.alert["source"] for one in place.box.kept] == ["pagerduty"]


@pytest.mark.bad_input("B34")
def test_what_is_still_being_written_is_left_alone(place: Place) -> None:
    (place.root / "tmp" / "half.json").write_bytes(ALERT[:20])

    assert place.spool.drain_once() == 0
    assert place.lists("tmp") == ["half.json"]


BAD = {
    "empty": (b"", "is empty"),
    "half": (ALERT[:20], "not JSON"),
    "long": (b" " * (1 << 20) + ALERT, "at most 1048576"),
    "no alert": (b"{}", "not a JSON object with fields"),
    "list": (b"[]", "not a JSON object with fields"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.bad_input("B35")
def test_what_is_no_alert_fails_with_its_reason_and_the_rest_goes_on(
    place: Place, name: str
) -> None:
    content, reason = BAD[name]
    place.drop(name, content)
    place.drop("zz.json")

    assert place.spool.drain_once() == 2
    assert reason in place.reason(name)
    assert place.lists("failed") == [name, f"{name}.reason"]
    assert place.lists("done") == ["zz.json"]


@pytest.mark.bad_input("B01", "B05", "B06", "B07", "B10", "B12", "B13", "B14", "B15", "B16", "B35")
@pytest.mark.parametrize("name", bounds.BAD)
def test_a_body_that_http_refuses_fails_here_with_the_same_reason(place: Place, name: str) -> None:
    with pytest.raises(UsageError) as refused:
        load(bounds.BAD[name])
    place.drop("x", bounds.BAD[name])
    place.spool.drain_once()

    assert place.lists("failed") == ["x", "x.reason"]
    if "too long" not in name:  # of such a file no more is read than tells that it is
        assert place.reason("x") == f"{refused.value}\n"
    assert place.box.kept == []
    assert place.spool.problem == ""


@pytest.mark.bad_input("B36")
def test_nothing_that_is_no_file_is_opened_or_followed(place: Place, tmp_path: Path) -> None:
    new = place.root / "new"
    secret = tmp_path / "secret.json"
    secret.write_bytes(ALERT)
    (new / "folder").mkdir()
    os.mkfifo(new / "fifo")
    (new / "link").symlink_to(secret)
    (new / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(new)  # a socket's path has a hundred characters at most
        listening.bind("socket")
        os.chdir(here)
    place.drop("zz.json")

    assert place.spool.drain_once() == 6
    assert len(place.box.kept) == 1
    names = ["fifo", "folder", "link", "loop", "socket"]
    assert place.lists("failed") == sorted([*names, *(f"{name}.reason" for name in names)])
    assert "symbolic link" in place.reason("link")
    assert secret.read_bytes() == ALERT


def test_a_file_that_may_not_be_read_fails_and_the_rest_goes_on(place: Place) -> None:
    place.drop("a.json")
    place.drop("b.json")
    (place.root / "new" / "a.json").chmod(0)
    with obeyed():
        place.spool.drain_once()

    assert "may not be read" in place.reason("a.json")
    assert place.lists("done") == ["b.json"]


ODD = [
    "--help.json",
    "..json",
    "-rf",
    "a" * 255,
    "new\nline.json",
    b"\xff\xfe.json",
    " ",
    "{}",
    "é",
]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.bad_input("B37")
def test_odd_names_are_taken(place: Place, name: str | bytes) -> None:
    place.drop(name)

    assert place.spool.drain_once() == 1
    assert place.lists("done") == [os.fsdecode(name)]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.bad_input("B37")
def test_odd_names_fail_with_a_reason_beside_them(place: Place, name: str | bytes) -> None:
    place.drop(name, b"")
    place.spool.drain_once()

    failed = place.lists("failed")
    assert len(failed) == 2
    assert os.fsdecode(name) in failed
    assert sum(one.endswith(".reason") for one in failed) == 1
    assert place.spool.problem == ""


def test_a_name_that_failed_before_loses_nothing(place: Place) -> None:
    for content in (b"one", b"two"):
        place.drop("x.json", content)
        place.spool.drain_once()

    failed = place.root / "failed"
    assert (failed / "x.json").read_bytes() == b"one"
    assert (failed / "x.json.1").read_bytes() == b"two"


def test_a_folder_in_the_way_of_a_done_file_is_gone_round(place: Place) -> None:
    (place.root / "done" / "x.json").mkdir()
    place.drop("x.json")
    place.spool.drain_once()

    assert place.lists("done") == ["x.json", "x.json.1"]


@pytest.mark.bad_input("B38")
def test_many_files_go_into_few_transactions(place: Place) -> None:
    """B38 in small: `benchmarks` has it in full."""
    count = NAMES_AT_ONCE + FILES_AT_ONCE + 1
    for number in range(count):
        place.drop(f"{number}.json", json.dumps({"title": f"wf_{number}"}).encode())

    assert place.spool.drain_once() == count
    assert len(place.box.batches) == 12
    assert place.lists("new") == []


def test_files_with_many_alerts_are_handed_in_early(place: Place) -> None:
    members = [alert(fingerprint=str(number)) for number in range(ALERTS_AT_ONCE // 2)]
    for number in range(5):
        place.drop(f"{number}.json", json.dumps(group(*members)).encode())
    place.spool.drain_once()

    assert place.box.batches == [1000, 1000, 500]


@pytest.mark.bad_input("B33")
def test_while_the_inbox_is_full_files_wait_and_then_go(place: Place) -> None:
    place.drop("1.json")
    place.box.is_full = True

    assert place.spool.drain_once() == 0
    assert place.lists("new") == ["1.json"]
    assert "inbox is full" in place.spool.problem

    place.box.is_full = False
    assert place.spool.drain_once() == 1
    assert place.spool.problem == ""


def test_a_closed_door_is_no_reason_to_fail_a_file(place: Place) -> None:
    place.door = None
    place.drop("1.json")
    place.spool.drain_once()

    assert place.lists("new") == ["1.json"]
    assert "leaving" in place.spool.problem


@pytest.mark.bad_input("B39")
def test_a_missing_spool_is_made(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a" / "spool", lambda: door(Box()), now=lambda: NOW)

    assert spool.drain_once() == 0
    made = sorted((tmp_path / "a" / "spool").iterdir())
    assert [path.name for path in made] == ["done", "failed", "new", "tmp"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in made)


@pytest.mark.bad_input("B39")
def test_a_spool_that_was_removed_comes_back(place: Place) -> None:
    place.root.rename(place.root.with_name("elsewhere"))
    place.root.write_text("in the way")
    place.spool.drain_once()
    assert "spool" in place.spool.problem

    place.root.unlink()
    place.spool.drain_once()
    assert place.spool.problem == ""


@pytest.mark.bad_input("B39")
def test_a_spool_that_is_read_only_takes_nothing_and_heals(place: Place) -> None:
    """What could not be moved away would be taken again and again."""
    place.drop("1.json")
    (place.root / "new").chmod(0o500)
    with obeyed():
        assert place.spool.drain_once() == 0
    assert place.box.kept == []
    assert place.spool.problem.startswith("spool: ")
    assert "readable and writable" in place.spool.problem

    (place.root / "new").chmod(0o700)
    assert place.spool.drain_once() == 1
    assert place.spool.problem == ""


def test_orphans_in_tmp_are_removed_after_a_day_and_a_half(place: Place) -> None:
    (place.root / "tmp" / "orphan").write_bytes(b"")
    place.now = datetime.now(NOW.tzinfo) + timedelta(hours=35)
    place.spool.drain_once()
    assert place.lists("tmp") == ["orphan"]

    place.now += timedelta(hours=2)
    place.spool.drain_once()
    assert place.lists("tmp") == []


def test_of_done_only_the_newest_and_the_young_are_kept(place: Place) -> None:
    for number in range(5):
        place.drop(f"{number}.json")
        place.spool.drain_once()
    folder = SpoolFolder(place.root)
    now = datetime.now(NOW.tzinfo)

    folder.sweep(now, timedelta(days=7), 3)
    assert place.lists("done")[-3:] == ["2.json", "3.json", "4.json"]
    folder.sweep(now + timedelta(days=8), timedelta(days=7), 3)
    assert place.lists("done") == []


def test_the_thread_takes_what_comes_and_stops(place: Place) -> None:
    place.spool.start()
    place.drop("1.json")
    seen = threading.Event()
    for _ in range(200):
        if place.lists("done") or seen.wait(0.05):
            break
    place.spool.stop()

    assert place.lists("done") == ["1.json"]


def test_killed_between_promise_and_move_the_file_is_taken_again_and_changes_nothing(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path / "spool")
    place.drop("1.json", json.dumps(group(alert())).encode())
    killed = subprocess.run(
        [sys.executable, "-m", "tests.intake.killed_spool", str(tmp_path)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert place.lists("new") == ["1.json"]

    with Inbox(tmp_path / "inbox.sqlite", now=lambda: NOW) as inbox:
        assert killed_spool.spool(tmp_path, inbox).drain_once() == 1
        [entry] = inbox.list()
        [stored] = inbox.alerts(entry.id)

    assert (entry.alerts, stored.count) == (1, 2)
    assert place.lists("done") == ["1.json"]


def test_errors_of_the_disk_name_the_place(place: Place) -> None:
    (place.root / "done").rmdir()
    (place.root / "done").write_text("in the way")
    place.spool.drain_once()

    assert os.strerror(errno.EEXIST) in place.spool.problem
    assert "done" in place.spool.problem

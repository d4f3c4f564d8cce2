"""What goes wrong with the file: each time a plain refusal, and later the inbox is well again."""

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from copilot.errors import InboxError
from copilot.inbox.inbox import Inbox
from copilot.inbox.sqlite import SqliteFile
from copilot.inbox.values import Taken
from copilot.inbox.writer import Writer
from tests import permissions
from tests.inbox.arrivals import RULES, Clock, arrival
from tests.inbox.conftest import Open


@pytest.fixture
def writer(file: Path, clock: Clock) -> Iterator[Writer]:
    """Return the writer of a new file; it waits for no lock and looks often whether it is well."""
    database = SqliteFile(file, clock, patience_s=0.01)
    made = Writer(database, RULES, clock, heal_every_s=0.01)
    yield made
    made.shut()
    database.close()


@pytest.fixture
def other(file: Path, writer: Writer) -> Iterator[sqlite3.Connection]:
    """Return a connection of another process to the same file."""
    assert not writer.trouble
    connection = sqlite3.connect(file, isolation_level=None)
    yield connection
    connection.close()


def until_well(writer: Writer) -> None:
    """Wait until the writer has no trouble."""
    end = time.monotonic() + 60
    pause = threading.Event()
    while writer.trouble:
        assert time.monotonic() < end, writer.trouble
        pause.wait(0.005)


@pytest.mark.parametrize("mask", [0o000, 0o022])
@pytest.mark.bad_input("B88")
def test_only_its_owner_can_read_the_file_and_its_log(file: Path, opened: Open, mask: int) -> None:
    before = os.umask(mask)
    try:
        opened(file).accept([arrival()])
    finally:
        os.umask(before)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert modes == dict.fromkeys(["inbox.sqlite", "inbox.sqlite-wal", "inbox.sqlite-shm"], 0o600)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_shut_to_them(file: Path, opened: Open) -> None:
    opened(file).shut()
    file.chmod(0o644)

    opened(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_every_commit_is_synced(file: Path, writer: Writer) -> None:
    del writer
    database = SqliteFile(file, Clock())

    with database.connect() as connection:
        synced = connection.exec_driver_sql("PRAGMA synchronous").scalar()
        journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar()

    database.close()
    assert (synced, journal) == (2, "wal")


def test_a_locked_file_refuses_and_heals_without_another_post(
    writer: Writer, other: sqlite3.Connection
) -> None:
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(InboxError, match=r"locked.*send it again") as refused:
        writer.accept([arrival()])
    other.execute("ROLLBACK")
    until_well(writer)

    assert refused.value.retryable
    assert writer.accept([arrival()])[0].outcome == "opened"


def test_nothing_of_a_refused_batch_is_kept(writer: Writer, other: sqlite3.Connection) -> None:
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(InboxError):
        writer.accept([arrival("wf_1"), arrival("wf_2")])

    other.execute("ROLLBACK")
    until_well(writer)
    assert other.execute("SELECT count(*) FROM alerts").fetchone() == (0,)


def test_a_full_file_refuses_and_heals_when_there_is_room(file: Path, clock: Clock) -> None:
    is_full = [True]

    class SmallDisk(SqliteFile):
        """A file that has no room for another page, for a while."""

        def _open_to_write(self) -> sqlite3.Connection:
            connection = super()._open_to_write()
            if is_full[0] and connection.execute("PRAGMA page_count").fetchone()[0] > 5:
                connection.execute("PRAGMA max_page_count=1")
            return connection

    with Inbox(file, RULES, now=clock) as inbox:
        inbox.accept([arrival()])
    database = SmallDisk(file, clock)
    writer = Writer(database, RULES, clock, heal_every_s=0.01)
    many = [arrival(f"wf_{number}") for number in range(200)]

    with pytest.raises(InboxError, match="disk is full"):
        writer.accept(many)
    is_full[0] = False
    until_well(writer)

    assert len(writer.accept(many)) == 200
    writer.shut()
    database.close()


@pytest.mark.parametrize("damage", ["head", "middle", "cut"])
def test_a_damaged_file_is_moved_aside_and_a_new_one_is_begun(
    file: Path, opened: Open, clock: Clock, damage: str
) -> None:
    inbox = opened(file)
    inbox.accept([arrival(f"wf_{number}") for number in range(300)])
    inbox.shut()
    whole = file.read_bytes()
    half = len(whole) // 2
    file.write_bytes({
        "head": b"not a database" + whole[14:],
        "middle": whole[:8192] + b"\xa5" * half + whole[8192 + half :],
        "cut": whole[:half],
    }[damage])  # fmt: skip

    inbox = opened(file)

    assert inbox.list() == []
    assert inbox.moved_aside == f"{file}.damaged-{clock():%Y%m%dT%H%M%S}"
    assert Path(inbox.moved_aside).stat().st_size > 0
    assert inbox.accept([arrival()])[0].outcome == "opened"


def test_an_empty_file_is_an_empty_inbox(file: Path, opened: Open) -> None:
    file.parent.mkdir()
    file.touch()

    inbox = opened(file)

    assert (inbox.moved_aside, inbox.list()) == ("", [])


def test_a_file_that_is_deleted_while_in_use_acknowledges_nothing_more(
    file: Path, opened: Open
) -> None:
    inbox = opened(file)
    inbox.accept([arrival("wf_1")])
    inbox.list()
    file.unlink()

    with pytest.raises(InboxError, match="moved or deleted"):
        inbox.accept([arrival("wf_2")])

    again = inbox.accept([arrival("wf_2")])
    assert again == [Taken(inbox.list()[0].id, "opened")]
    inbox.shut()
    assert [entry.title for entry in opened(file).list()] == ["wf_2 stalled"]


def test_a_file_of_a_newer_copilot_is_left_alone(file: Path, opened: Open) -> None:
    opened(file).shut()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE about SET value = '99' WHERE name = 'version'")
    connection.close()

    with pytest.raises(InboxError, match="another version of copilot") as refused:
        opened(file)

    assert not refused.value.retryable


def test_a_place_that_cannot_be_written_is_refused_at_the_start(file: Path, opened: Open) -> None:
    file.parent.mkdir(mode=0o500)

    with permissions.obeyed(), pytest.raises(InboxError, match="the folder must be writable"):
        opened(file)


def test_a_folder_where_the_file_should_be_is_refused_at_the_start(
    file: Path, opened: Open
) -> None:
    file.mkdir(parents=True)

    with pytest.raises(InboxError, match="cannot be opened as the inbox"):
        opened(file)


def test_a_server_that_is_not_there_is_refused_without_its_password(opened: Open) -> None:
    with pytest.raises(InboxError, match="cannot be opened as the inbox") as refused:
        opened("postgresql://copilot:hunter2@127.0.0.1:1/inbox")

    assert "hunter2" not in str(refused.value)
    assert refused.value.retryable


def test_a_trouble_is_logged_once_and_so_is_its_end(
    writer: Writer, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    other.execute("BEGIN IMMEDIATE")

    for _ in range(3):
        with pytest.raises(InboxError):
            writer.accept([arrival()])
    other.execute("ROLLBACK")
    until_well(writer)

    assert [record.message.split("=")[0] for record in caplog.records] == [
        "inbox trouble", "inbox healed",
    ]  # fmt: skip

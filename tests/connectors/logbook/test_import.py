"""Importing: once, again, in place of an older copy, and through a kill."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.embedded_logbook import EmbeddedLogbook, Imported, Refused
from connectors.embedded_logbook.store import writing
from connectors.logbook import Filters, Search
from copilot.errors import ConnectorError, ImportRefusedError
from copilot.window import ALWAYS
from tests.connectors.logbook.conftest import Add

LINES = ["2024-01-01 10:00:00Z INFO a.B: one", "2024-01-01 10:00:01Z ERROR a.B: two"]


def total(book: EmbeddedLogbook, text: str = "") -> int:
    return book.search(Search(Filters(text=text))).total.value


def test_an_import_says_what_it_did(add: Add) -> None:
    done = add(["early", *LINES, "", "loose"])

    assert done == Imported("app.log", 4, 5, 1, 1, {}, unchanged=False)


def test_the_same_file_again_changes_nothing(book: EmbeddedLogbook, add: Add) -> None:
    first = add(LINES)
    before = book.path.read_bytes()

    again = add(LINES)

    assert again.unchanged
    assert (again.entries, again.lines) == (first.entries, first.lines)
    assert book.path.read_bytes() == before


def test_new_content_takes_the_place_of_the_old(book: EmbeddedLogbook, add: Add) -> None:
    add(LINES)
    add(["another"], "other.log")

    add([*LINES[:1], '{"msg": "a\\nnew \\u001b[31mthing"}', "\x1b[31mred\x1b[0m"])
    add(["2024-01-01 10:00:05Z WARN a.B: three"])

    assert total(book) == 2
    assert [total(book, word) for word in ("two", "red", "thing", "three", "another")] == [
        0,
        0,
        0,
        1,
        1,
    ]
    assert dict(book.overview(ALWAYS, Filters(), None).levels) == {"WARN": 1, "": 1}


def test_a_refused_new_version_leaves_the_old_one(book: EmbeddedLogbook, add: Add) -> None:
    add(LINES)

    with pytest.raises(ImportRefusedError):
        add(b"\x7fELF")

    assert total(book, "two") == 1


def test_a_source_can_be_forgotten(book: EmbeddedLogbook, add: Add) -> None:
    add(LINES)
    book.remove("app.log")

    assert total(book) == 0
    assert book.sources() == ()


def test_a_folder_gives_sources_named_from_the_root(
    book: EmbeddedLogbook, put: Callable[[str, str], Path], tmp_path: Path
) -> None:
    root = put("logs/a.log", "a\n").parents[1]
    put("logs/deep/b.log", "b\n")
    put("logs/.hidden", "c\n")
    put("logs/bad.bin", "\x7fELF")
    (root / "logs" / "link.log").symlink_to("/etc/hostname")

    done = list(book.import_files([root / "logs", tmp_path / "none.log"], root))

    assert [item.source for item in done] == [
        "logs/a.log",
        "logs/bad.bin",
        "logs/deep/b.log",
        "none.log",
    ]
    assert [type(item) for item in done] == [Imported, Refused, Imported, Refused]


def test_two_writers_at_once_are_refused_with_a_hint(book: EmbeddedLogbook, add: Add) -> None:
    add(LINES)

    with writing(book.path), pytest.raises(ConnectorError, match="another import") as caught:
        add(["x"], "x.log")

    assert caught.value.retryable


def test_readers_see_the_old_state_while_an_import_runs(book: EmbeddedLogbook, add: Add) -> None:
    add(LINES)

    with writing(book.path) as store:
        store.execute("BEGIN IMMEDIATE")
        store.execute("DELETE FROM entry")
        assert total(book) == 2
        store.execute("ROLLBACK")


def test_the_store_is_for_its_owner_only(book: EmbeddedLogbook, add: Add) -> None:
    add(LINES)

    assert book.path.stat().st_mode & 0o077 == 0


def test_a_store_of_another_version_is_refused(book: EmbeddedLogbook, add: Add) -> None:
    add(LINES)
    with writing(book.path) as store:
        store.execute("PRAGMA user_version = 99")

    with pytest.raises(ConnectorError, match="another version"):
        total(book)


KILLED = """
import os, signal, sys
from pathlib import Path
from connectors.embedded_logbook import EmbeddedLogbook, writer

write = writer.Writer.write
def write_then_die(self, chunk):
    write(self, chunk)
    if self.entries > 30_000:
        os.kill(os.getpid(), signal.SIGKILL)
writer.Writer.write = write_then_die
EmbeddedLogbook(Path(sys.argv[1])).import_file(Path(sys.argv[2]), "app.log")
"""


def test_a_kill_in_the_middle_of_an_import_leaves_the_old_state(
    book: EmbeddedLogbook, add: Add, put: Callable[[str, str], Path]
) -> None:
    add(LINES)
    large = put("large.log", "".join(f"2024-01-01 11:00:00Z INFO new {n}\n" for n in range(60_000)))

    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(book.path), str(large)],
        cwd=Path(__file__).parents[3],
        check=False,
    )

    assert run.returncode == -signal.SIGKILL
    assert total(book) == 2
    assert total(book, "new") == 0
    assert book.import_file(large, "app.log").entries == 60_000
    assert total(book) == 60_000


def test_files_of_the_same_time_share_its_millisecond(book: EmbeddedLogbook, add: Add) -> None:
    for name in ("b.log", "a.log", "c.log"):
        add([LINES[0]] * 3, name)
    add([LINES[0]] * 4, "a.log")

    found = book.search(Search(order="oldest"))

    assert [(entry.source, entry.line) for entry in found.entries] == [
        ("a.log", 1), ("a.log", 2), ("a.log", 3), ("a.log", 4),
        ("b.log", 1), ("b.log", 2), ("b.log", 3), ("c.log", 1), ("c.log", 2), ("c.log", 3),
    ]  # fmt: skip


def test_a_full_millisecond_overflows_into_the_next(
    book: EmbeddedLogbook, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    from connectors.embedded_logbook import writer

    monkeypatch.setattr(writer, "PLACES", 4)
    monkeypatch.setattr(writer, "PLACE_BITS", 2)

    for name in ("a.log", "b.log"):
        add(["2024-01-01 10:00:00.000Z x"] * 6 + ["2024-01-01 10:00:00.001Z y"] * 6, name)

    assert total(book) == 24

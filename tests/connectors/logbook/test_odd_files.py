"""Files that are not what they seem: refused as a whole, or imported with a count of oddities."""

import gzip
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.logbook import Filters, Search
from copilot.errors import ConnectorError, ImportRefusedError
from tests.connectors.logbook.conftest import Add
from tests.permissions import obeyed

Put = Callable[[str, str | bytes], Path]


def stored(book: EmbeddedLogbook) -> int:
    return book.search(Search()).total.value


def test_a_truncated_gz_is_refused_and_nothing_is_kept(book: EmbeddedLogbook, add: Add) -> None:
    add("kept\n", "kept.log")
    noise = random.Random(1)
    whole = gzip.compress("".join(f"{noise.random()}\n" for _ in range(50_000)).encode())

    with pytest.raises(ImportRefusedError, match="cut short or damaged"):
        add(whole[: len(whole) // 2], "cut.log.gz")

    assert stored(book) == 1
    assert [done.source for done in book.sources()] == ["kept.log"]


def test_a_gz_counts_its_unpacked_lines(add: Add) -> None:
    assert add(gzip.compress(b"a\nb\nc"), "a.log.gz").lines == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (random.Random(2).randbytes(5_000), "binary"),
        (b"\x7fELF\x02\x01\x01", "a program"),
        (b"PK\x03\x04 rest", "a zip archive"),
        (b"BZh91AY&SY", "bzip2"),
        ("text".encode("utf-16"), "UTF-16"),
        (b"a\x00" * 500, "binary"),
    ],
)
def test_what_is_no_text_is_refused(
    book: EmbeddedLogbook, add: Add, content: bytes, reason: str
) -> None:
    with pytest.raises(ImportRefusedError, match=reason):
        add(content, "odd.log")

    assert book.sources() == ()


def test_a_folder_a_pipe_and_a_socket_are_refused_without_waiting(
    book: EmbeddedLogbook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for name in (".", "pipe", "socket", "missing", "n" * 300):
            with pytest.raises(ImportRefusedError):
                book.import_file(tmp_path / name, "x")


def test_a_file_without_permission_is_refused(book: EmbeddedLogbook, put: Put) -> None:
    path = put("a.log", "x\n")
    path.chmod(0)

    with obeyed(), pytest.raises(ImportRefusedError, match="permission"):
        book.import_file(path, "a.log")


def test_an_empty_file_is_imported_with_no_entries(book: EmbeddedLogbook, add: Add) -> None:
    done = add("", "empty.log")

    assert (done.entries, done.lines, stored(book)) == (0, 0, 0)
    assert add("", "empty.log").unchanged


@pytest.mark.bad_input("B73")
def test_bytes_that_are_no_utf8_and_nul_are_imported_and_counted(
    book: EmbeddedLogbook, add: Add
) -> None:
    done = add(b"\xef\xbb\xbfcaf\xe9 \xe2\x82\xac\n" + b"nul \x00 here\n\x1b[31mred\x1b[0m\na\rb\n")

    found = book.search(Search(order="oldest"))
    assert [entry.message for entry in found.entries] == [
        "café €",
        "nul ␀ here",
        "\x1b[31mred\x1b[0m",
        "a\rb",
    ]
    assert done.flagged == {
        "ansi": 1,
        "byte_order_mark": 1,
        "carriage_return": 1,
        "invalid_utf8": 1,
        "nul": 1,
    }
    assert book.search(Search(Filters(text="red"))).total.value == 1


@pytest.mark.bad_input("B71")
def test_a_line_of_200_mb_keeps_memory_flat_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    block = b"abcdefgh " * 116_509  # just over 1 MB
    with path.open("wb") as out:
        for _ in range(200):
            out.write(block)
        out.write(b"\nlast\n")
    program = (
        "import re; from pathlib import Path\n"
        "from connectors.embedded_logbook import EmbeddedLogbook\n"
        f"done = EmbeddedLogbook(Path({str(tmp_path / 'l.db')!r})).import_file(Path({str(path)!r}), 'l')\n"
        # Not ru_maxrss: that one begins with the size of the process that started this one.
        "peak = re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())\n"
        "print(done.lines, done.entries, int(peak[1]) // 1024)\n"
    )

    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )

    lines, entries, megabytes = map(int, run.stdout.split())
    assert lines == 2
    assert entries > 200
    assert megabytes < 300


def test_a_name_that_is_no_utf8_gets_a_source_name(book: EmbeddedLogbook, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.log")
    path.write_text("x\n")

    [done] = book.import_files([path], tmp_path)

    assert done.source == "caf?.log"


def test_before_any_import_a_read_says_what_to_do(book: EmbeddedLogbook) -> None:
    with pytest.raises(ConnectorError, match="copilot logbook import FILE"):
        book.search(Search())


def test_a_damaged_store_is_named(book: EmbeddedLogbook, add: Add) -> None:
    add("x\n")
    book.path.write_bytes(b"no database at all" * 100)

    with pytest.raises(ConnectorError, match="could not be used"):
        book.search(Search())

"""The bytes of one file, unpacked; refuses what is not a readable log before anything is kept.

Never hangs: a pipe or a socket is recognised before it is read.
"""

import gzip
import hashlib
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from copilot.errors import ImportRefusedError

BLOCK = 1 << 20
SAMPLE = 64 << 10
GZIP = b"\x1f\x8b"
PACKED = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"SQLite format 3": "a SQLite database",
    b"\x7fELF": "a program",
    b"%PDF": "a PDF",
}
Bytes = io.BufferedReader | gzip.GzipFile

WIDE = (b"\xff\xfe", b"\xfe\xff")
TEXT_CONTROLS = frozenset(b"\x00\t\n\r\f\v\b\x1b")
"""Control bytes that real logs hold; NUL too, where a file was written through a crash."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An open file: its unpacked bytes, when it was last written, and its beginning."""

    stream: Bytes
    written: datetime
    sample: bytes


def digest(path: Path) -> str:
    """The SHA-256 of the file as it lies on disk. Raises ImportRefusedError."""
    with _regular(path) as raw:
        try:
            return hashlib.file_digest(raw, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(path, error) from error


@contextmanager
def open_log(path: Path) -> Iterator[Opened]:
    """The file at *path*, unpacked when it is gzip. Raises ImportRefusedError, also while reading.

    The caller reads inside the block, so that a damaged archive is refused in the same words.
    """
    with _regular(path) as raw:
        written = datetime.fromtimestamp(max(0.0, os.fstat(raw.fileno()).st_mtime), UTC)
        try:
            packed = raw.read(2) == GZIP
            raw.seek(0)
            stream: Bytes = gzip.GzipFile(fileobj=raw) if packed else raw
            sample = stream.read(SAMPLE)
            stream.seek(0)
            refuse_binary(path, sample)
            yield Opened(stream, written, sample)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ImportRefusedError(
                f"{path}: the gzip archive is cut short or damaged ({error}); nothing of it was "
                "kept. Copy the file again, or unpack what is left and import that"
            ) from error
        except OSError as error:
            raise _unreadable(path, error) from error


def refuse_binary(path: Path, sample: bytes) -> None:
    """Raise ImportRefusedError when *sample*, the beginning of a file, is not text."""
    for magic, name in PACKED.items():
        if sample.startswith(magic):
            raise ImportRefusedError(f"{path} is {name}, not a log; unpack it and import the text")
    if sample.startswith(WIDE):
        raise ImportRefusedError(
            f"{path} is UTF-16 text; convert it first: iconv -f utf-16 -t utf-8 FILE"
        )
    odd = sum(byte < 32 and byte not in TEXT_CONTROLS for byte in sample)
    if odd > 4 + len(sample) // 20 or sample.count(0) > len(sample) // 3:
        raise ImportRefusedError(
            f"{path} holds binary data, not lines of text; it was not imported"
        )


@contextmanager
def _regular(path: Path) -> Iterator[io.BufferedReader]:
    """The raw file, proven to be a regular one before a byte is read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        with os.fdopen(descriptor, "rb") as raw:
            yield raw
        return
    os.close(descriptor)
    kind = "a folder; name its files, or import the folder" if stat.S_ISDIR(mode) else "not a file"
    raise ImportRefusedError(f"{path} is {kind} (pipes, sockets and devices are not read)")


def _unreadable(path: Path, error: Exception) -> ImportRefusedError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ImportRefusedError(f"cannot read {path}: {reason}; check the name and its permissions")

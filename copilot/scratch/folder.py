"""The only place that opens files of scratch. Every name is resolved below an open directory.

A link, a FIFO, a device or a second name of another file planted in the folder is never opened:
names are refused unless they are plain, links are not followed, and what was opened must be a
regular file with one name (after the filesystem server's CVE-2025-53109 and 53110).
"""

import contextlib
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from copilot.errors import ScratchError
from copilot.file_start import file_start

INCIDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
FILE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9._-]{0,127}", re.ASCII)
TEMPORARY = ".tmp-"
LOCK = ".lock"
ROWS = ".jsonl"
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def opened(root: Path, incident: str, *, create: bool) -> Iterator[int]:
    """The descriptor of the incident's folder, made when *create*. Raises ScratchError.

    FileNotFoundError when there is none and it is not to be made.
    """
    if not INCIDENT.fullmatch(incident):
        raise ScratchError(f"{incident[:60]!r} cannot name a folder of scratch")
    if create:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (root / incident).mkdir(mode=0o700)
    try:
        descriptor = os.open(root / incident, DIRECTORY)
    except NotADirectoryError:
        raise ScratchError(
            f"{root / incident} is a link or a file, not a folder; move it away and try again"
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(folder: int, name: str) -> int:
    """The descriptor of a regular file in *folder*, for reading. The caller closes it.

    Raises FileNotFoundError when it is not there, ScratchError when it is not what we wrote.
    """
    if not FILE.fullmatch(name):
        raise ScratchError(f"{name[:60]!r} cannot name a file of scratch")
    try:
        descriptor = os.open(name, READ, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ScratchError(f"{name} in scratch cannot be opened: {error.strerror}") from None
    try:
        _check_plain(descriptor, name)
    except ScratchError:
        os.close(descriptor)
        raise
    return descriptor


def read_file(folder: int, name: str, limit_bytes: int) -> bytes:
    """The whole content of a small file. Raises as `open_file`, and when it is too large."""
    with open(open_file(folder, name), "rb") as file:
        content = file_start(file.fileno(), limit_bytes + 1)
    if len(content) > limit_bytes:
        raise ScratchError(f"{name} in scratch is larger than {limit_bytes} bytes; not ours")
    return content


@contextlib.contextmanager
def draft(folder: int) -> Iterator[tuple[int, str]]:
    """A new private file to write to and its temporary name; gone afterwards unless renamed."""
    name = f"{TEMPORARY}{secrets.token_hex(8)}"
    descriptor = os.open(name, WRITE, 0o600, dir_fd=folder)
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def locked(folder: int) -> Iterator[int]:
    """The folder's lock file, held. Other threads and processes wait."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(LOCK, flags, 0o600, dir_fd=folder)
    try:
        _check_plain(descriptor, LOCK)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _check_plain(descriptor: int, name: str) -> None:
    """Raise ScratchError unless it is a regular file that has no other name."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise ScratchError(
            f"{name} in scratch is not a plain file of ours (a link or a device was put in its "
            "place); a person should look, then run the search again"
        )


def size(folder: int) -> int:
    """The bytes of all rows in *folder*."""
    with os.scandir(folder) as entries:
        return sum(
            entry.stat(follow_symlinks=False).st_size
            for entry in entries
            if entry.name.endswith(ROWS)
        )


def size_of_all(root: Path) -> int:
    """The bytes of all rows of all incidents."""
    total = 0
    for incident in root.iterdir():
        with (
            contextlib.suppress(ScratchError, FileNotFoundError),
            opened(root, incident.name, create=False) as folder,
        ):
            total += size(folder)
    return total

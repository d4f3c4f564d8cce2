"""The files of one incident on disk: read without following links, replaced in one step.

A file is there whole, in its old or its new form, whenever a process or the power dies. Only names
of ours are ever opened, so no name can lead out of the folder.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from copilot.errors import NotesError, NotFoundError
from copilot.file_start import file_start
from copilot.safe_text import safe_text

INCIDENT = re.compile(r"[a-z0-9-]{1,64}")
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}")
LIMIT_FILE_BYTES = 16 * 1024 * 1024
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def check_incident(name: str) -> str:
    """The name, when it can be an incident's. Raises NotFoundError."""
    if not INCIDENT.fullmatch(name):
        raise NotFoundError(
            f"no such incident: {safe_text(name, limit=80)!r}; "
            "`copilot incidents list` shows those that there are"
        )
    return name


def check_file(name: str) -> str:
    """The name, when it can be a file of an incident. Raises NotFoundError."""
    if not FILE.fullmatch(name):
        raise NotFoundError(f"no such file in the notes: {safe_text(name, limit=80)!r}")
    return name


def read_file(root: Path, incident: str, name: str, limit: int = LIMIT_FILE_BYTES) -> bytes | None:
    """The bytes of that file, or None when there is no such file.

    Raises NotesError when it is there but cannot be read, or is larger than *limit*: taking an
    unreadable file for an empty one would overwrite it.
    """
    content = read_start(root, incident, name, limit + 1)
    if content is not None and len(content) > limit:
        raise NotesError(
            f"{incident}/{name} is larger than {limit} bytes; shorten it by hand, the old text "
            "stays in `git log`"
        )
    return content


def read_start(root: Path, incident: str, name: str, count: int) -> bytes | None:
    """The first *count* bytes of that file, or None when there is no such file."""
    path = f"{check_incident(incident)}/{check_file(name)}"
    try:
        with _opened(root, incident) as folder, open_at(folder, name) as file:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise NotesError(f"{path} is not a regular file; move it away")
            return file_start(file, count)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotesError(
            f"cannot read {path} in the notes: {error.strerror}; nothing was changed"
        ) from None


def put_file(root: Path, incident: str, name: str, ready: Path) -> None:
    """Move the synced file *ready* into its place, and sync the folder that names it."""
    folder_path = root / check_incident(incident)
    if not folder_path.is_dir():
        folder_path.mkdir(mode=0o700)
        sync_folder(root)
    with _opened(root, incident) as folder:
        os.rename(ready, check_file(name), dst_dir_fd=folder)
        os.fsync(folder)


def write_synced(path: Path, content: bytes) -> None:
    """Write a new file, readable by its owner only, and wait until the disk has it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(file)


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names in that folder."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def open_at(folder: int, name: str) -> Iterator[int]:
    """A file of an open folder, for reading; links are not followed and nothing blocks."""
    file = os.open(name, READ, dir_fd=folder)
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def _opened(root: Path, incident: str) -> Iterator[int]:
    folder = os.open(root / incident, READ | os.O_DIRECTORY)
    try:
        yield folder
    finally:
        os.close(folder)

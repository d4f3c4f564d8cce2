"""The spool on the disk: a maildir whose files are taken from `new` into `done` or `failed`.

Whoever writes to it writes in `tmp` and renames into `new`. Names and kinds of what lies there are
the senders' choice, so nothing is opened that could block, follows a link, or is no file.
"""

import errno
import os
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import nlargest, nsmallest
from pathlib import Path

from copilot.file_start import file_start
from copilot.intake.bounds import MAX_BYTES
from copilot.values import digest

ORPHAN_AGE = timedelta(hours=36)
"""What lies in tmp for so long, nobody writes any more (the rule of maildir)."""
MOST_BYTES = 255
"""In a file's name, on every usual file system."""
NO_ALERT = {
    errno.ELOOP: "it is a symbolic link, which is not followed",
    errno.ENXIO: "it is a socket or a device, not a file",
    errno.EACCES: "it may not be read by this user",
    errno.EPERM: "it may not be read by this user",
}


class OddFileError(Exception):
    """What lies in `new` is nothing that can be read. The text says why."""


class SpoolFolder:
    """The four folders of a spool. Every method raises OSError when the disk does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._new, self._done, self._failed, self._tmp = (
            root / name for name in ("new", "done", "failed", "tmp")
        )

    def prepare(self) -> None:
        """Make the folders that are missing. Raises OSError for one that is of no use."""
        for folder in (self._tmp, self._new, self._done, self._failed):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not os.access(folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
                raise PermissionError(errno.EACCES, "it must be readable and writable", str(folder))

    def names(self, after: str, count: int) -> list[str]:
        """The next *count* names in `new` after that one, in order."""
        with os.scandir(self._new) as entries:
            return nsmallest(count, (entry.name for entry in entries if entry.name > after))

    def read(self, name: str) -> bytes:
        """What the file holds, up to one byte more than an alert may have.

        Raises OddFileError for what is no readable file, and FileNotFoundError when it is gone.
        """
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        try:
            file = os.open(self._new / name, flags)
        except OSError as error:
            if error.errno in NO_ALERT:
                raise OddFileError(NO_ALERT[error.errno]) from None
            raise
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OddFileError("it is no regular file")
            return file_start(file, MAX_BYTES + 1)
        finally:
            os.close(file)

    def done(self, name: str) -> None:
        """Move what was taken out of `new`; it replaces what had its name before."""
        try:
            self._move(name, self._done / name)
        except IsADirectoryError:
            self._move(name, self._done / _free(self._done, name))

    def fail(self, name: str, reason: str) -> None:
        """Move what cannot be taken to `failed`, with the reason in a file beside it."""
        kept = _free(self._failed, name, ".reason")
        note = self._failed / _named(kept, ".reason")
        mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(note, mode, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{reason}\n")
        self._move(name, self._failed / kept)

    def sweep(self, now: datetime, keep: timedelta, most: int) -> int:
        """Remove orphans in `tmp`, and of `done` and `failed` all but *most*; how many went."""
        return (
            _remove_older(self._tmp, (now - ORPHAN_AGE).timestamp())
            + _remove_older(self._done, _limit(self._done, now - keep, most))
            + _remove_older(self._failed, _limit(self._failed, now - keep, most))
        )

    def _move(self, name: str, target: Path) -> None:
        try:
            (self._new / name).rename(target)
        except FileNotFoundError:
            if os.path.lexists(self._new / name):
                raise


def _free(folder: Path, name: str, ending: str = "") -> str:
    """A name that nothing has in *folder*, nor with that ending: *name* where it can be."""
    count = 0
    while True:
        found = _named(name, f".{count}" if count else "")
        if not any(os.path.lexists(folder / _named(found, end)) for end in {"", ending}):
            return found
        count += 1


def _named(name: str, ending: str) -> str:
    """The name with an ending, cut so that a file system takes it."""
    room = MOST_BYTES - len(ending)
    if len(os.fsencode(name)) <= room:
        return name + ending
    mark = f"~{digest(name)[:8]}"
    return os.fsdecode(os.fsencode(name)[: room - len(mark)]) + mark + ending


def _limit(folder: Path, oldest: datetime, most: int) -> float:
    """The time from which on what lies in *folder* is kept."""
    newest = nlargest(most, (found.st_ctime for _, found in _files(folder)))
    return max(oldest.timestamp(), newest[-1] if len(newest) == most else 0.0)


def _remove_older(folder: Path, limit: float) -> int:
    removed = 0
    for path, found in _files(folder):
        if found.st_ctime < limit:
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """What lies in the folder and is no folder itself, with what is known of it.

    The time that counts is when it was put there (ctime), whatever its sender says of its age.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if not stat.S_ISDIR(found.st_mode):
                yield Path(entry.path), found

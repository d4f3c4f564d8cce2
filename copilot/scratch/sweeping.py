"""What scratch holds, for a person, and making room in it.

Only rows are removed. The small entry files stay: a swept handle then says what to search again,
and its number is never given to another result.
"""

import contextlib
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from copilot.errors import ScratchError
from copilot.scratch import folder as disk
from copilot.scratch.catalogue import replace_mark
from copilot.scratch.entries import Stored, keys_in, read_entry


@dataclass(frozen=True, slots=True)
class Listed:
    """One result as a listing shows it. `stored` is None when its entry cannot be read."""

    handle: str
    stored: Stored | None
    written: datetime | None
    """When its rows were written last; None when they were swept."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one incident has in scratch. `newest` is None when all of it was swept."""

    incident: str
    results: int
    bytes: int
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep removed."""

    files: int
    bytes: int


def listing(root: Path, incident: str) -> tuple[Listed, ...]:
    """Every result of *incident* in order of its handle. An unknown incident has none."""
    with (
        contextlib.suppress(FileNotFoundError),
        disk.opened(root, incident, create=False) as folder,
    ):
        times = {name: entry.st_mtime for name, entry in _rows(folder)}
        listed = []
        for handle, key in keys_in(folder).items():
            stored = None
            with contextlib.suppress(ScratchError):
                stored = read_entry(folder, handle)
            time = times.get(f"{handle}-{key}{disk.ROWS}")
            listed.append(Listed(handle, stored, _instant(time) if time else None))
        return tuple(listed)
    return ()


def usage(root: Path) -> tuple[Usage, ...]:
    """What each incident has in scratch, sorted by name."""
    found = []
    for incident, folder in _incidents(root):
        rows = [entry for _, entry in _rows(folder)]
        newest = max((entry.st_mtime for entry in rows), default=None)
        size = sum(entry.st_size for entry in rows)
        instant = None if newest is None else _instant(newest)
        found.append(Usage(incident, len(keys_in(folder)), size, instant))
    return tuple(found)


def sweep(root: Path, *, older_than: datetime, keep: Collection[str]) -> Swept:
    """Remove the rows last written before *older_than*, except those of the incidents in *keep*.

    What interrupted writers left behind goes too, by the same age.
    """
    limit = older_than.timestamp()
    files = size = 0
    for incident, folder in _incidents(root):
        with disk.locked(folder) as lock:
            replace_mark(lock)
            for name, entry in _files(folder):
                old = entry.st_mtime < limit
                swept = name.endswith(disk.ROWS) and incident not in keep
                if old and (swept or name.startswith(disk.TEMPORARY)):
                    os.unlink(name, dir_fd=folder)
                    files += 1
                    size += entry.st_size
            os.fsync(folder)
    return Swept(files, size)


def _incidents(root: Path) -> Iterator[tuple[str, int]]:
    """Every incident with its open folder. What is not a plain folder is passed over."""
    names = sorted(entry.name for entry in root.iterdir()) if root.is_dir() else []
    for name in names:
        with (
            contextlib.suppress(ScratchError, FileNotFoundError),
            disk.opened(root, name, create=False) as folder,
        ):
            yield name, folder


def _rows(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    return ((name, entry) for name, entry in _files(folder) if name.endswith(disk.ROWS))


def _files(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    for name in sorted(os.listdir(folder)):
        with contextlib.suppress(FileNotFoundError):
            entry = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(entry.st_mode):
                yield name, entry


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)

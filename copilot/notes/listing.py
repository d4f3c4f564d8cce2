"""Which incidents there are, from the heads of their STATE.md. Needs neither git nor lock."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from copilot.errors import NotesError
from copilot.notes.folder import INCIDENT, read_start
from copilot.notes.front import Front, front_end, is_title, parse_front, read_title

STATE = "STATE.md"
LIMIT_HEAD_BYTES = 8 * 1024
"""Enough for any front matter of ours but one with very many labels."""
LIMIT_LONG_HEAD_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Listing:
    """The incidents, last updated first, and the folders whose STATE.md could not be read."""

    incidents: tuple[Front, ...]
    unreadable: tuple[str, ...] = ()


def list_incidents(root: Path) -> Listing:
    """Every incident below *root* that has a STATE.md."""
    fronts: list[Front] = []
    unreadable: list[str] = []
    for name in folders(root):
        try:
            front = read_front(root, name)
        except NotesError:
            unreadable.append(name)
        else:
            fronts += [front] if front else []
    oldest = datetime.min.replace(tzinfo=UTC)
    fronts.sort(key=lambda one: (one.updated or one.started or oldest, one.incident), reverse=True)
    return Listing(tuple(fronts), tuple(sorted(unreadable)))


def list_changed(root: Path, since: float) -> tuple[list[Front], float]:
    """The incidents whose STATE.md was written at or after *since*, and when the newest one was.

    Both are seconds on the clock of the folder, which on a network is not our own.
    """
    fronts: list[Front] = []
    newest = since
    for name in folders(root):
        try:
            written = (root / name / STATE).lstat().st_mtime
            front = read_front(root, name) if written >= since else None
        except (NotesError, OSError):
            continue  # `list_incidents` tells of it
        newest = max(newest, written)
        fronts += [front] if front else []
    return fronts, newest


def read_front(root: Path, incident: str) -> Front | None:
    """The head of that incident's STATE.md, or None when there is none."""
    for count in (LIMIT_HEAD_BYTES, LIMIT_LONG_HEAD_BYTES):
        start = read_start(root, incident, STATE, count)
        if start is None:
            return None
        lines = start.decode("utf-8", "replace").split("\n")
        end = front_end(lines)
        title = next((read_title(line) for line in lines[end:] if is_title(line)), "")
        front, _, _ = parse_front(lines, {"incident": incident, "title": title})
        if end or len(start) < count:
            break
    return front


def folders(root: Path) -> Iterator[str]:
    """The names of the folders that can be incidents."""
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if INCIDENT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    yield entry.name
    except FileNotFoundError:
        return
    except OSError as error:
        raise NotesError(f"cannot list the notes in {root}: {error.strerror}") from None

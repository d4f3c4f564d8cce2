"""The append-only record of one investigation: one JSON line an event, synced before it counts.

Raw model answers are stored as received and never edited. A process that was killed leaves at
most one torn last line; the next one to open the file cuts it off, because nothing acted on it.
One process writes at a time: the file itself is the lock.
"""

import errno
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from copilot.errors import CopilotError
from copilot.values import JsonObject, compact
from copilot.window import iso, parse_iso

Kind = Literal[
    "started", "support", "request", "response", "result", "nudge", "state", "clear", "compact",
    "limit", "commit", "report", "ended",
]  # fmt: skip


class JournalError(CopilotError):
    """A journal is damaged, or another process is writing it."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. Sequence numbers start at 1 and have no holes."""

    seq: int
    time: datetime
    kind: Kind
    turn: int
    data: JsonObject

    def line(self) -> str:
        """The event as the journal stores it, without the newline."""
        head: JsonObject = {
            "seq": self.seq,
            "time": iso(self.time),
            "kind": self.kind,
            "turn": self.turn,
        }
        return compact(head | {"data": self.data})


class Journal:
    """The events of one investigation, in order, and the way to add one."""

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], datetime],
        observe: Callable[[Event], None] = lambda _: None,
    ) -> None:
        """Open or begin the journal at *path*. Raises JournalError when another process has it."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = path
        self._now = now
        self._observe = observe
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise JournalError(
                f"another process is writing {path.name}; wait for it, or stop it first"
            ) from None
        _sync_folder(path.parent)
        self._events, whole = _read(path)
        if whole < os.fstat(self._file).st_size:
            os.ftruncate(self._file, whole)
        os.lseek(self._file, 0, os.SEEK_END)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go; safe to call twice."""
        with suppress(OSError):
            os.close(self._file)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything recorded so far, oldest first."""
        return tuple(self._events)

    def append(self, kind: Kind, turn: int, data: JsonObject) -> Event:
        """Record one event and return it; when this returns, the event survives a power cut."""
        event = Event(len(self._events) + 1, self._now(), kind, turn, data)
        line = f"{event.line()}\n".encode("utf-8", "replace")
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            self._write(line)
        except OSError as error:
            # What was not synced is not in the journal: a torn line must not stand before others.
            with suppress(OSError):
                os.ftruncate(self._file, end)
            raise JournalError(
                f"{self.path} cannot be written ({error.strerror}); "
                "mend that and run the same command again, it resumes"
            ) from error
        self._events.append(event)
        self._observe(event)
        return event

    def _write(self, line: bytes) -> None:
        """Write the whole line and sync it. Raises OSError, also when only a part was taken."""
        if os.write(self._file, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fdatasync(self._file)

    def last(self, kind: Kind, turn: int | None = None) -> Event | None:
        """The newest event of that kind (and turn), or None."""
        for event in reversed(self._events):
            if event.kind == kind and turn in (None, event.turn):
                return event
        return None


def read_events(path: Path) -> tuple[Event, ...]:
    """The whole events of a journal that somebody else may be writing."""
    return tuple(_read(path)[0])


def of_kind(events: tuple[Event, ...], kind: Kind) -> Iterator[Event]:
    """Those events that are of *kind*, oldest first."""
    return (event for event in events if event.kind == kind)


def _sync_folder(folder: Path) -> None:
    """Make the entry of a new file survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> tuple[list[Event], int]:
    """The events and the number of bytes that hold them; a torn last line is not counted."""
    events: list[Event] = []
    whole = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            try:
                found = json.loads(line)
                event = Event(
                    found["seq"],
                    parse_iso(found["time"]),
                    found["kind"],
                    found["turn"],
                    found["data"],
                )
            except (ValueError, KeyError, TypeError):
                raise JournalError(
                    f"{path}:{len(events) + 1}: not an event; the journal was changed by hand. "
                    "Move it away and investigate again"
                ) from None
            events.append(event)
            whole += len(line)
    return events, whole

"""The append-only record of one investigation: one JSON line an event, synced before it counts.

Raw model answers are stored as received and never edited. A process that was killed leaves at
most one torn last line; the next one to open the file cuts it off, because nothing acted on it.
One process writes at a time: the file itself is the lock. A durable engine that gives an
investigation to another process takes the journal away from a frozen owner: the path gets a new
file with the same events, and what the old owner still writes goes nowhere.
"""

import errno
import fcntl
import json
import os
import tempfile
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
    """A journal is damaged, cannot be written, or another process is writing it."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class JournalTakenError(JournalError):
    """Another process goes on with this investigation; nothing more is to be done here."""


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
        take_over: bool = False,
    ) -> None:
        """Open or begin the journal at *path*.

        When another process has it, *take_over* takes it away; else raises JournalError. Only who
        knows that the other may not go on, by a lease or a queue, may take over.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = path
        self.takes_over = take_over
        self._now = now
        self._observe = observe
        self._file = _locked(path, take_over=take_over)
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
        """Record one event and return it; when this returns, the event survives a power cut.

        Raises JournalTakenError when another process has taken over: the event counts for nothing.
        """
        self.check_ours()
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
                "mend that and run the same command again, it resumes",
                retryable=True,
            ) from error
        self.check_ours()  # taken while it was written: it may not be in the copy
        self._events.append(event)
        self._observe(event)
        return event

    def check_ours(self) -> None:
        """Return while nobody else goes on with this investigation. Raises JournalTakenError."""
        if not _is_at(self.path, self._file):
            raise JournalTakenError(
                f"another process took over {self.path.name}, or it was moved away; "
                "this one stops here, and what it did until then is kept"
            )

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


class Tail:
    """Reads on in a journal that somebody else writes; one that is not there yet has no news."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0
        self._seen = 0

    def news(self) -> list[Event]:
        """The events since the last time that this was asked."""
        try:
            events, length = _read(self.path, self._read, self._seen)
        except FileNotFoundError:
            return []
        self._read += length
        self._seen += len(events)
        return events


def of_kind(events: tuple[Event, ...], kind: Kind) -> Iterator[Event]:
    """Those events that are of *kind*, oldest first."""
    return (event for event in events if event.kind == kind)


def _locked(path: Path, *, take_over: bool) -> int:
    """The open file at *path*, ours alone. Raises JournalError when it is somebody else's."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if take_over:
                return _taken(path, file)
            os.close(file)
            raise JournalError(
                f"another process is writing {path.name}; wait for it, or stop it first",
                retryable=True,
            ) from None
        if _is_at(path, file):
            return file
        os.close(file)  # taken over between the two calls: the lock is of a file that is gone


def _taken(path: Path, old: int) -> int:
    """A new file at *path* with all that *old* holds, locked; *old* is closed."""
    new, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        fcntl.flock(new, fcntl.LOCK_EX)
        copied = _copy(old, 0, new)
        os.fsync(new)
        Path(name).rename(path)
        _sync_folder(path.parent)
        # What the old owner wrote before it could see that is part of the record.
        _copy(old, copied, new)
        os.fsync(new)
    except OSError as error:
        with suppress(OSError):
            Path(name).unlink()
        os.close(new)
        raise JournalError(
            f"{path} cannot be taken over ({error.strerror}); mend that, and it is tried again"
        ) from error
    finally:
        os.close(old)
    return new


def _copy(source: int, start: int, target: int) -> int:
    """Append to *target* what *source* holds from *start* on; return where it ended."""
    while part := os.pread(source, 1 << 20, start):
        if os.write(target, part) != len(part):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        start += len(part)
    return start


def _is_at(path: Path, file: int) -> bool:
    """True when the open *file* is the one that *path* names."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(named, os.fstat(file))


def _sync_folder(folder: Path) -> None:
    """Make the entry of a new file survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, start: int = 0, seen: int = 0) -> tuple[list[Event], int]:
    """The events from byte *start* on, and the bytes that hold them; a torn last line is not one.

    *seen* is how many events stand before.
    """
    events: list[Event] = []
    whole = 0
    with path.open("rb") as file:
        file.seek(start)
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
                    f"{path}:{seen + len(events) + 1}: not an event; the journal was changed by "
                    "hand. Move it away and investigate again"
                ) from None
            events.append(event)
            whole += len(line)
    return events, whole

"""Where an engine keeps its runs, and how many it takes: settings as plain values.

Without a database URL everything is one SQLite file in a folder that one process holds by a lock.
"""

import fcntl
import os
import socket
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

from copilot.errors import EngineError, EngineHeldError

LOCAL = "local"
"""The name of the only process that may use a SQLite file: a restart is the same executor."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where runs are kept and how they are taken."""

    folder: Path
    """For the lock and, without a database, the file."""
    database: str = ""
    """A postgresql:// URL, shared by several processes; empty: a SQLite file in the folder."""
    workers: int = 4
    """Runs side by side in this process, whatever the others take."""
    workers_everywhere: int = 0
    """Runs side by side over all processes; 0: no such limit. The last one to start sets it."""
    starts_per_hour: int = 0
    """Runs begun within an hour over all processes; 0: no such limit. As above."""
    time_limit: timedelta = timedelta(hours=2)
    """Of one run from its first start, restarts included."""
    attempts: int = 100
    """Starts after which a run that always takes its process down with it is left alone."""
    lease: timedelta = timedelta(seconds=30)
    """PostgreSQL: a process silent for so long has lost its runs to the others."""
    stranded_after: timedelta = timedelta(seconds=60)
    """A run of ours that nobody runs for so long is queued again; see `patience`."""
    poll: timedelta = timedelta(milliseconds=250)
    """How often the queue is looked at."""

    @property
    def is_shared(self) -> bool:
        """True when several processes may share the work."""
        return bool(self.database)

    @property
    def patience(self) -> timedelta:
        """How long a run of ours may be run by nobody; where runs are shared, a lease at most."""
        return min(self.stranded_after, self.lease) if self.is_shared else self.stranded_after

    @property
    def file(self) -> Path:
        """Where the queue is without a database."""
        return self.folder / "engine.sqlite"

    @property
    def url(self) -> str:
        """The URL as SQLAlchemy reads it."""
        if not self.database:
            return f"sqlite:///{self.file}"
        return f"postgresql://{self.database.partition('://')[2]}"


class FolderLock:
    """The claim of one process on a folder, until it closes it or dies."""

    def __init__(self, folder: Path) -> None:
        """Take the lock at once, or raise EngineHeldError naming the process that has it."""
        self._path = folder / "daemon.lock"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EngineError(
                f"{self._path} cannot be opened ({error.strerror}); the daemon must own this folder"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._file, 20, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise EngineHeldError(
                f"{folder} is in use by another daemon (process {owner or 'unknown'}); "
                "stop that one first, or give this one a folder of its own"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Let the folder go. The file stays: removing it would let two processes hold one each."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def process_name() -> str:
    """A name that no other process has or had: host, process id and the time it was given."""
    return f"{socket.gethostname()}-{os.getpid()}-{time.time_ns() // 1_000_000}"

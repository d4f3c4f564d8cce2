"""The inbox in one SQLite file: write-ahead log, every commit synced, for one daemon.

A failed sync is never tried again on the same connection: the kernel may have dropped the pages
and would answer yes. The connection is given up; the next one first moves the whole log into the
database file, which writes every page anew, and only then takes alerts.
"""

import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, QueuePool

from copilot.errors import InboxError
from copilot.inbox.database import PATIENCE_S, create_tables, reason

LOG = logging.getLogger(__name__)
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
COMPANIONS = ("", "-wal", "-shm")
FEW_PAGES = "cache_size=-512"
"""KiB of the file that a connection keeps; the kernel keeps the rest. SQLite would take 2 MiB."""
STATEMENTS = 32
"""That a connection keeps prepared, of 5 to 25 KiB. A list of another length is another one."""


class SqliteFile:
    """The file at *path*, made when it is not there, moved aside when it is damaged."""

    def __init__(
        self, path: Path, now: Callable[[], datetime], *, patience_s: float = PATIENCE_S
    ) -> None:
        """Open the file. Raises InboxError when that cannot be."""
        self._path = path
        self._patience_s = patience_s
        self.name = str(path)
        self.moved_aside = ""
        self._inode = 0
        # The connection that was given back last: one after the other, each would fill its pages.
        self.readers = self._engine(
            self._open_to_read, "BEGIN", poolclass=QueuePool, pool_use_lifo=True
        )
        self._writers = self._engine(self._open_to_write, "BEGIN IMMEDIATE", poolclass=NullPool)
        try:
            if damage := self._damage():
                self.moved_aside = self._move_aside(now())
                LOG.error("inbox file=%s damage=%r moved_aside=%s", path, damage, self.moved_aside)
            self.connect().close()
        except (OSError, DBAPIError, sqlite3.Error) as error:
            raise InboxError(
                f"{path} cannot be opened as the inbox ({reason(error)}); "
                "the folder must be writable, with room on its disk",
                retryable=True,
            ) from error

    def connect(self) -> Connection:
        """A connection to write with; when this returns, all that was committed is synced."""
        connection = self._writers.connect()
        try:
            with connection.begin():
                create_tables(connection, self.name)
        except BaseException:
            connection.close()
            raise
        return connection

    def lock(self, connection: Connection, identities: Sequence[str]) -> None:
        """Nothing more: a transaction that writes has the whole file."""

    def check(self) -> None:
        """Raise FileNotFoundError when the file that we write is no longer at its path."""
        try:
            found = self._path.stat().st_ino
        except FileNotFoundError:
            found = -1
        if found != self._inode:
            raise FileNotFoundError(
                f"{self._path} was moved or deleted while it was in use; a new one is begun"
            )

    def close(self) -> None:
        """Let go of every connection."""
        self.readers.dispose()
        self._writers.dispose()

    def _engine(
        self,
        creator: Callable[[], sqlite3.Connection],
        begin: str,
        **pool: type[NullPool | QueuePool] | bool,
    ) -> Engine:
        engine = create_engine("sqlite://", creator=creator, **pool)
        # Python's driver would begin on its own, too late for what a transaction reads first.
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine

    def _open_to_write(self) -> sqlite3.Connection:
        self._create()
        connection = self._open(FEW_PAGES, "journal_mode=WAL", "synchronous=FULL")
        try:
            # Readers that are still on the old log are waited for.
            is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if is_busy:
                raise sqlite3.OperationalError("another process is reading it without an end")
        except sqlite3.Error:
            connection.close()
            raise
        inode = self._path.stat().st_ino
        if inode != self._inode:
            self.readers.dispose()  # they would go on reading what was here before
        self._inode = inode
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        return self._open(FEW_PAGES, "query_only=ON")

    def _open(self, *pragmas: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=self._patience_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENTS,
        )
        try:
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _create(self) -> None:
        """Make an empty file that only its owner can read; its log gets the same permissions."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(descriptor).st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _damage(self) -> str:
        """What is wrong with the file, or an empty text. Raises sqlite3.Error when it is locked."""
        if not self._path.exists():
            return ""
        with closing(self._open()) as connection:
            try:
                [answer] = connection.execute("PRAGMA quick_check(1)").fetchone()
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF not in DAMAGED:
                    raise
                return str(error)
            return "" if answer == "ok" else str(answer)

    def _move_aside(self, now: datetime) -> str:
        aside = self._path.with_name(f"{self._path.name}.damaged-{now:%Y%m%dT%H%M%S}")
        for companion in COMPANIONS:
            with suppress(FileNotFoundError):
                Path(f"{self._path}{companion}").rename(f"{aside}{companion}")
        return str(aside)

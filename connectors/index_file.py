"""One SQLite file per index. Every fault of SQLite becomes a ConnectorError with what to do.

A connection lives for one call, so that threads never share one. The rollback journal (SQLite's
default) is kept on purpose: these files are small, and it has no checkpoint that could go wrong.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from copilot.errors import ConnectorError

WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class IndexFile:
    """Where an index lies, and what a new one is made of (`CREATE … IF NOT EXISTS` statements)."""

    path: Path
    schema: str
    version: int

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection that sees one state of the index for the whole block."""
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection whose block is kept as a whole when it ends well, else not at all."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connect()) as connection:
                self._prepare(connection)
                connection.execute(begin)
                try:
                    yield connection
                    connection.execute("COMMIT")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            todo = "try again" if busy else "check the disk, or move the file away and import again"
            raise ConnectorError(
                f"the index {self.path} failed: {error}; {todo}", retryable=busy
            ) from error

    def _connect(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConnectorError(
                f"cannot make a folder for {self.path}: {error.strerror}"
            ) from None
        return sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found == self.version:
            return
        if found or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise ConnectorError(
                f"the index {self.path} was made by version {found}, this is {self.version}; "
                "move the file away and import again"
            )
        made = f"PRAGMA user_version = {self.version}"
        connection.executescript(f"BEGIN IMMEDIATE; {self.schema}; {made}; COMMIT;")

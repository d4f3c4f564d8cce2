"""The one SQLite file of an embedded logbook: its tables, and the two ways to open it.

An entry's id tells its time: the milliseconds since 1970, shifted left, plus a place among the
entries of that millisecond. So the order of ids is the order of time, a window is a range of ids,
and the full-text index, which knows nothing but ids, can search and count in a window by itself.
Entries without a time have negative ids, in the order of their import.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from copilot.errors import ConnectorError

VERSION = 1
PLACE_BITS = 21
PLACES = 1 << PLACE_BITS
UNTIMED = -(1 << 62)
"""The id of the first entry without a time."""
MINUTE_MS = 60_000

SCHEMA = """
CREATE TABLE source (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL,
  entries INTEGER NOT NULL, lines INTEGER NOT NULL, untimed INTEGER NOT NULL,
  carried INTEGER NOT NULL, flagged TEXT NOT NULL
);
CREATE TABLE entry (
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, line INTEGER NOT NULL, part INTEGER NOT NULL,
  lines INTEGER NOT NULL, record INTEGER, level INTEGER NOT NULL, time INTEGER,
  flag INTEGER NOT NULL, verbatim INTEGER NOT NULL, fields INTEGER NOT NULL,
  message TEXT NOT NULL, extra TEXT NOT NULL
);
CREATE INDEX entry_by_place ON entry (source, line, part);
CREATE INDEX entry_by_fields ON entry (fields);
CREATE INDEX entry_by_trouble ON entry (level) WHERE level >= 4;
CREATE TABLE field_set (id INTEGER PRIMARY KEY, pairs TEXT NOT NULL UNIQUE);
CREATE TABLE tally (
  minute INTEGER NOT NULL, source INTEGER NOT NULL, level INTEGER NOT NULL,
  count INTEGER NOT NULL, PRIMARY KEY (minute, source, level)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
  message, extra, content = '', tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
"""
"""`words` keeps no text of its own. A word is a run of letters, digits and underscores; anything
else stands between words. `tally` counts entries by minute (NULL times under -1)."""

NO_MINUTE = -1


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read. Raises ConnectorError when nothing was imported yet."""
    if not path.is_file():
        raise ConnectorError(
            f"the logbook {path} does not exist yet: nothing was imported; "
            "import logs first: copilot logbook import FILE..."
        )
    try:
        with closing(sqlite3.connect(_read_only(path), uri=True)) as book:
            book.execute("PRAGMA query_only = ON")
            book.execute("PRAGMA cache_size = -32768")
            _check_version(book, path)
            yield book
    except sqlite3.Error as error:
        raise _broken(path, error) from error


def _read_only(path: Path) -> str:
    """The URI to read *path*; one in a folder that cannot be written is never changing."""
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return f"{path.absolute().as_uri()}?mode=ro" + ("&immutable=1" if frozen else "")


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """The one connection that may write; its transactions are the caller's.

    Raises ConnectorError, retryable, while another process or thread imports.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock(path):
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as book:
                path.chmod(0o600)
                book.execute("PRAGMA journal_mode = WAL")
                book.execute("PRAGMA synchronous = FULL")
                book.execute("PRAGMA cache_size = -65536")
                _create(book, path)
                yield book
                book.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise _broken(path, error) from error


@contextmanager
def transaction(book: sqlite3.Connection) -> Iterator[None]:
    """All of the block's changes, or none of them."""
    book.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if book.in_transaction:  # SQLite gives up by itself when the disk is full
            book.execute("ROLLBACK")
        raise
    book.execute("COMMIT")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConnectorError(
                f"another import into {path} is running; wait until it is done, then try again",
                retryable=True,
            ) from None
        yield
    finally:
        os.close(descriptor)


def _create(book: sqlite3.Connection, path: Path) -> None:
    if book.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
        with transaction(book):
            for statement in SCHEMA.split(";\n"):
                book.execute(statement)
            book.execute(f"PRAGMA user_version = {VERSION}")
    _check_version(book, path)


def _check_version(book: sqlite3.Connection, path: Path) -> None:
    version = book.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise ConnectorError(
            f"{path} was written by another version of the copilot (format {version}, this one "
            f"reads {VERSION}); move it away and import the logs again"
        )


def _broken(path: Path, error: sqlite3.Error) -> ConnectorError:
    return ConnectorError(
        f"the logbook {path} could not be used: {error}; if it is damaged, move it away and import "
        "the logs again",
        retryable=isinstance(error, sqlite3.OperationalError) and "locked" in str(error),
    )

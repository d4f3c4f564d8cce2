"""Where the inbox lies: a file for one daemon, or a PostgreSQL for several.

Both give one connection to write with and many to read with, and both say of an error what a
person can do about it. What they do when a disk fails is in docs/decisions/0008.
"""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import DBAPIError

from copilot.errors import InboxError
from copilot.inbox.tables import VERSION, about, tables

PATIENCE_S = 5
"""How long a lock or a connection is waited for."""


class Database(Protocol):
    """What the writer and the readers need of a place."""

    name: str
    """The place as a person knows it; without a password."""
    moved_aside: str
    """Where a damaged file was put when this was opened, or an empty text."""
    readers: Engine

    def connect(self) -> Connection:
        """A connection to write with, sound again after whatever happened to the last one."""
        ...

    def lock(self, connection: Connection, identities: Sequence[str]) -> None:
        """Let nobody else decide about those identities until the transaction ends."""
        ...

    def check(self) -> None:
        """Raise OSError when what was just committed is not where the next daemon will look."""
        ...

    def close(self) -> None:
        """Let go of every connection."""
        ...


def create_tables(connection: Connection, name: str) -> None:
    """Make the tables that are not there. Raises InboxError when a newer version made them."""
    tables.create_all(connection)
    version = connection.scalar(select(about.c.value).where(about.c.name == "version"))
    if version is None:
        connection.execute(insert(about), {"name": "version", "value": VERSION})
    elif version != VERSION:
        raise InboxError(
            f"{name} was made by another version of copilot (layout {version}, this one knows "
            f"{VERSION}); start the version that made it, or give this one a place of its own"
        )


def reason(error: Exception) -> str:
    """The one line of a database's or the system's complaint that a person needs."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    words = str(cause).strip() or type(cause).__name__
    return words.splitlines()[0]

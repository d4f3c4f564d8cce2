"""The inbox in a PostgreSQL that several daemons share, in a schema of its own."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Integer,
    create_engine,
    event,
    func,
    literal,
    make_url,
    select,
)
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateSchema

from copilot.errors import InboxError
from copilot.inbox.database import PATIENCE_S, create_tables, reason
from copilot.values import digest

SCHEMA = "copilot"
SPACE = 0x1BC0
"""Ours among the advisory locks of the database."""
STRIPES = 1024
"""Identities share so many locks: a server has room for a limited number."""
SYNCED = (
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') = 'off'"
)
"""A server that answers before it has synced would make us break our word."""
SESSION = (
    f"SET lock_timeout = '{PATIENCE_S}s'",
    f"SET statement_timeout = '{2 * PATIENCE_S}s'",
    SYNCED,
)


class Server:
    """The database at *url*; the password may be in PGPASSWORD or PGPASSFILE."""

    moved_aside = ""

    def __init__(self, url: str) -> None:
        """Connect and make the tables. Raises InboxError when that cannot be."""
        address = make_url(url).set(drivername="postgresql+psycopg")
        self.name = address.set(drivername="postgresql").render_as_string(hide_password=True)
        self.readers = create_engine(
            address,
            pool_pre_ping=True,
            pool_timeout=PATIENCE_S,
            connect_args={"connect_timeout": PATIENCE_S, "application_name": "copilot inbox"},
            execution_options={"schema_translate_map": {None: SCHEMA}},
        )
        event.listen(self.readers, "connect", _set_up)
        try:
            with self.readers.begin() as connection:
                # Two daemons that start at once would both find no tables.
                connection.execute(select(func.pg_advisory_xact_lock(SPACE, STRIPES)))
                connection.execute(CreateSchema(SCHEMA, if_not_exists=True))
                create_tables(connection, self.name)
        except DBAPIError as error:
            raise InboxError(
                f"{self.name} cannot be opened as the inbox ({reason(error)}); "
                "check the address, the password and that the user may create a schema",
                retryable=True,
            ) from error

    def connect(self) -> Connection:
        """A connection to write with."""
        return self.readers.connect()

    def lock(self, connection: Connection, identities: Sequence[str]) -> None:
        """Let no other daemon decide about those identities until the transaction ends.

        In one order, so that two daemons never wait for each other.
        """
        stripes = sorted({int(digest(identity)[:8], 16) % STRIPES for identity in identities})
        each = func.unnest(array([literal(one, Integer) for one in stripes])).column_valued("each")
        connection.execute(select(func.pg_advisory_xact_lock(SPACE, each))).all()

    def check(self) -> None:
        """Nothing more: the server answered for the commit."""

    def close(self) -> None:
        """Let go of every connection."""
        self.readers.dispose()


def _set_up(connection: Any, _record: object) -> None:
    """Prepare a connection of the driver."""
    for statement in SESSION:
        connection.execute(statement)
    connection.commit()

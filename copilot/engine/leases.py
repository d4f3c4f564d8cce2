"""Who is alive: each process that shares the work beats in a table, by the database's clock.

A process whose last beat is older than the lease has lost its runs: others take them, and its own
gate is closed. It may be wrong to call a process dead after the database itself was away, so
whoever missed a beat, or meets a server that just started, waits one lease before calling anybody.
"""

import logging
import threading
from datetime import timedelta
from time import monotonic

import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from copilot.engine.vendor import reason

logger = logging.getLogger(__name__)

TABLE = (
    "CREATE TABLE IF NOT EXISTS copilot.engine_processes"
    " (name text PRIMARY KEY, beaten timestamptz NOT NULL)"
)
LOCK = 7_203_117_090
"""Of the transaction that makes the table: two processes may start at once."""
BEAT = text(
    "INSERT INTO copilot.engine_processes VALUES (:name, clock_timestamp())"
    " ON CONFLICT (name) DO UPDATE SET beaten = excluded.beaten"
)
ALIVE = text("SELECT name FROM copilot.engine_processes WHERE beaten > clock_timestamp() - :lease")
SERVER_IS_STEADY = text("SELECT pg_postmaster_start_time() < clock_timestamp() - :lease")
LEAVE = text("DELETE FROM copilot.engine_processes WHERE name = :name")
SWEEP = text("DELETE FROM copilot.engine_processes WHERE beaten < clock_timestamp() - :age")
BEATS = 4
"""Beats within one lease."""
AGAIN_S = 1.0
"""The pause after a beat that was missed."""
KEEP = timedelta(days=1)


class Lease:
    """This process's claim to be alive, and what it knows of the others."""

    def __init__(self, url: str, name: str, length: timedelta) -> None:
        self.name = name
        self._length = length
        self._seconds = length.total_seconds()
        self._last_beat = -float("inf")
        self._steady_since = -float("inf")
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="engine-beat", daemon=True)
        wait = max(1, int(self._seconds / BEATS))
        self._database = sqlalchemy.create_engine(
            sqlalchemy.make_url(url).set(drivername="postgresql+psycopg"),
            pool_size=2,
            max_overflow=0,
            isolation_level="AUTOCOMMIT",
            connect_args={
                "connect_timeout": max(2, wait),  # libpq takes no less
                "options": f"-c statement_timeout={wait}s",
                "tcp_user_timeout": wait * 1000,
            },
        )

    def begin(self) -> None:
        """Make the table, beat once, and go on beating in a thread. Raises SQLAlchemyError."""
        with self._database.connect() as connection:
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": LOCK})
            try:
                connection.execute(text("CREATE SCHEMA IF NOT EXISTS copilot"))
                connection.execute(text(TABLE))
            finally:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK})
        self._beat()
        self._steady_since = -float("inf")  # nothing was missed: the dead may be called at once
        self._thread.start()

    def end(self) -> None:
        """Stop beating and say so, so that others go on at once. For a clean stop only."""
        self._leaving.set()
        if not self._thread.is_alive():
            return  # it never began
        self._thread.join(self._seconds)
        try:
            with self._database.connect() as connection:
                connection.execute(LEAVE, {"name": self.name})
        except SQLAlchemyError:
            logger.warning("engine leaves without a word: others wait for its lease to end")
        self._database.dispose()

    @property
    def is_held(self) -> bool:
        """True when no other process can have taken our runs by now."""
        return monotonic() - self._last_beat < self._seconds

    def dead(self, executors: set[str]) -> set[str]:
        """Those of *executors* that have no lease; empty while we may not judge.

        Raises SQLAlchemyError.
        """
        if monotonic() - self._steady_since < self._seconds or not self.is_held:
            return set()
        with self._database.connect() as connection:
            if not connection.execute(SERVER_IS_STEADY, {"lease": self._length}).scalar():
                return set()
            alive = connection.execute(ALIVE, {"lease": self._length}).scalars()
            return executors - set(alive) - {self.name}

    def _beat_on(self) -> None:
        usual = pause = self._seconds / BEATS
        while not self._leaving.wait(pause):
            try:
                self._beat()
                pause = usual
            except SQLAlchemyError as error:
                self._steady_since = monotonic()
                pause = min(usual, AGAIN_S)  # a lease of silence begins when the server is back
                logger.warning("engine missed a beat error=%s", reason(error))

    def _beat(self) -> None:
        begun = monotonic()
        with self._database.connect() as connection:
            connection.execute(BEAT, {"name": self.name})
            connection.execute(SWEEP, {"age": KEEP})
        if begun - self._last_beat > self._seconds / 2:
            self._steady_since = begun
        self._last_beat = begun

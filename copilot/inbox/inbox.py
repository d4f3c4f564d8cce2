"""The front of the inbox: what the daemon, its doors and its desk may ask of it.

Every call may come from any thread. What changes something returns when that is synced, and
raises InboxError when it is not: then nothing of it was promised, and the caller tries again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from sqlalchemy import Connection, update
from sqlalchemy.exc import SQLAlchemyError

from copilot.errors import InboxError
from copilot.inbox import keeping, lifecycle, reading
from copilot.inbox.database import Database, reason
from copilot.inbox.keeping import Payment
from copilot.inbox.lifecycle import Change
from copilot.inbox.postgres import Server
from copilot.inbox.sqlite import SqliteFile
from copilot.inbox.tables import alerts
from copilot.inbox.values import (
    Arrival,
    Ending,
    Entry,
    Known,
    Rules,
    Severity,
    Status,
    Stored,
    Taken,
)
from copilot.inbox.writer import Writer

USUAL = Rules()
KEYS_AT_ONCE = 500


class Inbox:
    """The alerts that were accepted, their incidents, and what the incidents have cost."""

    def __init__(
        self, place: Path | str, rules: Rules = USUAL, *, now: Callable[[], datetime]
    ) -> None:
        """Open the file (a path) or the server (`postgresql://…`). Raises InboxError."""
        self._now = now
        self._database: Database = (
            SqliteFile(place, now) if isinstance(place, Path) else Server(place)
        )
        self.moved_aside = self._database.moved_aside
        """Where a damaged file was put: what it held is to be adopted from the notes."""
        self._writer = Writer(self._database, rules, now)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shut()

    def shut(self) -> None:
        """Finish what was handed in and close; later calls raise InboxError."""
        self._writer.shut()
        self._database.close()

    @property
    def trouble(self) -> str:
        """Why the last write failed, or an empty text. It goes away when the disk is well again."""
        return self._writer.trouble

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """What became of each arrival, in order; when this returns, all of them are synced.

        Raises InboxError when the disk fails, too many incidents wait, or the inbox is closed.
        """
        return self._writer.accept(arrivals) if arrivals else []

    def begin(self, arrivals: Sequence[Arrival]) -> "Future[list[Taken]]":
        """The same, for a caller who does not wait here: told when they are synced."""
        return self._writer.begin(arrivals)

    def incident(self, incident: str) -> Entry | None:
        """The incident, or None."""
        with self._reading() as connection:
            return reading.incident(connection, incident)

    def alerts(self, incident: str, *, limit: int = 1000) -> list[Stored]:
        """The incident's alerts in the order they came."""
        with self._reading() as connection:
            return reading.alerts_of(connection, incident, limit)

    def newest(self, limit: int = 100) -> list[Stored]:
        """The newest alerts of all incidents, newest first."""
        with self._reading() as connection:
            return reading.newest_alerts(connection, limit)

    def entries(self, incidents: Sequence[str]) -> list[Entry]:
        """Those of the incidents that there are, oldest first."""
        with self._reading() as connection:
            return [
                entry
                for start in range(0, len(incidents), KEYS_AT_ONCE)
                for entry in reading.entries(connection, incidents[start : start + KEYS_AT_ONCE])
            ]

    def counts(self) -> dict[Status, int]:
        """How many incidents there are of each status that occurs."""
        with self._reading() as connection:
            return reading.counts(connection)

    def count(self, status: Status) -> int:
        """How many incidents have that status; the others are not looked at."""
        with self._reading() as connection:
            return reading.count(connection, status)

    def unnoted(self, limit: int, incident: str = "") -> list[tuple[Entry, list[Stored]]]:
        """At most *limit* alerts that the notes do not have, by incident. Ignored ones are not.

        With *incident*, only those of it.
        """
        with self._reading() as connection:
            return reading.unnoted(connection, limit, incident)

    def noted(self, keys: Iterable[str]) -> None:
        """The notes have those alerts now."""
        wanted = sorted(keys)

        def write(connection: Connection) -> None:
            for start in range(0, len(wanted), KEYS_AT_ONCE):
                some = alerts.c.key.in_(wanted[start : start + KEYS_AT_ONCE])
                connection.execute(update(alerts).where(some).values(noted=True))

        self._writer.write(write)

    def due(
        self,
        now: datetime,
        limit: int,
        *,
        status: Literal["waiting", "waiting_model"] = "waiting",
    ) -> list[Entry]:
        """The incidents that may be investigated, most severe and then oldest first."""
        with self._reading() as connection:
            return reading.due(connection, status, now, limit)

    def queued(self, incident: str, run: int) -> Entry:
        """The run was handed to the engine; the incident as it is now."""
        return self._change(incident, lambda entry: lifecycle.queued(entry, run))

    def started(self, incident: str, run: int) -> Entry:
        """A worker has the run. Unless the answer says `running`, it must not go on."""
        return self._change(incident, lambda entry: lifecycle.started(entry, run))

    def finished(self, incident: str, run: int, ending: Ending, reason: str = "") -> Entry:
        """The run has ended; the incident as it is now."""
        return self._change(incident, lambda entry: lifecycle.finished(entry, run, ending, reason))

    def cancel(self, incident: str, reason: str) -> Entry:
        """A person wants no investigation; one that has ended stays as it is."""
        return self._change(incident, lambda entry: lifecycle.cancelled(entry, reason))

    def retry(self, incident: str) -> Entry:
        """The incident waits for another run. Raises UsageError when it is closed."""
        return self._change(incident, lambda entry: lifecycle.retried(entry, self._now()))

    def close(self, incident: str) -> Entry:
        """A person says that it is over: the next alert opens another one."""
        return self._change(incident, lifecycle.closed)

    def reopen(self, incident: str) -> Entry:
        """A person says that it is not."""
        return self._change(incident, lambda entry: lifecycle.reopened(entry, self._now()))

    def adopt(self, known: Sequence[Known]) -> int:
        """How many of the incidents that the notes know were missing, and are here now."""
        return self._writer.write(lambda connection: lifecycle.adopt(connection, known))

    def spend(self, incident: str, run: int, seq: int, at: datetime, usd: Decimal) -> None:
        """Record what a step has cost; the same step again changes nothing."""
        payment = Payment(incident, run, seq, at, usd)
        self._writer.write(lambda connection: keeping.pay(connection, payment))

    def spent(self, since: datetime) -> Decimal:
        """What was spent since then, in dollars."""
        with self._reading() as connection:
            return reading.spent(connection, since)

    def forget(self, before: datetime) -> int:
        """How many incidents were deleted: those that ended and were not heard of since *before*.

        What they have cost stays, summed up by day.
        """
        count = 0
        while some := self._writer.write(partial(keeping.forget_incidents, before=before)):
            count += some
        while self._writer.write(partial(keeping.sum_up_spending, before=before)):
            pass
        return count

    def _change(self, incident: str, rule: Callable[[Entry], Change]) -> Entry:
        now = self._now()
        return self._writer.write(
            lambda connection: lifecycle.change(connection, incident, now, rule)
        )

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._database.readers.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise InboxError(
                f"{self._database.name} could not be read ({reason(error)}); try again",
                retryable=True,
            ) from error

    # The last of the class: after it, `list` names this method in annotations.
    def list(
        self,
        *,
        status: Status | None = None,
        severity: Severity | None = None,
        identity: str = "",
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Entry]:
        """The incidents that fit, newest first; *since*: those that changed then or later."""
        wanted = reading.conditions(status, severity, identity, since)
        with self._reading() as connection:
            return reading.listed(connection, wanted, limit)

"""Takes the arrivals of many senders into one transaction.

What the decisions need is read in a few queries for all of them together; they are made one after
the other, each seeing what the ones before it changed; the changed rows are written together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Executable,
    Row,
    bindparam,
    func,
    select,
    update,
)

from copilot.errors import InboxError
from copilot.identity import incident_id
from copilot.inbox import reading
from copilot.inbox.board import Board
from copilot.inbox.decision import Case, Firing, decide
from copilot.inbox.inserts import Inserts
from copilot.inbox.tables import Instant, alerts, as_text, incidents
from copilot.inbox.values import Arrival, Rules, Taken

CHUNK = 500
"""How many values one query asks for."""
WANTED = "wanted"
RECOUNT_AFTER = timedelta(seconds=1)
CASE_NAMES = tuple(one.name for one in fields(Case))
CASE = tuple(incidents.c[name] for name in CASE_NAMES)
FIRING = tuple(alerts.c[one.name] for one in fields(Firing))


@dataclass
class Backlog:
    """How many more incidents may wait. Counted anew only when the last count is used up."""

    limit: int
    left: int = 0
    counted: datetime | None = None

    def has_room(self, connection: Connection, wanted: int, now: datetime) -> bool:
        """Whether *wanted* more incidents may wait."""
        fresh = self.counted is not None and abs(now - self.counted) < RECOUNT_AFTER
        if wanted > self.left and not fresh:
            self.left = self.limit - reading.count(connection, "waiting")
            self.counted = now
        return wanted <= self.left


class Acceptance:
    """One transaction's accepting: made with all its arrivals, asked per sender, then saved."""

    def __init__(
        self, connection: Connection, arrivals: Sequence[Arrival], rules: Rules, now: datetime
    ) -> None:
        self._connection = connection
        self._rules = rules
        self._now = now
        self._found = _read(connection, arrivals)
        self._board = self._found.copy()
        unknown = [one for one in arrivals if one.key not in self._found.firings]
        self._ids = _taken(
            connection, [incident_id(one.identity, one.starts_at) for one in unknown]
        )

    def take(self, arrivals: Sequence[Arrival], backlog: Backlog) -> list[Taken]:
        """What becomes of each arrival. Raises InboxError, and takes none, without room for all."""
        has_room = backlog.has_room(self._connection, len(arrivals), self._now)
        before = None if has_room else self._board.copy()
        waiting = self._board.waiting() if before else 0
        taken = [self._take(arrival) for arrival in arrivals]
        opened = self._board.waiting() - waiting if before else len(arrivals)
        if before and opened > max(backlog.left, 0):
            self._board = before
            raise InboxError(
                f"{backlog.limit} incidents wait already, and this would open {opened} more; "
                "send it again later",
                retryable=True,
            )
        backlog.left -= opened
        return taken

    def save(self) -> None:
        """Write what changed."""
        cases = [
            case for case in self._board.cases.values() if self._found.cases.get(case.id) != case
        ]
        old = [case for case in cases if case.id in self._found.cases]
        new = [case for case in cases if case.id not in self._found.cases]
        # The one that is superseded goes first: an identity has one newest incident at any time.
        self._write(CHANGED, [_case(case) | {"its_id": case.id} for case in old])
        OPENED.run(self._connection, [_case(case) | {"runs": 0} for case in new])
        known = self._found.firings.keys() - self._board.anew
        shelved = self._found.firings.keys() & self._board.anew
        self._write(SHELVE, [{"its_key": key, "key": self._shelf(key)} for key in sorted(shelved)])
        received = [self._received(key, arrivals) for key, arrivals in self._board.received.items()]
        self._write(AGAIN, [row for row in received if row["its_key"] in known])
        FIRST.run(
            self._connection,
            [
                self._first(row, self._board.received[row["its_key"]][0])
                for row in received
                if row["its_key"] not in known
            ],
        )

    def _shelf(self, key: str) -> str:
        """The key of a firing that is over, once another begins under its own."""
        return f"{key} until {self._now.isoformat()}"

    def _take(self, arrival: Arrival) -> Taken:
        rows = self._board.rows_for(arrival)
        decision = decide(arrival, rows, self._now, self._rules, self._is_taken)
        self._board.keep(arrival, decision)
        return Taken(decision.case.id, decision.outcome)

    def _is_taken(self, id: str) -> bool:
        """Whether an incident has that id, here or in the database."""
        if id not in self._ids:
            self._ids |= _taken(self._connection, [id])
        return self._ids[id] or id in self._board.cases

    def _write(self, statement: Executable, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(statement, rows)

    def _received(self, key: str, arrivals: Sequence[Arrival]) -> dict[str, Any]:
        """What an alert's row says after those arrivals of it."""
        firing = self._board.firings[key]
        ends = [one.ends_at for one in arrivals if one.status == "resolved" and one.ends_at]
        return {
            "its_key": key,
            "incident": firing.incident,
            "ignored": arrivals[-1].ignored if firing.ignored else "",
            "resolved": firing.resolved,
            "seen_firing": firing.seen_firing,
            "ends": max(ends) if ends else None,
            "more": len(arrivals),
            "stays": key in self._found.firings
            and self._found.firings[key].ignored == firing.ignored,
            "last_seen": self._now,
        }

    def _first(self, row: dict[str, Any], arrival: Arrival) -> dict[str, Any]:
        """The row of an alert that was not seen before."""
        kept = {name: row[name] for name in ("incident", "ignored", "resolved", "seen_firing")}
        return kept | {
            "key": arrival.key,
            "alert": as_text(arrival.alert),
            "source": arrival.source,
            "group": arrival.group,
            "severity": arrival.severity,
            "starts_at": arrival.starts_at,
            "ends_at": row["ends"],
            "noted": bool(row["ignored"]),
            "count": row["more"],
            "first_seen": self._now,
            "last_seen": self._now,
        }


def _whose(
    columns: Sequence[Column[Any]], column: Column[Any], *conditions: ColumnElement[bool]
) -> Executable:
    """The rows whose *column* is one of the wanted; made once, as making it costs as much again."""
    some = column.in_(bindparam(WANTED, expanding=True))
    return select(*columns).where(some, *conditions).order_by(column).with_for_update()


FIRINGS = _whose(FIRING, alerts.c.key)
NEWEST = _whose(CASE, incidents.c.identity, incidents.c.newest)
HOMES = _whose(CASE, incidents.c.id)
IDS = _whose((incidents.c.id,), incidents.c.id)
CHANGED = update(incidents).where(incidents.c.id == bindparam("its_id"))
OPENED = Inserts(incidents)
FIRST = Inserts(alerts)
SHELVE = update(alerts).where(alerts.c.key == bindparam("its_key"))
"""The alert stays with its incident, under a key that nobody sends."""
AGAIN = (
    update(alerts)
    .where(alerts.c.key == bindparam("its_key"))
    .values(
        count=alerts.c.count + bindparam("more"),
        ends_at=func.coalesce(bindparam("ends", type_=Instant), alerts.c.ends_at),
        noted=alerts.c.noted & bindparam("stays", type_=Boolean),
    )
)
"""An alert that was received before; one that is no longer ignored is news to the notes."""


def _read(connection: Connection, arrivals: Sequence[Arrival]) -> Board:
    """The rows that decisions about *arrivals* need."""
    board = Board()
    for row in _rows(connection, FIRINGS, [one.key for one in arrivals]):
        board.firings[row.key] = Firing(
            row.key, row.incident, row.resolved, row.seen_firing, bool(row.ignored)
        )
    newest = [one.identity for one in arrivals]
    homes = [one.incident for one in board.firings.values()]
    for statement, values in ((NEWEST, newest), (HOMES, homes)):
        for row in _rows(connection, statement, values):
            case = Case(**row._asdict())
            board.cases[case.id] = case
            if case.newest:
                board.newest[case.identity, case.ignored] = case.id
    return board


def _taken(connection: Connection, ids: Sequence[str]) -> dict[str, bool]:
    """For each of the ids, whether an incident has it."""
    found = {row.id for row in _rows(connection, IDS, ids)}
    return {one: one in found for one in ids}


def _rows(
    connection: Connection, statement: Executable, wanted: Sequence[str]
) -> Iterator[Row[Any]]:
    """The rows for each of the *wanted* values, a few at a time."""
    values = list(dict.fromkeys(wanted))
    for start in range(0, len(values), CHUNK):
        yield from connection.execute(statement, {WANTED: values[start : start + CHUNK]})


def _case(case: Case) -> dict[str, Any]:
    return {name: getattr(case, name) for name in CASE_NAMES}

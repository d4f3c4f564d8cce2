"""No question and no accept looks at every row: 100,000 incidents that wait stay cheap."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from copilot.inbox.inbox import Inbox
from copilot.inbox.sqlite import SqliteFile
from tests.inbox.arrivals import NOW, Clock, arrival, resolved
from tests.inbox.conftest import Open


@pytest.fixture
def asked(file: Path, opened: Open) -> set[str]:
    """Return how SQLite carries out each statement of a day's work."""
    inbox = opened(file)
    statements: dict[str, Any] = {}

    def note(_connection: Any, _cursor: Any, sql: str, values: Any, *_rest: Any) -> None:
        statements[sql] = values[0] if isinstance(values, list) else values

    event.listen(Engine, "before_cursor_execute", note)
    try:
        a_days_work(inbox)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    plans = set()
    with sqlite3.connect(file) as connection:
        for sql, values in statements.items():
            if sql.startswith(("SELECT", "UPDATE", "DELETE")) and "about" not in sql:
                rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)
                plans |= {f"{row[3]}: {sql}" for row in rows}
    connection.close()
    return plans


def a_days_work(inbox: Inbox) -> None:
    """Ask everything that senders, the desk and the workers ask all the time."""
    [taken] = inbox.accept([arrival()])
    inbox.accept([arrival(minute=1), resolved()])
    inbox.due(NOW + timedelta(minutes=1), 10)
    inbox.count("queued")
    inbox.noted(one.key for _, some in inbox.unnoted(10) for one in some)
    inbox.queued(taken.incident, 1)
    inbox.spend(taken.incident, 1, 1, NOW, Decimal(1))
    inbox.spent(NOW)
    inbox.incident(taken.incident)
    inbox.alerts(taken.incident)


def test_every_statement_of_a_days_work_uses_an_index(asked: set[str]) -> None:
    scans = {plan for plan in asked if plan.startswith("SCAN") and "alerts_unnoted" not in plan}

    assert scans == set()
    assert any("incidents_newest (identity=?)" in plan for plan in asked)
    assert any("incidents_due (status=?)" in plan for plan in asked)


def test_the_order_of_what_is_due_comes_from_the_index(asked: set[str]) -> None:
    sorts = {plan for plan in asked if "TEMP B-TREE" in plan and "due <=" in plan}

    assert sorts == set()


def test_no_connection_keeps_more_than_half_a_mebibyte_of_the_file(file: Path) -> None:
    database = SqliteFile(file, Clock())

    with database.connect() as writing, database.readers.connect() as reading:
        kept = [
            connection.exec_driver_sql("PRAGMA cache_size").scalar()
            for connection in (writing, reading)
        ]

    database.close()
    assert kept == [-512, -512]


def test_who_reads_after_another_reads_on_the_same_connection(file: Path, clock: Clock) -> None:
    database = SqliteFile(file, clock)
    with database.readers.connect(), database.readers.connect():
        pass  # so two are kept
    used = set()
    for _ in range(4):
        with database.readers.connect() as reading:
            used.add(id(reading.connection.dbapi_connection))

    database.close()
    assert len(used) == 1


def test_many_alerts_in_one_commit_are_read_like_one_and_written_sixteen_at_a_time(
    file: Path, opened: Open
) -> None:
    inbox = opened(file)
    inbox.accept([arrival("the first, before which it is counted what waits")])

    one = statements_of(lambda: inbox.accept([arrival("one")]))
    many = statements_of(lambda: inbox.accept([arrival(f"wf_{number}") for number in range(100)]))

    assert _but_inserts(one) == _but_inserts(many)
    assert len(many) - len(_but_inserts(many)) == 2 * (6 + 1)  # 96 rows, and the last 4


def _but_inserts(statements: list[str]) -> list[str]:
    return [sql[:30] for sql in statements if not sql.startswith("INSERT")]


def statements_of(work: Callable[[], object]) -> list[str]:
    """The SQL that *work* has the database carry out, in order."""
    statements: list[str] = []

    def note(*told: Any) -> None:
        statements.append(told[2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return statements

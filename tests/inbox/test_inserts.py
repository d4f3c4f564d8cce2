"""New rows written together are the rows that would be written one by one."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    insert,
    select,
)

from copilot.inbox.inserts import SIZES, Inserts
from copilot.inbox.tables import Instant, Words


def made_table(name: str) -> Table:
    return Table(
        name,
        MetaData(),
        Column("number", Integer, primary_key=True, autoincrement=True),
        Column("words", Words),
        Column("at", Instant),
        Column("flag", Boolean),
        Column("group", Text),
        Column("text", Text),
    )


def row(number: int) -> dict[str, Any]:
    return {
        "words": f"wf {number} \0 \" ' \u202e",
        "at": datetime(2026, 11, 30, tzinfo=UTC) if number % 2 else None,
        "flag": bool(number % 3),
        "group": f"{number}); DROP TABLE together",
        "text": str(number),
    }


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as opened:
        yield opened
    engine.dispose()


@pytest.mark.parametrize("count", [0, 1, 3, *SIZES, sum(SIZES), 3 * max(SIZES) - 1])
def test_rows_written_together_are_those_written_one_by_one(
    connection: Connection, count: int
) -> None:
    alone, together = made_table("alone"), made_table("together")
    rows = [row(number) for number in range(count)]
    for table in (alone, together):
        table.create(connection)

    for one in rows:
        connection.execute(insert(alone), one)
    Inserts(together).run(connection, rows)

    assert connection.execute(select(together)).all() == connection.execute(select(alone)).all()

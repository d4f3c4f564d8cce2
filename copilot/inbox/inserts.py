"""New rows, many in one statement.

Python's SQLite lets other threads compute at each row of an `executemany` and then waits for its
turn again: beside threads that compute, that took longer than the writing itself.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Table, insert

SIZES = (16, 4, 1)
"""Rows of one statement. Few sizes, so that the connection keeps each statement prepared."""


class Inserts:
    """Writes new rows of one table; all of a call have the same columns."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._statement = insert(table)

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows in their order. Raises what the database says."""
        if not rows:
            return
        if connection.dialect.name != "sqlite":
            connection.execute(self._statement, rows)
            return
        names = tuple(rows[0])
        stores = _stores(self._table, names, connection.dialect)
        start = 0
        for size in SIZES:
            while len(rows) - start >= size:
                values = [
                    store(row[name])
                    for row in rows[start : start + size]
                    for name, store in zip(names, stores, strict=True)
                ]
                connection.exec_driver_sql(_sql(self._table, names, size), tuple(values))
                start += size


@lru_cache
def _stores(
    table: Table, names: Sequence[str], dialect: Dialect
) -> Sequence[Callable[[Any], object]]:
    """What makes a value of each column the one that is stored."""
    types = (table.c[name].type.dialect_impl(dialect) for name in names)
    return [one.bind_processor(dialect) or _as_it_is for one in types]


def _as_it_is(value: object) -> object:
    return value


@lru_cache
def _sql(table: Table, names: Sequence[str], rows: int) -> str:
    columns = ", ".join(f'"{name}"' for name in names)
    row = f"({', '.join('?' * len(names))})"
    return f'INSERT INTO "{table.name}" ({columns}) VALUES {", ".join([row] * rows)}'

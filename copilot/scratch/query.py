"""One SELECT over the rows of a stored result, on a locked-down SQLite of its own.

The rows are copied into memory as the table `rows`: each key is a column, that of an inner object
as "outer.key", lists are JSON texts, and `ref` is the line's reference. Nothing that a query does
can reach a file; `sandbox.py` holds the lock.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from math import isfinite

from copilot.errors import ScratchError
from copilot.safe_regex import encodable
from copilot.scratch.rows import decode
from copilot.scratch.sandbox import lock
from copilot.scratch.seeking import Seeker
from copilot.scratch.store import Scratch
from copilot.values import Json, JsonObject, compact

LIMIT_LOADED_BYTES = 64 << 20
LIMIT_COLUMNS = 200
LIMIT_SQL_CHARACTERS = 4000
CELL_CHARACTERS = 400
LIMIT_SECONDS = 1.0
TOO_LONG = (
    f"the query took longer than {LIMIT_SECONDS:.0f} s and was stopped; add a WHERE, and do not "
    "join rows with itself"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A query's answer. `why_incomplete` says what was cut and is empty when nothing was."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Json, ...], ...]
    why_incomplete: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of the answer is given back."""

    rows: int = 50
    bytes: int = 6000


def select(scratch: Scratch, handle: str, sql: str, bounds: Bounds) -> Table:
    """What *sql*, one SELECT over the table `rows`, says of that result.

    Raises ScratchError saying what is allowed instead.
    """
    if len(sql) > LIMIT_SQL_CHARACTERS or not re.match(r"\s*(select|with)\b", sql, re.IGNORECASE):
        raise ScratchError(
            f"write one SELECT of at most {LIMIT_SQL_CHARACTERS} characters over the table rows"
        )
    return run(scratch, handle, lambda _columns: (sql, ()), bounds)


def run(
    scratch: Scratch,
    handle: str,
    statement: Callable[[tuple[str, ...]], tuple[str, tuple[Json, ...]]],
    bounds: Bounds,
) -> Table:
    """The answer of the statement that *statement* makes for the columns that there are."""
    # One at a time: a result is copied into memory, and a sort may spill into the temporary folder.
    with scratch.one_query, closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        columns = _load(database, scratch, handle)
        sql, values = statement(columns)
        _check_quoted(sql, columns)
        seeker = Seeker(scratch.monotonic, LIMIT_SECONDS)
        refusals = lock(database, seeker)
        try:
            cursor = database.execute(sql, [_cell(value) for value in values])
            return _table(cursor, bounds)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if seeker.is_late():
                raise ScratchError(TOO_LONG) from None
            if refusals:
                raise ScratchError(f"the query is refused: {refusals[0]}") from None
            raise ScratchError(f"the query failed: {error}; {_there_are(columns)}") from None


def _load(database: sqlite3.Connection, scratch: Scratch, handle: str) -> tuple[str, ...]:
    """Copy the rows and give the columns their names: `ref` first, then keys as they appear."""
    stored = scratch.stored(handle)
    if stored.bytes > LIMIT_LOADED_BYTES:
        raise ScratchError(
            f"{handle} has {stored.bytes:,} bytes, at most {LIMIT_LOADED_BYTES:,} can be queried; "
            "use search_scratch, or search again more narrowly"
        )
    names: dict[str, str] = {}
    longest = 0
    for line in scratch.lines(handle):
        longest = max(longest, len(line))
        for key, _ in _flat(decode(line)):
            if key not in names and len(names) < LIMIT_COLUMNS:
                names[key] = _unused(
                    key, {"ref", "rowid", *(known.lower() for known in names.values())}
                )
    columns = ("ref", *names.values())
    database.execute(f"CREATE TABLE rows ({', '.join(map(quoted, columns))})")
    database.executemany(
        f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})",
        _records(scratch, handle, tuple(names)),
    )
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1 << 20, 4 * longest))
    return columns


def _records(
    scratch: Scratch, handle: str, keys: tuple[str, ...]
) -> Iterator[tuple[str | int | float | None, ...]]:
    for number, line in enumerate(scratch.lines(handle), start=1):
        row = dict(_flat(decode(line)))
        yield (f"{handle}:{number}", *(_cell(row.get(key)) for key in keys))


def _flat(row: JsonObject, prefix: str = "") -> Iterator[tuple[str, Json]]:
    for key, value in row.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _unused(key: str, taken: set[str]) -> str:
    """A column name for *key*. SQLite does not tell upper from lower case in names."""
    name = encodable(key).replace("\0", "") or "_"
    number = 1
    unused = name
    while unused.lower() in taken:
        number += 1
        unused = f"{name}_{number}"
    return unused


def _cell(value: Json) -> str | int | float | None:
    match value:
        case None | float():
            return value
        case int() if abs(value) < 1 << 63:
            return int(value)
        case str():
            return encodable(value)
        case _:
            return encodable(compact(value))


def quoted(name: str) -> str:
    """The name of a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _check_quoted(sql: str, columns: tuple[str, ...]) -> None:
    """Refuse an unknown name in double quotes: SQLite would silently take it for a text."""
    bare = re.sub(r"'(?:[^']|'')*'", "''", sql)
    aliases = {name.lower() for name in re.findall(r'(?i)\bas\s+"([^"]*)"', bare)}
    known = aliases | {column.lower() for column in columns}
    for name in re.findall(r'"((?:[^"]|"")*)"', bare):
        if name.replace('""', '"').lower() not in known:
            raise ScratchError(
                f"there is no column {name[:60]!r}; {_there_are(columns)}. "
                "Texts stand in single quotes"
            )


def _table(cursor: sqlite3.Cursor, bounds: Bounds) -> Table:
    columns = tuple(column[0] for column in cursor.description)
    rows: list[tuple[Json, ...]] = []
    room = bounds.bytes
    for row in cursor:
        shown = tuple(_shown(value) for value in row)
        room -= len(compact(list(shown)).encode("utf-8", "replace"))
        if len(rows) == bounds.rows or (room < 0 and rows):
            return Table(columns, tuple(rows), f"only the first {len(rows)} rows are shown")
        rows.append(shown)
    return Table(columns, tuple(rows))


def _shown(value: object) -> Json:
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    text = value if isinstance(value, str) else str(value)
    if len(text) <= CELL_CHARACTERS:
        return text
    return f"{text[:CELL_CHARACTERS]}… [{len(text)} characters]"


def _there_are(columns: tuple[str, ...]) -> str:
    return f"the columns of rows are: {', '.join(columns)}"

"""The entries around one line of one source, in file order."""

import sqlite3

from connectors.embedded_logbook.entries import COLUMNS, TABLES, entry_of
from connectors.logbook import Count, Coverage, Entry, Found, all_of
from copilot.errors import NotFoundError

MAX_AROUND = 1_000
PLACE = "(entry.line, entry.part)"


def context(book: sqlite3.Connection, source: str, line: int, before: int, after: int) -> Found:
    """The entry that holds *line*, and so many before and after it. Raises NotFoundError."""
    row = book.execute("SELECT id, lines FROM source WHERE name = ?", (source,)).fetchone()
    if not row:
        raise NotFoundError(
            f"there is no source {source!r} in this logbook; logbook_overview lists the sources"
        )
    number, lines = row
    held = _around(book, number, f"entry.line <= {line}", "DESC", 1)
    if not held or line > lines:
        held = _around(book, number, "1", "ASC" if line < 1 else "DESC", 1)
    if not held:
        return Found((), Count(0), Coverage(notes=(f"{source} is empty",)), None, None, "")
    place = held[0][0]
    earlier = _around(book, number, f"{PLACE} < {place}", "DESC", _bounded(before))
    later = _around(book, number, f"{PLACE} > {place}", "ASC", _bounded(after))
    entries = tuple(entry for _, entry in (*reversed(earlier), *held, *later))
    first, last = all_of(entries)
    notes = () if 1 <= line <= lines else (f"{source} has lines 1 to {lines}; this is its end",)
    return Found(entries, Count(len(entries)), Coverage(notes=notes), first, last, "")


def _around(
    book: sqlite3.Connection, source: int, condition: str, order: str, limit: int
) -> list[tuple[tuple[int, int], Entry]]:
    """Place and entry of the nearest entries of a source that meet the condition."""
    rows = book.execute(
        f"SELECT {COLUMNS} FROM entry {TABLES} WHERE entry.source = ? AND {condition}"
        f" ORDER BY entry.line {order}, entry.part {order} LIMIT ?",
        (source, limit),
    )
    return [((row[5], row[6]), entry_of(row)) for row in rows]


def _bounded(count: int) -> int:
    return max(0, min(count, MAX_AROUND))

"""Bounded samples of a selection, spread evenly over every source."""

import sqlite3
from collections.abc import Iterator

from connectors.embedded_logbook.selection import Selection
from connectors.template_counts import Row


def step_for(total: int, limit: int) -> int:
    """Take one line in how many, so that about *limit* of *total* entries are read."""
    return max(1, -(-total // limit))


def sampled(book: sqlite3.Connection, selection: Selection, step: int) -> Iterator[Row]:
    """The entries of *selection*, or those on every *step*-th line, in no particular order."""
    if step > 1:
        selection = _thinned(selection, step)
    clause, values = selection.where()
    entry = "" if selection.needs_entry else " JOIN entry ON entry.id = words.rowid"
    clause = clause.replace(" WHERE ", f"{entry} WHERE ", 1)
    rows: Iterator[Row] = book.execute(
        f"SELECT entry.id, entry.source, entry.level, entry.message {clause}", values
    )
    return rows


def _thinned(selection: Selection, step: int) -> Selection:
    """The entries on every *step*-th line, found in the small index of places first."""
    if selection.match:
        return selection.also(f"entry.line % {step} = 0")
    return selection.also(
        f"entry.id IN (SELECT id FROM entry INDEXED BY entry_by_place WHERE line % {step} = 0)"
    )

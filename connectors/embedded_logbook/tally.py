"""Exact counts, from the tally of minutes wherever it can tell and from the entries elsewhere."""

import sqlite3
from dataclasses import replace

from connectors.embedded_logbook.selection import Selection
from connectors.embedded_logbook.store import MINUTE_MS, NO_MINUTE, PLACE_BITS

MINUTE_IDS = MINUTE_MS << PLACE_BITS
"""How many ids one minute spans."""


def count(book: sqlite3.Connection, selection: Selection) -> int:
    """How many entries *selection* holds."""
    if selection.counted is None or selection.part_millisecond:
        return selection.count(book)
    whole, edges = split(selection)
    clause, values = tally_where(whole)
    row = book.execute(f"SELECT coalesce(sum(count), 0) {clause}", values).fetchone()
    return int(row[0]) + sum(edge.count(book) for edge in edges)


def split(selection: Selection) -> tuple[Selection, list[Selection]]:
    """The whole minutes of a selection, and what is left of it at either end."""
    first, end = selection.first, selection.end
    edges: list[Selection] = []
    if first is not None and first % MINUTE_IDS:
        ceiling = (first // MINUTE_IDS + 1) * MINUTE_IDS
        cut = ceiling if end is None else min(ceiling, end)
        edges.append(replace(selection, end=cut))
        first = cut
    if end is not None and end % MINUTE_IDS and (first is None or first < end):
        floor = end // MINUTE_IDS * MINUTE_IDS
        start = floor if first is None else max(floor, first)
        edges.append(replace(selection, first=start))
        end = start
    return replace(selection, first=first, end=end), edges


def tally_where(selection: Selection) -> tuple[str, list[int]]:
    """FROM and WHERE over the tally, for a selection of whole minutes."""
    clauses, values = list(selection.counted or ()), list[int]()
    if selection.first is not None:
        clauses.append("minute >= ?")
        values.append(selection.first // MINUTE_IDS)
    if selection.end is not None:
        clauses.append("minute < ?")
        values.append(selection.end // MINUTE_IDS)
    return f"FROM tally WHERE {' AND '.join(clauses or ['1'])}", values


def minute_start(minute: int) -> int | None:
    """The id at which a minute starts; None for the minute of entries without a time."""
    return None if minute == NO_MINUTE else minute * MINUTE_IDS

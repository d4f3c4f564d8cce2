"""Entries counted by slot of time, source and level: what every statistic is added up from."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from connectors.embedded_logbook.selection import Selection
from connectors.embedded_logbook.store import NO_MINUTE, PLACE_BITS
from connectors.embedded_logbook.tally import split, tally_where
from connectors.log_files.levels import LEVELS
from connectors.logbook import Bucket
from connectors.timestamps import instant
from copilot.window import Window

MINUTE = 60
ERROR = LEVELS.index("ERROR")


@dataclass(frozen=True, slots=True)
class Cell:
    """So many entries of one level of one source, in the slot that starts at that second."""

    second: int
    source: int
    level: int
    count: int


def timed_cells(book: sqlite3.Connection, selection: Selection, *, fine: bool) -> list[Cell]:
    """The timed entries by slot, source and level; slots are minutes, or seconds if *fine*."""
    slot = 1 if fine else MINUTE
    if fine or selection.counted is None or selection.part_millisecond:
        return _scanned(book, selection.timed(), slot)
    whole, edges = split(selection)
    cells = [cell for cell in tallied(book, whole) if cell.second >= 0]
    for edge in edges:
        cells += _scanned(book, edge, slot)
    return cells


def _scanned(book: sqlite3.Connection, selection: Selection, slot: int) -> list[Cell]:
    clause, values = selection.also("1").where()  # level and source are not in the index of words
    millis = slot * 1000
    rows = book.execute(
        f"SELECT (entry.id >> {PLACE_BITS}) / {millis} * {slot}, entry.source, entry.level,"
        f" count(*) {clause} GROUP BY 1, 2, 3",
        values,
    )
    return [Cell(*row) for row in rows]


def tallied(book: sqlite3.Connection, whole: Selection) -> list[Cell]:
    """The entries of whole minutes, from the tally; those without a time in NO_MINUTE."""
    clause, values = tally_where(whole)
    rows = book.execute(f"SELECT minute, source, level, count {clause}", values)
    return [
        Cell(minute if minute == NO_MINUTE else minute * MINUTE, source, level, size)
        for minute, source, level, size in rows
    ]


def untimed_cells(book: sqlite3.Connection, selection: Selection) -> list[Cell]:
    """The entries without a time, where the window holds them."""
    if selection.first is not None or selection.end is not None:
        return []
    return [replace(cell, second=NO_MINUTE) for cell in _scanned(book, selection.untimed(), MINUTE)]


def buckets(cells: Sequence[Cell], covered: Window, width: timedelta) -> tuple[Bucket, ...]:
    """Every bucket of the window, empty ones too; they start at whole multiples since 1970."""
    assert covered.start
    assert covered.end
    seconds = max(1, int(width.total_seconds()))
    counts, errors = Counter[int](), Counter[int]()
    for cell in cells:
        if cell.second != NO_MINUTE:
            place = cell.second // seconds
            counts[place] += cell.count
            errors[place] += cell.count if cell.level >= ERROR else 0
    start = int(covered.start.timestamp()) // seconds
    end = int((covered.end - timedelta(microseconds=1)).timestamp()) // seconds
    return tuple(
        Bucket(instant(place * seconds * 1_000_000), counts[place], errors[place])
        for place in range(start, end + 1)
    )


def by_level(cells: Sequence[Cell]) -> tuple[tuple[str, int], ...]:
    """The count of each level that occurs, the worst first; no level at all comes last."""
    counts = Counter[int]()
    for cell in cells:
        counts[cell.level] += cell.count
    return tuple((LEVELS[level], counts[level]) for level in sorted(counts, reverse=True))


def by_source(book: sqlite3.Connection, cells: Sequence[Cell]) -> tuple[tuple[str, int], ...]:
    """The count of each source, the largest first."""
    counts = Counter[int]()
    for cell in cells:
        counts[cell.source] += cell.count
    names: dict[int, str] = dict(book.execute("SELECT id, name FROM source"))
    return tuple((names[source], size) for source, size in counts.most_common())

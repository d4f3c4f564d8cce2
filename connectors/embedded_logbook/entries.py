"""Rows of the store as the entries of the protocol."""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from connectors.embedded_logbook.writer import FLAGS
from connectors.log_files.levels import LEVELS
from connectors.logbook import Entry, Pattern
from connectors.template_counts import Line, drawn, shown
from connectors.timestamps import instant

COLUMNS = (
    "entry.id, entry.time, entry.flag, entry.level, source.name, entry.line, entry.part,"
    " entry.record, entry.message, field_set.pairs, entry.verbatim"
)
TABLES = "JOIN source ON source.id = entry.source JOIN field_set ON field_set.id = entry.fields"
NEVER = instant(0)
_BATCH = 500


def entries_by_id(book: sqlite3.Connection, ids: Sequence[int]) -> list[Entry]:
    """The entries with those ids, in the order of *ids*."""
    found: dict[int, Entry] = {}
    for start in range(0, len(ids), _BATCH):
        some = ids[start : start + _BATCH]
        marks = ", ".join("?" * len(some))
        rows = book.execute(
            f"SELECT {COLUMNS} FROM entry {TABLES} WHERE entry.id IN ({marks})", some
        )
        found.update((row[0], entry_of(row)) for row in rows)
    return [found[entry_id] for entry_id in ids if entry_id in found]


def shown_by(book: sqlite3.Connection, lines: Sequence[Line]) -> tuple[Pattern, ...]:
    """The patterns of *lines* with their sample entries, in that order."""
    wanted = shown(lines)
    entries = dict(zip(wanted, entries_by_id(book, wanted), strict=True))
    names: dict[int, str] = dict(book.execute("SELECT id, name FROM source"))
    return drawn(lines, entries, names)


def entry_of(row: Sequence[object]) -> Entry:
    """The entry of one row of COLUMNS."""
    _, time, flag, level, source, line, part, record, message, pairs, verbatim = row
    assert isinstance(flag, int)
    assert isinstance(level, int)
    assert isinstance(line, int)
    return Entry(
        id=f"{source}:{line}" + (f"+{part}" if part else ""),
        time=instant(time) if isinstance(time, int) else None,
        time_flag=FLAGS[flag],
        level=LEVELS[level],
        source=str(source),
        line=line,
        record=record if isinstance(record, int) else None,
        message=str(message),
        fields=json.loads(str(pairs)),
        verbatim=bool(verbatim),
    )


def in_order(entries: Iterable[Entry], *, newest_first: bool = False) -> tuple[Entry, ...]:
    """The entries by time, source and line; those without a time come last either way."""
    timed = [entry for entry in entries if entry.time]
    rest = [entry for entry in entries if not entry.time]
    timed.sort(key=lambda entry: (entry.source, entry.line), reverse=newest_first)
    timed.sort(key=lambda entry: entry.time or NEVER, reverse=newest_first)
    return (*timed, *rest)

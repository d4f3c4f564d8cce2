"""Records into rows, ids, words and counts. The transaction is the caller's."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from connectors.embedded_logbook.store import (
    MINUTE_MS,
    NO_MINUTE,
    PLACE_BITS,
    PLACES,
    UNTIMED,
)
from connectors.log_files.levels import LEVELS
from connectors.log_files.record import Pairs, Record
from connectors.log_files.searchable import searchable
from connectors.logbook import TimeFlag

FLAGS: tuple[TimeFlag, ...] = ("none", "own", "carried")
FLAG_NUMBER = {flag: number for number, flag in enumerate(FLAGS)}
LEVEL_NUMBER = {level: number for number, level in enumerate(LEVELS)}
FIELD_SETS = 20_000
"""Sets of fields whose number is remembered between two rows."""

Row = tuple[int, int, int, int, int, int | None, int, int | None, int, int, int, str, str]


@dataclass(slots=True)
class Writer:
    """Writes the records of one source, chunk by chunk, and counts them."""

    book: sqlite3.Connection
    source: int
    entries: int = 0
    lines: int = 0
    flags: Counter[TimeFlag] = field(default_factory=Counter)
    tally: Counter[tuple[int, int]] = field(default_factory=Counter)
    field_sets: dict[Pairs, int] = field(default_factory=dict)
    last_line: int = 0
    part: int = 0

    def write(self, chunk: list[Record]) -> None:
        """Store the records, in the order of their time."""
        placed = [(record, self._part(record)) for record in chunk]
        placed.sort(key=_by_time)
        ids = self._ids([record for record, _ in placed])
        rows = [
            self._row(entry_id, record, part)
            for entry_id, (record, part) in zip(ids, placed, strict=True)
        ]
        self.book.executemany(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
        )
        self.book.executemany(
            "INSERT INTO words (rowid, message, extra) VALUES (?, ?, ?)",
            [(row[0], searchable(row[11]), row[12]) for row in rows],
        )

    def write_tally(self) -> None:
        """Store the counts by minute and level."""
        self.book.executemany(
            "INSERT INTO tally (minute, source, level, count) VALUES (?, ?, ?, ?)",
            (
                (minute, self.source, level, count)
                for (minute, level), count in sorted(self.tally.items())
            ),
        )

    def _part(self, record: Record) -> int:
        """The place of the record among those that start on the same line."""
        self.part = self.part + 1 if record.line == self.last_line else 0
        self.last_line = record.line
        return self.part

    def _row(self, entry_id: int, record: Record, part: int) -> Row:
        level = LEVEL_NUMBER[record.level]
        minute = NO_MINUTE if record.time is None else record.time // (MINUTE_MS * 1000)
        self.tally[minute, level] += 1
        self.entries += 1
        self.lines += record.lines
        self.flags[record.time_flag] += 1
        return (
            entry_id,
            self.source,
            record.line,
            part,
            record.lines,
            record.record,
            level,
            record.time,
            FLAG_NUMBER[record.time_flag],
            int(record.verbatim),
            self._field_set(record.fields),
            record.message,
            record.extra,
        )

    def _field_set(self, pairs: Pairs) -> int:
        known = self.field_sets.get(pairs)
        if known is None:
            text = json.dumps(dict(pairs), ensure_ascii=False)
            self.book.execute("INSERT OR IGNORE INTO field_set (pairs) VALUES (?)", (text,))
            row = self.book.execute("SELECT id FROM field_set WHERE pairs = ?", (text,)).fetchone()
            known = int(row[0])
            if len(self.field_sets) > FIELD_SETS:
                self.field_sets.clear()
            self.field_sets[pairs] = known
        return known

    def _ids(self, records: list[Record]) -> Iterable[int]:
        """One id for each record; the records come in the order of their time."""
        untimed = sum(record.time is None for record in records)
        if untimed:
            taken = self._highest(UNTIMED, 0)
            start = UNTIMED if taken is None else taken + 1
            yield from range(start, start + untimed)
        times = [record.time // 1000 for record in records if record.time is not None]
        if not times:
            return
        first, last = times[0] << PLACE_BITS, (times[-1] + 1) << PLACE_BITS
        crowded = self._highest(first, last) is not None
        next_id, previous = 0, -1
        for ms in times:
            opens = ms != previous
            next_id, previous = max(next_id, ms << PLACE_BITS), ms
            if crowded and (opens or next_id % PLACES == 0):
                next_id = self._free(next_id)
            yield next_id
            next_id += 1

    def _free(self, wanted: int) -> int:
        """The first id from *wanted* on above all that are taken in its millisecond.

        Where one millisecond is full, the next one takes the rest: only their order is coarser.
        """
        while True:
            end = (wanted // PLACES + 1) * PLACES
            taken = self._highest(wanted, end)
            if taken is None or taken + 1 < end:
                return wanted if taken is None else taken + 1
            wanted = end

    def _highest(self, lowest: int, end: int) -> int | None:
        row = self.book.execute(
            "SELECT max(id) FROM entry WHERE id >= ? AND id < ?", (lowest, end)
        ).fetchone()
        return None if row[0] is None else int(row[0])


def _by_time(placed: tuple[Record, int]) -> tuple[bool, int, int, int]:
    record, part = placed
    return record.time is not None, record.time or 0, record.line, part

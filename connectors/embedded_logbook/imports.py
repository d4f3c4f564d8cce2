"""Files into the store: one transaction a file, so that a file is there whole or not at all."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from connectors.embedded_logbook.searchable import searchable
from connectors.embedded_logbook.store import (
    MINUTE_MS,
    NO_MINUTE,
    PLACE_BITS,
    PLACES,
    UNTIMED,
    transaction,
)
from connectors.log_files.levels import LEVELS
from connectors.log_files.opening import digest
from connectors.log_files.reader import Assumptions, read_log
from connectors.log_files.record import Flags, Pairs, Record
from connectors.logbook import TimeFlag

CHUNK = 20_000
CHUNK_CHARACTERS = 16 << 20
FLAGS: tuple[TimeFlag, ...] = ("none", "own", "carried")
LEVEL_NUMBER = {level: number for number, level in enumerate(LEVELS)}
FLAG_NUMBER = {flag: number for number, flag in enumerate(FLAGS)}


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did with one file. `lines` are its physical lines; none was dropped.

    `flagged` counts oddities by kind, such as `invalid_utf8`, `nul`, `cut_line`, `no_zone`.
    """

    source: str
    entries: int
    lines: int
    untimed: int
    carried: int
    flagged: Mapping[str, int]
    unchanged: bool


def import_log(book: sqlite3.Connection, path: Path, source: str, assumed: Assumptions) -> Imported:
    """Import the file at *path* as *source*, in place of what that source held before.

    Raises ImportRefusedError; the store is then as it was.
    """
    fingerprint = digest(path)
    known = _known(book, source, fingerprint)
    if known:
        return known
    with transaction(book):
        forget(book, source)
        row = book.execute(
            "INSERT INTO source (name, digest, entries, lines, untimed, carried, flagged)"
            " VALUES (?, ?, 0, 0, 0, 0, '{}')",
            (source, fingerprint),
        )
        writer = _Writer(book, row.lastrowid or 0)
        flags = Flags()
        with read_log(path, assumed, flags) as records:
            for chunk in _chunks(records):
                writer.write(chunk)
        writer.write_tally()
        flagged: dict[str, int] = {name: count for name, count in sorted(flags.items()) if count}
        book.execute(
            "UPDATE source SET entries = ?, lines = ?, untimed = ?, carried = ?, flagged = ?"
            " WHERE id = ?",
            (
                writer.entries,
                writer.lines,
                writer.flags["none"],
                writer.flags["carried"],
                json.dumps(flagged),
                writer.source,
            ),
        )
    return Imported(
        source,
        writer.entries,
        writer.lines,
        writer.flags["none"],
        writer.flags["carried"],
        flagged,
        unchanged=False,
    )


def forget(book: sqlite3.Connection, source: str) -> None:
    """Remove all of *source*, from the index too, inside the caller's transaction."""
    row = book.execute("SELECT id FROM source WHERE name = ?", (source,)).fetchone()
    if not row:
        return
    entries = book.execute("SELECT id, message, extra FROM entry WHERE source = ?", row)
    book.executemany(
        "INSERT INTO words (words, rowid, message, extra) VALUES ('delete', ?, ?, ?)",
        ((entry_id, searchable(message), extra) for entry_id, message, extra in entries),
    )
    for table, column in (("entry", "source"), ("tally", "source"), ("source", "id")):
        book.execute(f"DELETE FROM {table} WHERE {column} = ?", row)


def sources_of(book: sqlite3.Connection) -> list[Imported]:
    """What was imported, by name; every one `unchanged`."""
    return [
        _imported(row)
        for row in book.execute(
            "SELECT name, entries, lines, untimed, carried, flagged FROM source ORDER BY name"
        )
    ]


def _known(book: sqlite3.Connection, source: str, fingerprint: str) -> Imported | None:
    row = book.execute(
        "SELECT name, entries, lines, untimed, carried, flagged FROM source"
        " WHERE name = ? AND digest = ?",
        (source, fingerprint),
    ).fetchone()
    return _imported(row) if row else None


def _imported(row: tuple[str, int, int, int, int, str]) -> Imported:
    name, entries, lines, untimed, carried, flagged = row
    return Imported(name, entries, lines, untimed, carried, json.loads(flagged), unchanged=True)


def _chunks(records: Iterable[Record]) -> Iterator[list[Record]]:
    """The records in lists that are neither too long nor too large to hold."""
    chunk: list[Record] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += len(record.message)
        if len(chunk) >= CHUNK or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@dataclass(slots=True)
class _Writer:
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

    def _row(self, id: int, record: Record, part: int) -> tuple[
        int, int, int, int, int, int | None, int, int | None, int, int, int, str, str
    ]:  # fmt: skip
        level = LEVEL_NUMBER[record.level]
        minute = NO_MINUTE if record.time is None else record.time // (MINUTE_MS * 1000)
        self.tally[minute, level] += 1
        self.entries += 1
        self.lines += record.lines
        self.flags[record.time_flag] += 1
        return (
            id,
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
            if len(self.field_sets) > CHUNK:
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

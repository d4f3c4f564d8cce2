"""Files into the store: one transaction a file, so that a file is there whole or not at all."""

import json
import sqlite3
from pathlib import Path

from connectors.embedded_logbook.store import transaction
from connectors.embedded_logbook.writer import Writer
from connectors.log_files.batch import Imported, chunks_of
from connectors.log_files.opening import digest
from connectors.log_files.reader import Assumptions, read_log
from connectors.log_files.record import Flags
from connectors.log_files.searchable import searchable


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
        writer = Writer(book, row.lastrowid or 0)
        flags = Flags()
        with read_log(path, assumed, flags) as records:
            for chunk in chunks_of(records):
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

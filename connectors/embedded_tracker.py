"""Tickets from exported files, in one SQLite file with a full-text index. No server, no network.

Nothing that a file brought is lost by a later one: an export without comments keeps those of an
earlier export and says so, and an older copy of a ticket never replaces a newer one.
"""

import sqlite3
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from connectors import ticket_table
from connectors.full_text import match_all, match_any, quoted_words
from connectors.index_file import IndexFile
from connectors.ticket_copies import is_older, merged
from connectors.ticket_json import read_export, ticket
from connectors.tracker import Ticket, TicketSearch, TicketsFound
from copilot.errors import ImportRefusedError

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes. JSON takes many times its size to read."""

Outcome = Literal["added", "replaced", "unchanged", "older"]


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that is no ticket: its place in the file, and why it was left out."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class ImportedTickets:
    """What became of one file. `older` counts copies that were older than what was there."""

    source: str
    added: int
    replaced: int
    unchanged: int
    older: int
    refused: tuple[Refused, ...]
    missing: str
    """`50 of 120` when the file is only a page of a search, else empty."""


class EmbeddedTracker:
    """A tracker in the file at *path*, which is made when it is missing."""

    def __init__(self, path: Path, *, name: str = "local") -> None:
        self.name = name
        self._index = IndexFile(path, ticket_table.SCHEMA, ticket_table.VERSION)

    def import_file(self, path: Path, source: str) -> ImportedTickets:
        """Keep the tickets of the JSON file at *path* under the name *source*, all or nothing.

        Raises ImportRefusedError when the file is not JSON or holds no ticket at all.
        """
        export = read_export(_read(path, source), source)
        outcomes: Counter[Outcome] = Counter()
        refused = []
        with self._index.writing() as connection:
            for where, record in export.records:
                found = ticket(record, source)
                if isinstance(found, str):
                    refused.append(Refused(where, found))
                else:
                    outcomes[_keep(connection, found)] += 1
        if not outcomes:
            why = refused[0].why if refused else "it is empty"
            raise ImportRefusedError(f"{source} holds no ticket: {why}")
        return ImportedTickets(
            source,
            added=outcomes["added"],
            replaced=outcomes["replaced"],
            unchanged=outcomes["unchanged"],
            older=outcomes["older"],
            refused=tuple(refused),
            missing=export.missing,
        )

    def search(self, search: TicketSearch) -> TicketsFound:
        """The matching tickets without their parts; a filter matches any of its values.

        `updated` takes a ticket by its last update, else its last comment, else its creation.
        When no ticket holds all words, those with some of them are ranked, and a note says so,
        unless *search* needs all of them.
        """
        words = quoted_words(search.text)
        with self._index.reading() as connection:
            found = ticket_table.find(connection, search, match_all(words))
            if found.total.value == 0 and len(words) > 1 and not search.needs_all_words:
                found = ticket_table.find(connection, search, match_any(words))
                found = _noted(found, "no ticket holds all the words; these hold some of them")
            if ticket_table.is_empty(connection):
                why = "nothing was imported into this tracker yet"
                found = replace(found, coverage=replace(found.coverage, why_incomplete=why))
        if search.text.strip() and not words:
            found = _noted(found, "the text names no word to look for, so it was left out")
        return found

    def ticket(self, key: str, parts: frozenset[str]) -> Ticket | None:
        """That ticket, whatever the case of *key*, with the *parts* asked for, or None."""
        with self._index.reading() as connection:
            kept = ticket_table.read(connection, key.strip())
        return ticket_table.header(kept[1], parts) if kept else None


def _keep(connection: sqlite3.Connection, new: Ticket) -> Outcome:
    """Keep *new* with what is there of the same ticket, and say what became of it."""
    kept = ticket_table.read(connection, new.key)
    if not kept:
        ticket_table.write(connection, None, new)
        return "added"
    row, old = kept
    both = merged(old, new)
    if replace(both, source=old.source) == old:
        return "older" if is_older(new, old) else "unchanged"
    ticket_table.write(connection, row, both)
    return "replaced"


def _noted(found: TicketsFound, note: str) -> TicketsFound:
    coverage = found.coverage
    return replace(found, coverage=replace(coverage, notes=(*coverage.notes, note)))


def _read(path: Path, source: str) -> str:
    try:
        if not path.is_file():
            raise ImportRefusedError(f"cannot import {source}: {path} is not a file")
        if path.stat().st_size > LARGEST_FILE:
            raise ImportRefusedError(
                f"{source} has over {LARGEST_FILE >> 20} MiB; export fewer tickets per file"
            )
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportRefusedError(f"{source} is not UTF-8 text ({error.reason})") from None
    except OSError as error:
        raise ImportRefusedError(f"cannot read {source}: {error.strerror}") from None

"""Search: one page of entries, the exact count of all, and what the answer rests on."""

import hashlib
import json
import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime

from connectors.embedded_logbook.entries import entries_by_id, in_order
from connectors.embedded_logbook.selection import Selection, by_parts, by_text, select
from connectors.embedded_logbook.tally import count
from connectors.logbook import Count, Coverage, Filters, Found, Relation, Search
from connectors.text_query import TextQuery, phrase
from connectors.timestamps import instant
from copilot.errors import UsageError
from copilot.window import Window, iso

SCANNED = 300_000
"""Entries that a search within words looks at, the newest ones."""
MAX_LIMIT = 10_000


def search(book: sqlite3.Connection, asked: Search) -> Found:
    """The page of entries that *asked* names. Raises UsageError for a cursor of another search."""
    every, query = select(book, asked.filters)
    return _answer(book, every, query, asked)


def trace(book: sqlite3.Connection, identifier: str, window: Window, limit: int) -> Found:
    """Every entry that holds *identifier* whole, oldest first."""
    query = phrase(identifier)
    asked = Search(Filters(text=identifier), window, "oldest", limit)
    return _answer(book, by_text(Selection("", (), ()), query), query, asked)


def span(book: sqlite3.Connection, selection: Selection) -> tuple[datetime | None, datetime | None]:
    """The times of the first and the last entry that has one."""
    clause, values = selection.timed().where()
    ends: list[datetime | None] = []
    for order in ("ASC", "DESC"):
        row = book.execute(
            f"SELECT {selection.id} {clause} ORDER BY {selection.id} {order} LIMIT 1", values
        ).fetchone()
        time = row and book.execute("SELECT time FROM entry WHERE id = ?", row).fetchone()
        ends.append(instant(time[0]) if time else None)
    return ends[0], ends[1]


def _answer(book: sqlite3.Connection, every: Selection, query: TextQuery, asked: Search) -> Found:
    page = _opened(asked)
    selection = every.within(asked.window)
    total, untimed = 0, 0
    if query.groups or not query.bare:
        total, untimed = count(book, selection), count(book, every.untimed())
        if total or untimed or not query.groups:
            notes = () if total else _elsewhere(book, every)
            coverage = Coverage(untimed=untimed, notes=notes)
            return _found(book, selection, asked, page, coverage=coverage, total=total)
    return _within_words(book, query, asked, page, notes=_elsewhere(book, every))


def _within_words(
    book: sqlite3.Connection, query: TextQuery, asked: Search, page: "_Page", notes: tuple[str, ...]
) -> Found:
    """What holds the terms inside longer words, among a bounded number of entries."""
    plain, _ = select(book, replace(asked.filters, text=""))
    window = plain.within(asked.window)
    clause, values = window.where()
    row = book.execute(
        f"SELECT entry.id {clause} ORDER BY entry.id DESC LIMIT 1 OFFSET {SCANNED}", values
    ).fetchone()
    if row:
        window = replace(window, first=row[0] + 1)
    selection = by_parts(window, query)
    total = count(book, selection)
    found = "some hold" if total else "none holds"
    note = f"no entry holds the text as whole words; {found} it inside longer words"
    why = f"only the newest {SCANNED} entries were searched inside words" if row else ""
    coverage = Coverage(why, count(book, by_parts(plain.untimed(), query)), (note, *notes))
    return _found(book, selection, asked, page, coverage=coverage, total=total)


def _elsewhere(book: sqlite3.Connection, every: Selection) -> tuple[str, ...]:
    """A note on matches outside the window, where there are none in it."""
    others = count(book, every.timed()) if every.match else 0
    if not others:
        return ()
    first, last = (iso(time) if time else "?" for time in span(book, every))
    return (f"{others} entries match outside the window, from {first} to {last}",)


def _found(
    book: sqlite3.Connection,
    selection: Selection,
    asked: Search,
    page: "_Page",
    *,
    coverage: Coverage,
    total: int,
) -> Found:
    limit = max(0, min(asked.limit, MAX_LIMIT))
    rows = _rows(book, selection, asked, page, limit + 1) if total and limit else []
    more = len(rows) > limit
    entries = entries_by_id(book, [entry_id for entry_id, _ in rows[:limit]])
    if asked.order == "ranked" and selection.match:
        ordered = tuple(entries)
    else:
        ordered = in_order(entries, newest_first=asked.order != "oldest")
    first, last = span(book, selection) if total else (None, None)
    relation: Relation = "at_least" if coverage.why_incomplete else "exact"
    cursor = _closed(asked, _Page(*rows[limit - 1])) if more else ""
    return Found(ordered, Count(total, relation), coverage, first, last, cursor)


def _rows(
    book: sqlite3.Connection, selection: Selection, asked: Search, page: "_Page", limit: int
) -> list[tuple[int, float]]:
    """Id and score of the next entries in the order asked for."""
    if asked.order == "ranked" and selection.match:
        return _ranked(book, selection, page, limit)
    if asked.order != "oldest":
        below = () if page.id is None else (f"{selection.id} < {page.id}",)
        return _by_id(book, selection, below, "DESC", limit)
    rows: list[tuple[int, float]] = []
    if page.id is None or page.id >= 0:
        above = () if page.id is None else (f"{selection.id} > {page.id}",)
        rows = _by_id(book, selection.timed(), above, "ASC", limit)
    if selection.first is None and len(rows) < limit:
        started = page.id is not None and page.id < 0
        above = (f"{selection.id} > {page.id}",) if started else ()
        rows += _by_id(book, selection.untimed(), above, "ASC", limit - len(rows))
    return rows


def _by_id(
    book: sqlite3.Connection, selection: Selection, more: tuple[str, ...], order: str, limit: int
) -> list[tuple[int, float]]:
    clause, values = selection.where(*more)
    return book.execute(
        f"SELECT {selection.id}, 0.0 {clause} ORDER BY {selection.id} {order} LIMIT {limit}", values
    ).fetchall()


def _ranked(
    book: sqlite3.Connection, selection: Selection, page: "_Page", limit: int
) -> list[tuple[int, float]]:
    """The best first; the newest first among equals."""
    clause, values = selection.where()
    scored = f"SELECT words.rowid AS id, bm25(words) AS score {clause}"
    beyond = "1"
    if page.id is not None:
        beyond = f"score > ? OR (score = ? AND id < {page.id})"
        values += [page.score, page.score]  # type: ignore[list-item] # a score binds like any value
    return book.execute(
        f"SELECT id, score FROM ({scored}) WHERE {beyond} ORDER BY score, id DESC LIMIT {limit}",
        values,
    ).fetchall()


@dataclass(frozen=True, slots=True)
class _Page:
    """Where a page starts: after that entry, which had that score. None: the first page."""

    id: int | None = None
    score: float = 0.0


def _closed(asked: Search, page: _Page) -> str:
    """The cursor for the page that starts after *page*."""
    return f"{page.id}/{page.score.hex()}/{_fingerprint(asked)}"


def _opened(asked: Search) -> _Page:
    if not asked.cursor:
        return _Page()
    entry_id, _, rest = asked.cursor.partition("/")
    score, _, fingerprint = rest.partition("/")
    try:
        page = _Page(int(entry_id), float.fromhex(score))
    except (ValueError, OverflowError):
        fingerprint = ""
    if fingerprint != _fingerprint(asked):
        raise UsageError(
            "the cursor belongs to another search; repeat the search it came from, with the same "
            "query, window, filters and order, or leave the cursor out"
        )
    return page


def _fingerprint(asked: Search) -> str:
    filters = asked.filters
    text = json.dumps(
        [filters.levels, filters.sources, sorted(filters.fields.items()), filters.text,
         str(asked.window), asked.order]
    )  # fmt: skip
    return hashlib.sha256(text.encode()).hexdigest()[:12]

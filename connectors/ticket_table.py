"""Tickets as rows: what the embedded tracker keeps, and how a search becomes SQL.

The whole ticket is one JSON text; columns and labels beside it are only there to be searched.
"""

import sqlite3
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from pydantic import TypeAdapter

from connectors.full_text import TOKENIZER, storable
from connectors.logbook import Count, Coverage
from connectors.ticket_copies import touched
from connectors.tracker import Ticket, TicketSearch, TicketsFound
from copilot.errors import UsageError
from copilot.window import ALWAYS, Window

Condition: TypeAlias = tuple[str, list[str | float]]
"""A condition in SQL, and the values that it binds."""

VERSION = 1
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS tickets (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE COLLATE NOCASE,
    project TEXT COLLATE NOCASE, status TEXT COLLATE NOCASE, touched REAL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS labels (
    ticket INTEGER NOT NULL, label TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (ticket, label)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_touched ON tickets (touched);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    key, summary, labels, description, discussion, tokenize = '{TOKENIZER}')
"""
BEST_FIRST = "bm25(words, 10.0, 5.0, 3.0, 1.0, 1.0), touched DESC, tickets.key"
NEWEST_FIRST = "touched DESC, tickets.key"


def read(connection: sqlite3.Connection, key: str) -> tuple[int, Ticket] | None:
    """The ticket of that key, whatever its case, after its row number."""
    row = connection.execute(
        "SELECT id, body FROM tickets WHERE key = ?", [storable(key)]
    ).fetchone()
    return (row[0], _adapter().validate_json(row[1])) if row else None


def write(connection: sqlite3.Connection, row: int | None, ticket: Ticket) -> None:
    """Put *ticket* in that row, or in a new one."""
    time = touched(ticket)
    connection.execute(
        "INSERT OR REPLACE INTO tickets (id, key, project, status, touched, body)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            row,
            ticket.key,
            ticket.project,
            ticket.status,
            time.timestamp() if time else None,
            _adapter().dump_json(ticket).decode(),
        ],
    )
    if row is None:
        row = connection.execute("SELECT last_insert_rowid()").fetchone()[0]
    connection.execute("DELETE FROM labels WHERE ticket = ?", [row])
    connection.executemany(
        "INSERT OR IGNORE INTO labels VALUES (?, ?)", [(row, label) for label in ticket.labels]
    )
    connection.execute("DELETE FROM words WHERE rowid = ?", [row])
    connection.execute(
        "INSERT INTO words (rowid, key, summary, labels, description, discussion)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            row,
            ticket.key,
            ticket.summary,
            " ".join(ticket.labels),
            ticket.description,
            _discussion(ticket),
        ],
    )


def is_empty(connection: sqlite3.Connection) -> bool:
    """True when no ticket is kept."""
    return connection.execute("SELECT 1 FROM tickets LIMIT 1").fetchone() is None


def find(connection: sqlite3.Connection, search: TicketSearch, expression: str) -> TicketsFound:
    """One page of the tickets that match; *expression* is the MATCH of the text, or empty."""
    source = "words JOIN tickets ON tickets.id = words.rowid" if expression else "tickets"
    order = BEST_FIRST if expression else NEWEST_FIRST
    conditions = _filters(search)
    if expression:
        conditions.append(("words MATCH ?", [expression]))
    where, values = _all(conditions + _window(search.updated))
    untimed_where, untimed_values = _all([*conditions, ("touched IS NULL", [])])
    offset = _offset(search.page)

    bodies = connection.execute(
        f"SELECT body FROM {source} {where} ORDER BY {order} LIMIT ? OFFSET ?",
        [*values, max(search.limit, 0), offset],
    ).fetchall()
    counting = f"SELECT count(*) FROM {source}"
    total = connection.execute(f"{counting} {where}", values).fetchone()[0]
    untimed = connection.execute(f"{counting} {untimed_where}", untimed_values).fetchone()[0]

    after = offset + len(bodies)
    return TicketsFound(
        tickets=tuple(header(_adapter().validate_json(body)) for (body,) in bodies),
        total=Count(total),
        coverage=Coverage(untimed=0 if search.updated == ALWAYS else untimed),
        page=str(after) if bodies and after < total else "",
    )


def header(ticket: Ticket, keep: frozenset[str] = frozenset()) -> Ticket:
    """The ticket without its comments, changes and links, but for those to *keep*."""
    return replace(
        ticket,
        comments=ticket.comments if "comments" in keep else None,
        changes=ticket.changes if "changes" in keep else None,
        links=ticket.links if "links" in keep else None,
    )


def _discussion(ticket: Ticket) -> str:
    said = [f"{comment.author} {comment.text}" for comment in ticket.comments or ()]
    said += [f"{link.relation} {link.key} {link.summary}" for link in ticket.links or ()]
    return "\n".join([*said, *(ticket.attachments or ())])


def _filters(search: TicketSearch) -> list[Condition]:
    conditions: list[Condition] = []
    for column, wanted in (("project", search.projects), ("status", search.statuses)):
        if wanted:
            conditions.append((f"{column} IN ({_marks(wanted)})", [*map(storable, wanted)]))
    if search.labels:
        labelled = f"SELECT ticket FROM labels WHERE label IN ({_marks(search.labels)})"
        conditions.append((f"tickets.id IN ({labelled})", [*map(storable, search.labels)]))
    return conditions


def _window(window: Window) -> list[Condition]:
    conditions: list[Condition] = []
    if window.start:
        conditions.append(("touched >= ?", [window.start.timestamp()]))
    if window.end:
        conditions.append(("touched < ?", [window.end.timestamp()]))
    return conditions


def _all(conditions: list[Condition]) -> tuple[str, list[str | float]]:
    """The WHERE for all conditions, and the values that it binds."""
    if not conditions:
        return "", []
    sql = " AND ".join(condition for condition, _ in conditions)
    return f"WHERE {sql}", [value for _, values in conditions for value in values]


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values))


def _offset(page: str) -> int:
    if not page:
        return 0
    if not (page.isascii() and page.isdecimal() and len(page) < 10):
        raise UsageError(f"{page!r} is no page of this search; give back the one it returned")
    return int(page)


@cache
def _adapter() -> TypeAdapter[Ticket]:
    return TypeAdapter(Ticket)

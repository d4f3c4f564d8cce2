"""When each value of a field was seen last: one page of values, one query.

Values stand in the sets of fields, of which there are far fewer than entries. So a page is first
cut out of the sets, and only its own entries are looked at, by the index over sets: all pages
together read each entry once, however many pages there are.
"""

import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime

from connectors.embedded_logbook.search import span
from connectors.embedded_logbook.selection import Selection, Value, select
from connectors.embedded_logbook.store import PLACE_BITS
from connectors.embedded_logbook.tally import count
from connectors.logbook import Coverage, Filters, LastSeen, Latest, LatestPage
from connectors.timestamps import instant
from copilot.window import Window

MAX_LIMIT = 10_000
EVERYTHING = Selection("", (), ())


@dataclass(frozen=True, slots=True)
class _Carrier:
    """What carries the values: a column of entries, and the query for the value of each number."""

    column: str
    query: str
    values: tuple[Value, ...] = ()


def latest(book: sqlite3.Connection, asked: Latest) -> LatestPage:
    """The page of values that *asked* names."""
    limit = max(1, min(asked.limit, MAX_LIMIT))
    carrier = _carrier(asked.field)
    here, last = book.execute(
        f"SELECT count(*), max(value) FROM (SELECT DISTINCT value FROM ({carrier.query})"
        f" WHERE value > ? ORDER BY value LIMIT {limit})",
        (*carrier.values, asked.after),
    ).fetchone()
    kinds = [asked.filters, *([asked.ending] if asked.ending else [])]
    untimed = sum(count(book, select(book, kind)[0].untimed()) for kind in kinds)
    return LatestPage(
        rows=_rows(book, asked, carrier, last) if here else (),
        next=last if here == limit else "",
        coverage=Coverage(untimed=untimed),
        newest=span(book, EVERYTHING.within(Window(None, asked.window.end)))[1],
    )


def _carrier(field: str) -> _Carrier:
    if field == "source":
        return _Carrier("source", "SELECT id, name AS value FROM source")
    path = '$."' + field.replace('"', "") + '"'
    query = "SELECT id, json_extract(pairs, ?) AS value FROM field_set"
    return _Carrier("fields", query, (path,))


def _rows(
    book: sqlite3.Connection, asked: Latest, carrier: _Carrier, last: str
) -> tuple[LastSeen, ...]:
    """The values behind `asked.after` up to *last* that have entries in the window."""
    found, values = _by_number(book, asked, asked.filters, carrier)
    parts = [f"SELECT number, newest AS last, size, NULL AS ended FROM ({found})"]
    if asked.ending:
        found, more = _by_number(book, asked, asked.ending, carrier)
        parts.append(f"SELECT number, NULL, 0, newest FROM ({found})")
        values += more
    rows = book.execute(
        f"WITH named AS MATERIALIZED (SELECT id, value FROM ({carrier.query})"
        " WHERE value > ? AND value <= ?)"
        f" SELECT value, max(last), sum(size), max(ended) FROM ({' UNION ALL '.join(parts)})"
        " JOIN named ON named.id = number GROUP BY value ORDER BY value",
        [*carrier.values, asked.after, last, *values],
    )
    return tuple(
        LastSeen(value, _time(newest), size, _time(ended)) for value, newest, size, ended in rows
    )


def _by_number(
    book: sqlite3.Connection, asked: Latest, filters: Filters, carrier: _Carrier
) -> tuple[str, list[Value]]:
    """The query for the newest id and the count of the matching entries of each set or source."""
    selection = _by_entry(select(book, filters)[0].within(asked.window).timed())
    column = f"entry.{carrier.column}"
    clause, values = selection.where(f"{column} IN (SELECT id FROM named)")
    sums = f"SELECT {column} AS number, max(entry.id) AS newest, count(*) AS size"
    return f"{sums} {clause} GROUP BY {column}", values


def _by_entry(selection: Selection) -> Selection:
    """The same entries, to be reached by their set and only then checked for their words."""
    if not selection.match:
        return selection
    words = replace(selection, conditions=(), values=(), part_millisecond=())
    clause, values = words.where()
    inside = f"+entry.id IN (SELECT words.rowid {clause})"
    return replace(selection, match="").also(inside, *values)


def _time(entry_id: int | None) -> datetime | None:
    """The time that an id tells, to the millisecond."""
    return None if entry_id is None else instant((entry_id >> PLACE_BITS) * 1000)

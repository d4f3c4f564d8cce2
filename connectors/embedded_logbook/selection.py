"""Filters and a window, into the FROM and WHERE of a query over the store."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from connectors.embedded_logbook.store import PLACE_BITS
from connectors.log_files.levels import LEVELS
from connectors.logbook import Filters
from connectors.text_query import TextQuery, parse
from connectors.timestamps import micros_of
from copilot.errors import UsageError
from copilot.window import Window

Value = int | str
TROUBLE = 4
"""The levels from WARN on, which have an index of their own."""
FEW = 1_000
"""So many sets of fields are named one by one in a query."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which entries. `first` and `end` bound their ids, half-open."""

    match: str
    conditions: tuple[str, ...]
    values: tuple[Value, ...]
    first: int | None = None
    end: int | None = None
    part_millisecond: tuple[str, ...] = ()
    """Conditions on the time itself, for a window that starts or ends within a millisecond."""
    counted: tuple[str, ...] | None = ()
    """The same conditions on the tally of entries, or None where it cannot tell."""

    @property
    def needs_entry(self) -> bool:
        """True when the full-text index alone cannot answer."""
        return bool(self.conditions or self.part_millisecond or not self.match)

    @property
    def id(self) -> str:
        """The column that holds the id."""
        return "entry.id" if self.needs_entry else "words.rowid"

    def where(self, *more: str) -> tuple[str, list[Value]]:
        """FROM and WHERE, and the values to bind; *more* conditions bind none."""
        tables, clauses, values = "entry", list[str](), list[Value]()
        if self.match:
            tables = "words JOIN entry ON entry.id = words.rowid" if self.needs_entry else "words"
            clauses.append("words MATCH ?")
            values.append(self.match)
        bounded = "words.rowid" if self.match else "entry.id"
        for bound, operator in ((self.first, ">="), (self.end, "<")):
            if bound is not None:
                clauses.append(f"{bounded} {operator} ?")
                values.append(bound)
        clauses += [*self.conditions, *self.part_millisecond, *more]
        values += self.values
        return f"FROM {tables} WHERE {' AND '.join(clauses or ['1'])}", values

    def within(self, window: Window) -> "Selection":
        """The same entries, those of *window* only. An unbounded window holds the untimed too."""
        if window.start is None and window.end is None:
            return self
        exact: list[str] = []
        first, end = 0, None
        if window.start:
            first = (_ms(window.start)) << PLACE_BITS
            if micros_of(window.start) % 1000:
                exact.append(f"entry.time >= {micros_of(window.start)}")
        if window.end:
            micros = micros_of(window.end)
            end = -(-micros // 1000) << PLACE_BITS
            if micros % 1000:
                exact.append(f"entry.time < {micros}")
        return replace(self, first=max(first, 0), end=end, part_millisecond=tuple(exact))

    def untimed(self) -> "Selection":
        """The same entries, those without a time only."""
        return replace(self, first=None, end=0, part_millisecond=())

    def timed(self) -> "Selection":
        """The same entries, those with a time only."""
        return replace(self, first=max(self.first or 0, 0))

    def also(self, condition: str, *values: Value) -> "Selection":
        """The same entries, those that meet one more condition only."""
        return replace(
            self,
            conditions=(*self.conditions, condition),
            values=(*self.values, *values),
            counted=None,
        )

    def among(self, column: str, numbers: Sequence[int], hint: str = "") -> "Selection":
        """The same entries, those whose level or source is one of *numbers* only.

        *hint* goes before the condition, to lead SQLite to an index or away from one.
        """
        listed = f"{column} IN ({', '.join(map(str, numbers))})"
        counted = None if self.counted is None else (*self.counted, listed)
        return replace(
            self, conditions=(*self.conditions, f"{hint}entry.{listed}"), counted=counted
        )

    def count(self, book: sqlite3.Connection) -> int:
        """How many entries there are."""
        clause, values = self.where()
        return int(book.execute(f"SELECT count(*) {clause}", values).fetchone()[0])


def select(book: sqlite3.Connection, filters: Filters) -> tuple[Selection, TextQuery]:
    """The entries that match *filters* at any time, and the text query that was read from them."""
    query = parse(filters.text)
    selection = by_text(Selection("", (), ()), query)
    fields = dict(filters.fields)
    levels = [*filters.levels, *([fields.pop("level")] if "level" in fields else [])]
    sources = [*filters.sources, *([fields.pop("source")] if "source" in fields else [])]
    if levels:
        numbers = [_level(name) for name in levels]
        hint = f"entry.level >= {TROUBLE} AND " if min(numbers) >= TROUBLE else ""
        selection = selection.among("level", numbers, hint)
    if sources:
        numbers, hint = _sources(book, sources)
        selection = selection.among("source", numbers, hint)
    for name, value in fields.items():
        selection = _with_field(book, selection, name, value)
    return selection, query


def by_text(selection: Selection, query: TextQuery) -> Selection:
    """The same entries, those that match the text only."""
    if query.match:
        selection = replace(selection, match=query.match, counted=None)
    for text in query.exact:
        selection = selection.also(*_holds(text))
    for text in query.unwanted:
        condition, *values = _holds(text)
        selection = selection.also(f"NOT {condition}", *values)
    return selection


def by_parts(selection: Selection, query: TextQuery) -> Selection:
    """The same entries, those that hold the query's terms anywhere, within words too."""
    selection = replace(selection, match="")
    for group in query.parts:
        held = [_holds(text) for text in group]
        condition = "(" + " OR ".join(condition for condition, *_ in held) + ")"
        selection = selection.also(condition, *(value for _, *values in held for value in values))
    for term in query.excluded:
        condition, *values = _holds(term.text)
        selection = selection.also(f"NOT {condition}", *values)
    return selection


def _holds(text: str) -> tuple[str, str, str]:
    """A condition that is true where *text* stands in the message or beside it, case ignored."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")[:10_000]
    pattern = f"%{escaped}%"
    like = "entry.{} LIKE ? ESCAPE '\\'"
    return f"({like.format('message')} OR {like.format('extra')})", pattern, pattern


def _level(name: str) -> int:
    word = "" if name == "" else name.upper()
    if word not in LEVELS:
        raise UsageError(f"{name!r} is not a level; use one of {', '.join(LEVELS[1:])}")
    return LEVELS.index(word)


def _sources(book: sqlite3.Connection, names: Sequence[str]) -> tuple[list[int], str]:
    """The ids of the sources, 0 for one that is not there, and the hint for their condition.

    Where they hold a good part of everything, walking by time beats walking source by source.
    """
    rows = {
        name: (number, size)
        for name, number, size in book.execute("SELECT name, id, entries FROM source")
    }
    chosen = [rows.get(name, (0, 0)) for name in names]
    large = sum(size for _, size in chosen) * 10 > sum(size for _, size in rows.values())
    return [number for number, _ in chosen], "+" if large else ""


def _with_field(book: sqlite3.Connection, selection: Selection, name: str, value: str) -> Selection:
    """The same entries, those whose field has that value only."""
    path = '$."' + name.replace('"', "") + '"'
    sets = "SELECT id FROM field_set WHERE json_extract(pairs, ?) = ?"
    found = book.execute(f"{sets} LIMIT {FEW + 1}", (path, value)).fetchall()
    if len(found) > FEW:
        return selection.also(f"entry.fields IN ({sets})", path, value)
    listed = ", ".join(str(number) for (number,) in found)
    return selection.also(f"entry.fields IN ({listed})")


def _ms(time: datetime) -> int:
    return micros_of(time) // 1000

"""Hits as the entries of the protocol."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from connectors.log_files.levels import LEVELS, find_level, level_of_word
from connectors.logbook import Entry, TimeFlag
from connectors.opensearch.answers import Hit
from connectors.opensearch.schema import Schema
from connectors.opensearch.times import time_of
from connectors.timestamps import Clock
from copilot.values import Json, JsonObject, canonical, text_at

FIELDS = 200
TOO_LARGE = "(this entry has more than 8 MiB, or is nested too deep, and was not read)"
TOO_DEEP = "(nested too deep to be shown)"
FLAGS: Mapping[str, TimeFlag] = {"own": "own", "carried": "carried", "none": "none"}
NO_FIELDS: Mapping[str, str] = {}
NUMBERS = {name: place for place, name in enumerate(LEVELS)}
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


Glance: TypeAlias = tuple[str, int, str]
"""What tells the kind of an entry: its source, the number of its level, and its message."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads the hits of a logbook that looks as *schema* says."""

    schema: Schema
    _clock: Clock = field(default_factory=lambda: Clock(NEVER))

    def entry(self, hit: Hit) -> Entry:
        """The entry of one hit."""
        return self._own(hit) if self.schema.own else self._foreign(hit)

    def glance(self, hit: Hit) -> Glance:
        """A look at one hit; ten thousands of ours are looked at for a few that are shown."""
        told: Any = hit.source
        if self.schema.own:
            text = TOO_LARGE if hit.cut else told.get("raw") or told.get("message", "")
            return told.get("source", ""), NUMBERS.get(told.get("level", ""), 0), text
        text = self._text(hit)
        return self._named(hit), NUMBERS.get(self._level(hit.source, text), 0), text

    def _own(self, hit: Hit) -> Entry:
        """The entry that `importer` wrote; ten thousand of them are read for one search."""
        told: Any = hit.source  # what we wrote, and so of the types that we wrote
        name, line, part = told.get("source", ""), told.get("line", 0), told.get("part", 0)
        value = told.get(self.schema.time.name)
        return Entry(
            f"{name}:{line}+{part}" if part else f"{name}:{line}",
            None if value is None else time_of(self.schema.time, value, self._clock),
            FLAGS.get(told.get("time_flag", ""), "own"),
            told.get("level", ""),
            name,
            line,
            told.get("record"),
            _message(hit),
            told.get("fields", NO_FIELDS),
            told.get("verbatim") is True,
        )

    def _foreign(self, hit: Hit) -> Entry:
        schema, source = self.schema, hit.source
        column = hit.values.get(schema.time.name)
        value = column if column is not None else value_at(source, schema.time.name)
        time = time_of(schema.time, value, self._clock)
        text = self._text(hit)
        line = value_at(source, schema.line) if schema.line else None
        return Entry(
            id=hit.key,
            time=time,
            time_flag="own" if time else "none",
            level=self._level(source, text),
            source=self._named(hit),
            line=line if isinstance(line, int) and not isinstance(line, bool) else 0,
            record=None,
            message=text,
            fields=dict(self._pairs(source)),
            verbatim=False,
        )

    def _text(self, hit: Hit) -> str:
        """The message of an entry that is not ours; all of the entry where it has none."""
        if hit.cut:
            return TOO_LARGE
        path = self.schema.message
        message = value_at(hit.source, path) if path else None
        if isinstance(message, str):
            return message
        return _written(hit.source if message is None else message)

    def _named(self, hit: Hit) -> str:
        path = self.schema.source
        name = counted_at(hit.source, path) if path != "_index" else None
        return name if isinstance(name, str) and name else hit.index_name

    def _level(self, source: JsonObject, text: str) -> str:
        if self.schema.level:
            value = counted_at(source, self.schema.level)
            if isinstance(value, str | int):
                return level_of_word(str(value))
        return find_level(text, 0, timed=False)[0]

    def _pairs(self, source: JsonObject) -> Iterator[tuple[str, str]]:
        left_out = {self.schema.message, self.schema.time.name}
        for count, (path, value) in enumerate(leaves(source)):
            if count >= FIELDS:
                return
            if path not in left_out:
                yield path, value


def _message(hit: Hit) -> str:
    """The text of one of our own entries; `raw` is there where the searched text is another one."""
    told: Any = hit.source
    message: str = TOO_LARGE if hit.cut else told.get("raw") or told.get("message", "")
    return message


def value_at(source: JsonObject, path: str) -> Json:
    """What stands under a dotted path, whether the document nests or writes the dots itself."""
    if path in source:
        return source[path]
    head, dot, rest = path.partition(".")
    while dot:
        inner = source.get(head)
        if isinstance(inner, dict):
            found = value_at(inner, rest)
            if found is not None:
                return found
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def counted_at(source: JsonObject, path: str) -> Json:
    """What stands under the path of a field that is counted: often a part of the one written."""
    value = value_at(source, path)
    return value_at(source, path.rpartition(".")[0]) if value is None else value


def leaves(source: JsonObject) -> Iterator[tuple[str, str]]:
    """Every plain value of a document with its dotted path; a list of them as JSON."""
    open_: list[tuple[str, Iterator[tuple[str, Json]]]] = [("", iter(source.items()))]
    while open_:
        above, values = open_[-1]
        for name, value in values:
            path = f"{above}{name}"
            if isinstance(value, dict):
                open_.append((f"{path}.", iter(value.items())))
                break
            if value is not None:
                yield path, value if isinstance(value, str) else _written(value)
        else:
            open_.pop()


def _written(value: Json) -> str:
    """The value as JSON. What could just be read may be too deep to be written."""
    try:
        return (
            canonical(value) if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)
        )
    except RecursionError:
        return TOO_DEEP


def searched_text(entry: Entry, hit: Hit) -> str:
    """All that a text is looked for in, in small letters: the message and what stands beside it."""
    return "\n".join((entry.message, text_at(hit.source, "extra"))).casefold()

"""Hits as the entries of the protocol."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, NamedTuple

from connectors.log_files.levels import LEVELS, find_level, level_of_word
from connectors.logbook import Entry, TimeFlag
from connectors.opensearch.answers import Hit
from connectors.opensearch.schema import Schema
from connectors.opensearch.times import time_of
from connectors.timestamps import Clock
from copilot.values import Json, JsonObject, canonical, text_at

FIELDS = 200
TOO_LARGE = "(this entry has more than 8 MiB and was not read)"
FLAGS: Mapping[str, TimeFlag] = {"own": "own", "carried": "carried", "none": "none"}
NO_FIELDS: Mapping[str, str] = {}
NUMBERS = {name: place for place, name in enumerate(LEVELS)}
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class Glance(NamedTuple):
    """What places an entry and tells its kind; `time` is a text that sorts like the times."""

    time: str
    source: str
    line: int
    level: int
    message: str
    hit: Hit


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
        if self.schema.own:
            told: Any = hit.source
            return Glance(
                str(told.get(self.schema.time.name) or "").rstrip("Z"),
                told.get("source", ""),
                told.get("line", 0),
                NUMBERS.get(told.get("level", ""), 0),
                _message(hit),
                hit,
            )
        entry = self._foreign(hit)
        time = entry.time.isoformat(timespec="microseconds") if entry.time else ""
        level = NUMBERS.get(entry.level, 0)
        return Glance(time, entry.source, entry.line, level, entry.message, hit)

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
        message = value_at(source, schema.message) if schema.message else None
        text = (
            message
            if isinstance(message, str)
            else canonical(source if message is None else message)
        )
        name = value_at(source, schema.source) if schema.source != "_index" else None
        line = value_at(source, schema.line) if schema.line else None
        return Entry(
            id=hit.key,
            time=time,
            time_flag="own" if time else "none",
            level=self._level(source, text),
            source=name if isinstance(name, str) and name else hit.index_name,
            line=line if isinstance(line, int) and not isinstance(line, bool) else 0,
            record=None,
            message=TOO_LARGE if hit.cut else text,
            fields=dict(self._pairs(source)),
            verbatim=False,
        )

    def _level(self, source: JsonObject, text: str) -> str:
        if self.schema.level:
            value = value_at(source, self.schema.level)
            if value is None:  # the counted field is often a part of the one in the document
                value = value_at(source, self.schema.level.rpartition(".")[0])
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


def leaves(source: JsonObject, above: str = "") -> Iterator[tuple[str, str]]:
    """Every plain value of a document with its dotted path; a list of them as JSON."""
    for name, value in source.items():
        path = f"{above}{name}"
        if isinstance(value, dict):
            yield from leaves(value, f"{path}.")
        elif value is not None:
            yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def in_order(glances: list[Glance]) -> list[Glance]:
    """By time, source and place in it; those without a time last."""
    timed = sorted((one for one in glances if one.time), key=itemgetter(0, 1, 2))
    return [*timed, *(one for one in glances if not one.time)]


def searched_text(entry: Entry, hit: Hit) -> str:
    """All that a text is looked for in, in small letters: the message and what stands beside it."""
    return "\n".join((entry.message, text_at(hit.source, "extra"))).casefold()

"""YAML without surprises, for the files that a person writes: settings and policies.

Every value knows its line. Scalars are read as in YAML 1.2: `no`, `on`, `010` and `1:30` are
texts, so a strict schema names them where a truth or a number belongs. Whatever could mean two
things, run code or explode is refused: duplicate keys, anchors and aliases, tags, tabs, depth.
`strict_model.py` turns a document into a value.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from copilot.errors import ConfigError
from copilot.values import Json

Place = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""

LIMIT_BYTES = 64 << 10
LIMIT_DEPTH = 16
WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
NOTHING = ("", "~", "null", "Null", "NULL")
WHOLE = re.compile(r"[-+]?(?:0|[1-9]\d{0,17})", re.ASCII)
DECIMAL = re.compile(r"[-+]?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?(?:[eE][-+]?\d{1,2})?", re.ASCII)
PLAIN_WORDS = {
    "found character '\\t' that cannot start any token": "a tab cannot indent YAML; use spaces",
    "mapping values are not allowed here": (
        "a second `:` cannot stand here; indent the key as its siblings, or quote the text"
    ),
    "special characters are not allowed": "a control character cannot stand in YAML; take it out",
}


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, and in which line it says each thing. Lines count from 1."""

    name: str
    """The file as messages name it."""
    data: Json
    lines: Mapping[Place, int]
    """The line of each key and list item; the document itself is at the empty place."""
    origins: Mapping[Place, str] = field(default_factory=dict)
    """What set a value instead of the file: a variable or an option."""

    def problem(self, place: Place, what: str) -> str:
        """*what* is wrong at *place*, as `file:line: dotted.key: what`."""
        where = place
        while where not in self.lines:
            where = where[:-1]
        origin = self.origins.get(where, f"{self.name}:{self.lines[where]}")
        return f"{origin}: {dotted(place)}{what}"


def load(path: Path, name: str = "") -> Document:
    """The document in the file *path*, called *name* in messages, else by its path.

    Raises ConfigError with file and line.
    """
    name = name or str(path)
    try:
        with path.open("rb") as file:
            content = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read ({error.strerror})") from None
    if len(content) > LIMIT_BYTES:
        raise ConfigError(f"{name}:1: the file is larger than {LIMIT_BYTES:,} bytes; split it")
    try:
        return parse(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigError(f"{name}:{line}: this is not UTF-8; save the file as UTF-8") from None


def parse(text: str, name: str) -> Document:
    """The document in *text*, called *name* in messages. An empty one holds no keys."""
    if len(text.encode("utf-8", "replace")) > LIMIT_BYTES:
        raise ConfigError(f"{name}:1: the text is larger than {LIMIT_BYTES:,} bytes; split it")
    lines: dict[Place, int] = {(): 1}
    try:
        data = _Reader(text, name, lines).document()
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        what = PLAIN_WORDS.get(error.reason, error.reason)
        raise ConfigError(f"{name}:{line}: {what}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = error.problem or "not YAML"
        what = PLAIN_WORDS.get(problem, f"{problem} {error.context or ''}".strip())
        raise ConfigError(f"{name}:{line}: {what}") from None
    return Document(name, data, lines)


def dotted(place: Place) -> str:
    """A place as `tools.search_logbook.clear: `; empty for the document itself."""
    return ".".join(str(part) for part in place) + ": " if place else ""


class _Reader:
    """Builds the data from the parser's events, so that nothing is made before it is checked."""

    def __init__(self, text: str, name: str, lines: dict[Place, int]) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._name = name
        self._lines = lines

    def document(self) -> Json:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return {}
        data = self._value(next(self._events), ())
        next(self._events)
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            raise self._problem(following, (), "a second document starts here; keep one a file")
        return data

    def _value(self, event: yaml.Event, place: Place) -> Json:
        if isinstance(event, yaml.AliasEvent):
            raise self._problem(
                event, place, f"the alias *{event.anchor} is refused; write the value out"
            )
        if getattr(event, "anchor", None):
            raise self._problem(
                event, place, "an anchor (&) is refused; write the value where it is used"
            )
        if getattr(event, "tag", None):
            raise self._problem(event, place, "a tag (!) is refused; write the plain value")
        if len(place) > LIMIT_DEPTH:
            raise self._problem(event, place[:3], f"nested deeper than {LIMIT_DEPTH} levels")
        match event:
            case yaml.MappingStartEvent():
                return self._mapping(place)
            case yaml.SequenceStartEvent():
                return self._sequence(place)
            case yaml.ScalarEvent():
                return scalar(event.value) if event.implicit[0] else str(event.value)
        raise self._problem(event, place, "this cannot stand here")

    def _mapping(self, place: Place) -> Json:
        data: dict[str, Json] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, place)
            here = (*place, key)
            if key in data:
                raise self._problem(
                    event, here, f"given twice, first in line {self._lines[here]}; keep one"
                )
            self._lines[here] = _line(event)
            data[key] = self._value(next(self._events), here)
        return data

    def _key(self, event: yaml.Event, place: Place) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._problem(event, place, "a key must be a plain word")
        if not event.implicit[0] and not event.implicit[1]:
            raise self._problem(event, place, "a tag (!) is refused; write the plain key")
        if event.anchor:
            raise self._problem(event, place, "an anchor (&) is refused; write the plain key")
        return str(event.value)

    def _sequence(self, place: Place) -> Json:
        items: list[Json] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            here = (*place, len(items))
            self._lines[here] = _line(event)
            items.append(self._value(event, here))
        return items

    def _problem(self, event: yaml.Event, place: Place, what: str) -> ConfigError:
        return ConfigError(f"{self._name}:{_line(event)}: {dotted(place)}{what}")


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def scalar(text: str) -> Json:
    """A plain scalar's value: null, true, false, a decimal number without tricks, or a text."""
    if text in NOTHING:
        return None
    if text in WORDS:
        return WORDS[text]
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text

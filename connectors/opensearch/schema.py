"""What the entries of a logbook look like: which field is the time, the message, the level.

Read from the server's own list of fields (field caps), or told by a person; never guessed in
silence. Where several fields could be the time, that is an error which lists them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from connectors.opensearch.layout import BARE, MARK, OWN_SEARCHED, TIME
from connectors.opensearch.site import EpochUnit, Site, Told
from connectors.opensearch.words import Searched
from connectors.templates import MESSAGE_KEYS
from copilot.errors import ConnectorError
from copilot.values import Json, JsonObject, list_at, object_at

TimeKind = Literal["date", "date_nanos", "number"]
KEYWORDS = frozenset({"keyword", "constant_keyword", "wildcard", "ip", "boolean", "version"})
NUMBERS = frozenset({
    "long", "integer", "short", "byte", "unsigned_long", "double", "float", "half_float",
    "scaled_float",
})  # fmt: skip
TEXTS = frozenset({"text", "match_only_text"})
DATES = frozenset({"date", "date_nanos"})
MESSAGES = (*MESSAGE_KEYS, "event.original")
LEVELS = ("level", "log.level", "severity", "severity_text", "loglevel", "log_level", "levelname")
SHOWN = 12


@dataclass(frozen=True, slots=True)
class TimeField:
    """The field that says when; a plain number counts `unit`s since 1970."""

    name: str
    kind: TimeKind
    unit: EpochUnit = "ms"


@dataclass(frozen=True, slots=True)
class Schema:
    """How to ask for the entries, and how to read them."""

    time: TimeField
    message: str
    searched: tuple[Searched, ...]
    level: str
    """The field of levels that can be counted; empty where there is none."""
    source: str
    """The field that names an entry's source; `_index` where no field does."""
    line: str
    level_is_number: bool
    own: bool
    """True for indices that `copilot logbook import` made."""
    keywords: Mapping[str, str] = field(default_factory=dict)
    """A field as a person calls it, and the one that holds its exact values."""
    texts: frozenset[str] = frozenset()
    """Fields of text that have no exact values."""
    indices: frozenset[str] = frozenset()
    """The indices that the configured names stand for; empty where they could not be read."""
    gaps: tuple[str, ...] = ()
    """Why an answer of these indices can never be complete."""
    notes: tuple[str, ...] = ()

    @property
    def bare(self) -> Json:
        """What is asked for of documents that cannot be read whole, as `_source` wants it."""
        if self.own:
            return list(BARE)
        named = [self.level, self.source, self.line]
        paths = {path for name in named for path in (name, name.rpartition(".")[0])}
        return [*sorted(paths - {"", "_index"})] or False

    def order(self, direction: Literal["asc", "desc"], *, timed: bool = True) -> list[JsonObject]:
        """The sort in that direction: by time where there is one. Entries may share it all."""
        by_time: JsonObject = {"order": direction, "unmapped_type": "date"}
        if self.time.kind == "date_nanos":
            by_time |= {"numeric_type": "date_nanos"}
        rest = ("source", "line", "part") if self.own else ("_seq_no",)
        orders: list[JsonObject] = [{name: direction} for name in rest]
        return [{self.time.name: by_time}, *orders] if timed else orders


def told_schema(site: Site, name: str) -> Schema:
    """The schema where no mapping can be read: only what a person told. Raises ConnectorError."""
    told = site.told
    missing = [key for key in ("time", "message") if not getattr(told, key)]
    if missing:
        raise ConnectorError(
            f"logbook {name}: no mapping can be read through the proxy at {site.url}; name "
            f"{' and '.join(f'fields.{key}' for key in missing)} in copilot.yaml"
        )
    keywords = {key: key for key in (*told.keywords, told.level, told.source) if key}
    return Schema(
        time=TimeField(told.time, "number" if told.time_unit else "date", told.time_unit or "ms"),
        message=told.message,
        searched=(Searched(told.message), *map(Searched, told.searched)),
        level=told.level,
        source=told.source or "_index",
        line=told.line,
        level_is_number=False,
        own=False,
        keywords=keywords,
        notes=("fields are as copilot.yaml tells them: no mapping can be read through the proxy",),
    )


def read_schema(caps: JsonObject, site: Site, name: str, closed: tuple[str, ...]) -> Schema:
    """The schema from the server's field caps. Raises ConnectorError naming what must be told."""
    indices = frozenset(str(index) for index in list_at(caps, "indices"))
    where = ", ".join(site.indices)
    if not indices:
        shut = f"; closed: {', '.join(closed[:SHOWN])}" if closed else ""
        raise ConnectorError(
            f"logbook {name}: no open index matches {where} at {site.url}, or none may be read"
            f"{shut}; this is not the same as no entries"
        )
    types = {
        path: frozenset(kinds) - {"object", "nested", "unmapped"}
        for path, kinds in object_at(caps, "fields").items()
        if isinstance(kinds, dict) and not path.startswith("_")
    }
    time, lacking = _time(caps, types, site, name, indices)
    gaps = [f"{', '.join(sorted(closed)[:SHOWN])} is closed and was not searched"] if closed else []
    notes = []
    if lacking:
        shown = ", ".join(sorted(lacking)[:SHOWN])
        notes.append(f"{shown} has no field {time.name}: its entries are in no window")
    if MARK in types:
        return _own(time, indices, gaps, notes)
    return _foreign(types, site.told, time, indices, (tuple(gaps), tuple(notes)))


Types = Mapping[str, frozenset[str]]


def _own(time: TimeField, indices: frozenset[str], gaps: list[str], notes: list[str]) -> Schema:
    return Schema(
        time=time,
        message="message",
        searched=OWN_SEARCHED,
        level="level",
        source="source",
        line="line",
        level_is_number=False,
        own=True,
        indices=indices,
        gaps=tuple(gaps),
        notes=tuple(notes),
    )


def _foreign(
    types: Types,
    told: Told,
    time: TimeField,
    indices: frozenset[str],
    known: tuple[tuple[str, ...], tuple[str, ...]],
) -> Schema:
    gaps, notes = known
    keywords = dict(_keywords(types))
    message = told.message or next(
        (key for key in MESSAGES if types.get(key, frozenset()) & TEXTS), ""
    )
    if not told.message:
        found = (
            f"the message is read from {message}" if message else "the whole entry is the message"
        )
        notes = (*notes, f"{found}; fields.message in copilot.yaml says otherwise")
    texts = [path for path, kinds in types.items() if kinds & TEXTS and "." not in path]
    searched = list(dict.fromkeys(filter(None, (message, *told.searched)))) or texts[:SHOWN]
    level = told.level or next((key for key in LEVELS if key in keywords), "")
    return Schema(
        time=time,
        message=message,
        searched=tuple(Searched(path) for path in searched),
        level=keywords.get(level, level),
        source=keywords.get(told.source, told.source) or "_index",
        line=told.line,
        level_is_number=types.get(level, frozenset()) <= NUMBERS and level in types,
        own=False,
        keywords=keywords,
        texts=frozenset(p for p, kinds in types.items() if kinds & TEXTS and p not in keywords),
        indices=indices,
        gaps=gaps,
        notes=notes,
    )


def _time(
    caps: JsonObject, types: Types, site: Site, name: str, indices: frozenset[str]
) -> tuple[TimeField, frozenset[str]]:
    """The time field, and the indices that do not have it."""
    told = site.told
    dates = sorted(path for path, kinds in types.items() if kinds & DATES)
    chosen = told.time or (dates[0] if len(dates) == 1 else "")
    if not chosen and MARK in types:
        chosen = TIME
    if not chosen:
        which = f"could be any of {', '.join(dates[:SHOWN])}" if dates else "is of no date field"
        raise ConnectorError(
            f"logbook {name}: the time of its entries {which}; say which with fields.time in "
            "copilot.yaml"
        )
    kinds = types.get(chosen, frozenset())
    if not kinds:
        raise ConnectorError(
            f"logbook {name}: no index has the time field {chosen}; its date fields are "
            f"{', '.join(dates[:SHOWN]) or 'none'}; mend fields.time in copilot.yaml"
        )
    if kinds <= NUMBERS and told.time_unit is None:
        raise ConnectorError(
            f"logbook {name}: {chosen} is a number; say of what with fields.time_unit (s, ms, us "
            "or ns) in copilot.yaml"
        )
    if not kinds <= NUMBERS | DATES:
        raise ConnectorError(
            f"logbook {name}: {chosen} is {' or '.join(sorted(kinds))}, neither a date nor a "
            f"number; name one of {', '.join(dates[:SHOWN]) or 'the date fields'}"
        )
    kind: TimeKind = "date"
    if kinds <= NUMBERS:
        kind = "number"
    elif "date_nanos" in kinds:
        kind = "date_nanos"
    return TimeField(chosen, kind, told.time_unit or "ms"), _lacking(caps, chosen, indices)


def _lacking(caps: JsonObject, path: str, indices: frozenset[str]) -> frozenset[str]:
    """The indices without that field. A type lists its indices only where they differ."""
    having: set[str] = set()
    for kind, described in object_at(object_at(caps, "fields"), path).items():
        listed = list_at(described, "indices")
        if kind == "unmapped":
            return frozenset(str(index) for index in listed)
        having.update(map(str, listed) if listed else indices)
    return indices - having


def _keywords(types: Types) -> Iterator[tuple[str, str]]:
    """Each field that has exact values, and where they are: in itself, or in a field below it."""
    exact = KEYWORDS | NUMBERS
    for path, kinds in sorted(types.items()):
        if kinds and kinds <= exact:
            yield path, path
            parent = path.rpartition(".")[0]
            if types.get(parent, frozenset()) & TEXTS:
                yield parent, path

"""The values that every room shares: an alert, a reference, JSON. Pure, frozen, no I/O."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar, cast

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""Any JSON value."""
JsonObject: TypeAlias = dict[str, Json]

JsonT = TypeVar("JsonT")

# An encoder of one's own is made once: `json.dumps` makes one at each call.
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode
REFERENCE = re.compile(r"(R\d{4,9})(?::(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Alert:
    """One message from outside. `raw` is what arrived, redacted and capped, for STATE.md."""

    source: str
    """Who sent it: alertmanager, grafana, robusta, ticket, person, …"""
    title: str
    text: str
    status: str = "firing"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    """When it was over, where it is."""
    fingerprint: str = ""
    raw: str = ""

    def words(self) -> str:
        """Title, text, labels and annotations as one text, for searches and artifacts."""
        pairs = [f"{key}: {value}" for key, value in {**self.labels, **self.annotations}.items()]
        return "\n".join(part for part in (self.title, self.text, *pairs) if part)


@dataclass(frozen=True, slots=True)
class Reference:
    """`R0007:41`, line 41 of the offloaded result R0007; line 0 means the result as a whole."""

    handle: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.handle}:{self.line}" if self.line else self.handle


def parse_reference(text: str) -> Reference | None:
    """The reference that *text* is, or None."""
    match = REFERENCE.fullmatch(text.strip())
    return Reference(match[1], int(match[2] or 0)) if match else None


def canonical(value: Json) -> str:
    """The one JSON text of *value*: sorted keys, no spaces. Equal values, equal text."""
    return _canonical(value)


def compact(value: Json) -> str:
    """*value* as JSON in its own key order, without spaces: what the model reads."""
    return _compact(value)


def with_texts(
    value: JsonT, change: Callable[[str, str], str], rename: Callable[[str], str] = str
) -> JsonT:
    """The JSON value with each text as *change* gives it for its name and the text itself.

    A text in a list has the list's name. Of two keys that *rename* makes one, both stay.
    """
    whole: list[object] = [None]
    pending: list[tuple[Any, Any, object, str]] = [(whole, 0, value, "")]
    while pending:  # no recursion: a log line can be JSON of any depth
        target, place, item, name = pending.pop()
        match item:
            case str():
                target[place] = change(name, item)
            case list():
                target[place] = copy = [None] * len(item)
                pending += [(copy, index, inner, name) for index, inner in enumerate(item)]
            case dict():
                named: dict[str, object] = {}
                target[place] = named
                for key, inner in item.items():
                    shown = rename(key)
                    while shown in named:
                        shown += "_"
                    named[shown] = None
                    pending.append((named, shown, inner, key))
            case _:
                target[place] = item
    return cast("JsonT", whole[0])


def digest(text: str) -> str:
    """The SHA-256 of *text* in hex. Lone surrogates count as the replacement character."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def text_at(value: Json, *keys: str) -> str:
    """The first non-empty text, number or truth found under one of *keys*; else an empty text."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str | int | float) and not isinstance(found, bool) and found != "":
                return str(found)
    return ""


def object_at(value: Json, key: str) -> JsonObject:
    """The object under *key*, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def list_at(value: Json, key: str) -> list[Json]:
    """The list under *key*, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []

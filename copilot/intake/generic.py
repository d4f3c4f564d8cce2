"""Alerts of any other sender: a map of jmespath expressions says where its payload holds what.

Maps for usual senders are in `maps/`; copilot.yaml adds more, or replaces one by its name. Only
this module knows jmespath. Expressions come from those files, never from a payload.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult

from connectors.adf import adf_text
from copilot.errors import ConfigError, UsageError
from copilot.intake import fields
from copilot.intake.bounds import TEXT_CHARACTERS, check_count
from copilot.intake.parcel import FIRING, RESOLVED, Parcel
from copilot.settings.daemon import AlertMap
from copilot.strict_model import validated
from copilot.strict_yaml import parse
from copilot.values import Alert, Json, JsonObject, text_at

PARTS = ("alerts", "title", "text", "status", "starts_at", "ends_at", "fingerprint", "labels_at")


def built_in() -> dict[str, AlertMap]:
    """The maps that are part of the package, by name."""
    maps = {}
    for entry in sorted(files("copilot.intake").joinpath("maps").iterdir(), key=lambda e: e.name):
        name, dot, ending = entry.name.partition(".")
        if (dot, ending) == (".", "yaml"):
            document = parse(entry.read_text(encoding="utf-8"), f"maps/{entry.name}")
            maps[name] = validated(document, AlertMap)
    return maps


def compiled(maps: Mapping[str, AlertMap]) -> dict[str, "Map"]:
    """The maps ready for use. Raises ConfigError naming the part that is no jmespath."""
    return {name: Map(name, found) for name, found in maps.items()}


@dataclass(frozen=True, slots=True)
class _Expression:
    """One expression of a map, and where it stands."""

    place: str
    parsed: ParsedResult

    def value(self, payload: Json) -> Json:
        try:
            found: Json = self.parsed.search(payload)
        except JMESPathError as error:
            problem = " ".join(str(error).split())[:200]
            raise UsageError(f"{self.place} cannot be read in this payload: {problem}") from None
        return found

    def text(self, payload: Json) -> str:
        return _text(self.value(payload))


class Map:
    """One sender's map, compiled."""

    def __init__(self, name: str, said: AlertMap) -> None:
        self.name = name
        self._resolved = {word.casefold() for word in said.resolved}
        self._parts = {part: self._expression(part, getattr(said, part)) for part in PARTS}
        self._labels = self._expressions("labels", said.labels)
        self._annotations = self._expressions("annotations", said.annotations)

    def parcel(self, payload: Json) -> Parcel:
        """The alerts that the map finds. Raises UsageError when one is none, or there is no place.

        An empty list is a payload without alerts, such as a sender's trial.
        """
        found = self._parts["alerts"].value(payload)
        if found is None:
            raise UsageError(
                f"the map {self.name} finds no alert in this payload; is it the right map?"
            )
        alerts = found if isinstance(found, list) else [found]
        check_count(len(alerts))
        return Parcel(f"generic:{self.name}", tuple(map(self._alert, alerts)))

    def _alert(self, alert: Json) -> Alert:
        labels = _labels_at(self._parts["labels_at"].value(alert))
        labels |= self._named(self._labels, alert)
        text = self._parts["text"].text(alert)
        title = self._parts["title"].text(alert) or next(iter(text.splitlines()), "")
        if not title:
            raise UsageError(f"the map {self.name} finds no title and no text in this payload")
        over = self._parts["status"].text(alert).casefold() in self._resolved
        mark = self._parts["fingerprint"].text(alert)
        raw: JsonObject = alert if isinstance(alert, dict) else {"alert": alert}
        return Alert(
            source=self.name,
            title=fields.title(title),
            text=fields.cut(text, TEXT_CHARACTERS),
            status=RESOLVED if over else FIRING,
            labels=labels,
            annotations=self._named(self._annotations, alert),
            starts_at=fields.instant(self._parts["starts_at"].text(alert)),
            ends_at=fields.instant(self._parts["ends_at"].text(alert)),
            # Senders count their alerts from 1: a mark is only unique with its sender.
            fingerprint=fields.cut(f"{self.name}:{mark}", 100) if mark else "",
            raw=fields.raw(raw),
        )

    def _named(self, expressions: Mapping[str, _Expression], alert: Json) -> dict[str, str]:
        return fields.texts({name: one.text(alert) for name, one in expressions.items()})

    def _expressions(self, part: str, said: Mapping[str, str]) -> dict[str, _Expression]:
        return {name: self._expression(f"{part}.{name}", text) for name, text in said.items()}

    def _expression(self, part: str, text: str) -> _Expression:
        place = f"{part} of the map {self.name}"
        try:
            return _Expression(place, jmespath.compile(text or "`null`"))
        except JMESPathError as error:
            problem = " ".join(str(error).split())[:200]
            raise ConfigError(f"intake.maps.{self.name}.{part}: {problem}") from None


def _text(value: Json) -> str:
    """The value as a text: lists joined, a Jira document read, other objects nothing."""
    match value:
        case str():
            return value
        case bool() | int() | float():
            return str(value).lower()
        case list():
            return ", ".join(filter(None, map(_text, value)))
        case {"type": "doc"}:
            return adf_text(value)
        case _:
            return ""


def _labels_at(value: Json) -> dict[str, str]:
    """Labels in any usual form: an object, a list of key and value, or `name:value, name:value`."""
    if isinstance(value, dict):
        return fields.texts({key: _text(item) for key, item in value.items()})
    items: Sequence[Json] = value.split(",") if isinstance(value, str) else []
    pairs = _pairs(value if isinstance(value, list) else items)
    return fields.texts({name: text for name, text in pairs if name})


def _pairs(items: Sequence[Json]) -> Iterator[tuple[str, str]]:
    for item in items:
        if isinstance(item, str):
            name, _, value = item.partition(":")
            yield name.strip(), value.strip()
        elif isinstance(item, list) and len(item) == 2:
            yield _text(item[0]), _text(item[1])
        elif isinstance(item, dict):
            yield text_at(item, "key", "name"), _text(item.get("value"))

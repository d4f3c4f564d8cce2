"""What a request says about its alert: who, when, which words, and what is asked.

Everything is read from the first message, as a language model would read it. Nothing here knows
any system: an entity is whatever a label singles out, or a text that looks like a name.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from copilot.errors import UsageError
from copilot.models.model import Request
from copilot.models.offline.entities import Entity, entities_of, without_alert_name, words_of
from copilot.values import Json, JsonObject, list_at, object_at, text_at
from copilot.window import ALWAYS, Window, parse_iso

EVERY = re.compile(
    r"\b(?:every|each|all)(?: of)?(?: the)? (?:distinct |different |separate |independent )?"
    r"(?:root )?(?:cause|reason|error|problem|fault|failure)s?\b|"
    r"\b(?:distinct|different|independent) (?:causes|errors|problems|reasons)\b",
    re.IGNORECASE,
)
DATED = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?"
)
CLOCK = re.compile(r"\b(\d\d:\d\d(?::\d\d)?)\b")
WINDOW = re.compile(r"^Window: \[(\S+), (\S+)\) UTC$", re.MULTILINE)
"""How a question says which time a person asks about."""
RUNBOOK = re.compile(r"^- (\S+): ", re.MULTILINE)
DATE = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")


@dataclass(frozen=True, slots=True)
class Brief:
    """The alert as the investigator understands it."""

    title: str
    text: str
    question: str
    starts_at: datetime | None
    times: tuple[datetime, ...]
    """The times that the words themselves name, earliest first."""
    window: Window
    """What a person asked about."""
    entities: tuple[Entity, ...]
    words: frozenset[str]
    """What the alert talks about, in lower case, without the words of every sentence."""
    ticket: str
    logbooks: tuple[str, ...]
    trackers: tuple[str, ...]
    libraries: tuple[str, ...]
    runbooks: tuple[str, ...]
    """Those that are announced, by path."""
    wants_every_cause: bool

    @property
    def subject(self) -> str:
        """What the alert is about, in one name."""
        return self.entities[0].text if self.entities else self.title


def read_brief(request: Request) -> Brief:
    """The brief in the first message of *request*; an empty one when there is nothing to read."""
    ours, content = _first_object(request)
    alert = object_at(content, "alert")
    labels = _texts(object_at(alert, "labels"))
    notes = _texts(object_at(alert, "annotations"))
    title, text = text_at(alert, "title"), text_at(alert, "text")
    asked = text_at(content, "question")
    question = WINDOW.sub("", asked).strip()
    prose = "\n".join(filter(None, (title, text, question, *notes.values())))
    starts = _instant(text_at(alert, "starts_at"))
    sources = object_at(content, "sources")
    return Brief(
        title=title,
        text=text,
        question=question,
        starts_at=starts,
        times=tuple(sorted(_times(f"{title}\n{text}\n{question}", starts))),
        window=_window(asked),
        entities=entities_of(labels, f"{without_alert_name(title)}\n{text}\n{question}"),
        words=words_of(prose),
        ticket=labels.get("ticket", ""),
        logbooks=_names(sources, "logbooks"),
        trackers=_names(sources, "trackers"),
        libraries=_names(sources, "libraries"),
        runbooks=tuple(RUNBOOK.findall(ours)),
        wants_every_cause=bool(EVERY.search(f"{title}\n{text}\n{question}")),
    )


def _first_object(request: Request) -> tuple[str, JsonObject]:
    """The JSON of the first message, which begins a line of its own, and what stands before it."""
    for message in request.messages[:1]:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            text = str(block.get("text", ""))
            start = f"\n{text}".find("\n{")
            try:
                value = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
            except ValueError:
                continue
            if isinstance(value, dict):
                return text[:start], value
    return "", {}


def _times(prose: str, starts: datetime | None) -> Iterator[datetime]:
    """Times written out, and clock times on the only date that the text or the alert names."""
    rest = prose
    for day, clock, zone in DATED.findall(prose):
        moment = _instant(f"{day}T{clock}{_zone(zone)}")
        if moment:
            yield moment
    rest = DATED.sub(" ", prose)
    days = list(dict.fromkeys(DATE.findall(rest)))
    base: date | None = _day(days[0]) if len(days) == 1 else starts.date() if starts else None
    if base is None:
        return
    for clock in CLOCK.findall(rest):
        try:
            yield datetime.combine(base, time.fromisoformat(clock), UTC)
        except ValueError:
            continue


def _window(question: str) -> Window:
    found = WINDOW.search(question)
    try:
        return Window(_instant(found[1]), _instant(found[2])) if found else ALWAYS
    except UsageError:  # a person typed the line herself, and its ends the other way round
        return ALWAYS


def _zone(text: str) -> str:
    return "Z" if text in ("", "UTC", "GMT") else text


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _instant(text: str) -> datetime | None:
    try:
        return parse_iso(text) if text else None
    except (ValueError, OverflowError):
        return None


def _names(sources: JsonObject, kind: str) -> tuple[str, ...]:
    return tuple(_name(item) for item in list_at(sources, kind) if _name(item))


def _name(item: Json) -> str:
    return item if isinstance(item, str) else text_at(item, "name")


def _texts(value: JsonObject) -> dict[str, str]:
    return {key: str(item) for key, item in value.items() if isinstance(item, str | int | float)}

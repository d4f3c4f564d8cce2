"""What a request says about its alert: who, when, which words, and what is asked.

Everything is read from the first message, as a language model would read it. Nothing here knows
any system: an entity is whatever a label singles out, or a text that looks like a name.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from copilot.models.model import Request
from copilot.values import Json, JsonObject, list_at, object_at, text_at
from copilot.window import parse_iso

EVERY = re.compile(
    r"\b(?:every|each|all)(?: of)?(?: the)? (?:distinct |different |separate |independent )?"
    r"(?:root )?(?:cause|reason|error|problem|fault|failure)s?\b|"
    r"\b(?:distinct|different|independent) (?:causes|errors|problems|reasons)\b",
    re.IGNORECASE,
)
TELLING_LABELS = (
    "pod", "workflow", "job_name", "job-name", "batch.kubernetes.io/job-name", "task", "task_id",
    "dag_id", "run_id", "container", "deployment", "statefulset", "daemonset", "cronjob", "service",
    "app", "application", "component", "name", "host", "hostname", "node", "device", "volume",
    "topic", "queue", "consumergroup", "database", "table", "dataset", "site", "endpoint_name",
    "exported_job", "unit", "job", "instance", "cluster", "namespace",
)  # fmt: skip
"""Labels that single something out, the most telling first."""
DULL_LABELS = frozenset(
    "alertname severity prometheus uid endpoint labels priority source receiver monitor team "
    "env environment controller-uid batch.kubernetes.io/controller-uid ticket replica".split()
)
NAME = re.compile(r"[A-Za-z0-9_][\w.\-/:#@+]*[\w#]")
DATED = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?"
)
CLOCK = re.compile(r"\b(\d\d:\d\d(?::\d\d)?)\b")
DATE = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")
QUOTED = re.compile(r"[\"“‘`']([^\"”’`'\n]{3,60})[\"”’`']")
MAX_ENTITIES = 14
STOP_WORDS = frozenset(
    "a about above after again all almost also although an and another any are as at be because "
    "been before but by can cannot could did do does during each else even ever every few find for "
    "from get give given had has have help her here him his how however if in into is it its just "
    "last less like look made make many may me more most much must my name near need never new no "
    "none nor not now of off on once one only or other our out over own please same say says see "
    "seem seems several she should since so some still such than that the their them then there "
    "these they thing things this those though thus to too two under until up upon us use used very "
    "was we well were what when where whether which while who whole whom why will with within "
    "without would yet you your during down namespace status state".split()
)


@dataclass(frozen=True, slots=True)
class Entity:
    """A name to look for. `weight` is 3 for what the alert is about, 2 for a name, 1 for a code."""

    text: str
    weight: int


@dataclass(frozen=True, slots=True)
class Brief:
    """The alert as the investigator understands it."""

    title: str
    text: str
    question: str
    starts_at: datetime | None
    times: tuple[datetime, ...]
    """The times that the words themselves name, earliest first."""
    entities: tuple[Entity, ...]
    words: frozenset[str]
    """What the alert talks about, in lower case, without the words of every sentence."""
    ticket: str
    logbooks: tuple[str, ...]
    trackers: tuple[str, ...]
    libraries: tuple[str, ...]
    wants_every_cause: bool

    @property
    def subject(self) -> str:
        """What the alert is about, in one name."""
        return self.entities[0].text if self.entities else self.title


def read_brief(request: Request) -> Brief:
    """The brief in the first message of *request*; an empty one when there is nothing to read."""
    content = _first_object(request)
    alert = object_at(content, "alert")
    labels = _texts(object_at(alert, "labels"))
    notes = _texts(object_at(alert, "annotations"))
    title, text = text_at(alert, "title"), text_at(alert, "text")
    question = text_at(content, "question")
    prose = "\n".join(filter(None, (title, text, question, *notes.values())))
    starts = _instant(text_at(alert, "starts_at"))
    sources = object_at(content, "sources")
    return Brief(
        title=title,
        text=text,
        question=question,
        starts_at=starts,
        times=tuple(sorted(_times(f"{title}\n{text}\n{question}", starts))),
        entities=_entities(labels, f"{_without_alert_name(title)}\n{text}\n{question}"),
        words=words_of(prose),
        ticket=labels.get("ticket", ""),
        logbooks=_names(sources, "logbooks"),
        trackers=_names(sources, "trackers"),
        libraries=_names(sources, "libraries"),
        wants_every_cause=bool(EVERY.search(f"{title}\n{text}\n{question}")),
    )


def words_of(text: str) -> frozenset[str]:
    """The telling words of a text, in lower case; the parts of CamelCase names count too."""
    found: set[str] = set()
    for word in re.findall(r"[A-Za-z][A-Za-z]+", text):
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", word)
        found.update(part.lower() for part in (word, *parts) if len(part) > 2)
    return frozenset(found - STOP_WORDS)


def looks_like_name(word: str) -> bool:
    """True for what is no word of a language: digits, inner punctuation or capitals."""
    if len(word) < 4 or DATE.fullmatch(word) or CLOCK.fullmatch(word):
        return False
    has_digit = any(letter.isdigit() for letter in word)
    has_letter = any(letter.isalpha() for letter in word)
    if (
        has_digit
        and has_letter
        and not re.fullmatch(r"[<>~]?\d+(?:k|K|ms|s|h|m|d|x|GB|MB|kB)", word)
    ):
        return True
    if has_letter and re.search(r"[A-Za-z][_/:.#-][A-Za-z]", word):
        return (
            "_" in word or "/" in word or bool(re.search(r"[a-z]-[a-z]+-|[A-Z]\w*-|\.\w+\.", word))
        )
    return bool(re.search(r"[a-z][A-Z]", word))


def is_identifier(text: str) -> bool:
    """True for a name that means one thing only: long, with digits in it."""
    return len(text) >= 8 and sum(letter.isdigit() for letter in text) >= 3


def _first_object(request: Request) -> JsonObject:
    for message in request.messages[:1]:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            text = str(block.get("text", ""))
            start = text.find("{")
            try:
                value = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
            except ValueError:
                continue
            if isinstance(value, dict):
                return value
    return {}


def _entities(labels: Mapping[str, str], prose: str) -> tuple[Entity, ...]:
    """What to look for, the most telling first; each once, case aside."""
    found: dict[str, Entity] = {}

    def add(text: str, weight: int) -> None:
        if text and text.lower() not in found:
            found[text.lower()] = Entity(text, weight)

    found[labels.get("alertname", "").lower()] = Entity("", 0)
    scraped = "prometheus" in labels or "endpoint" in labels
    for label in TELLING_LABELS:
        value = labels.get(label, "")
        exporter = scraped and label in ("job", "instance", "service", "cluster")
        if value and label not in DULL_LABELS and not exporter and len(value) > 2:
            add(value, 3 if label not in ("namespace", "cluster", "node", "instance") else 1)
    names = [match[0].strip(".:/-") for match in NAME.finditer(prose)]
    for word in sorted(filter(looks_like_name, names), key=_telling, reverse=True):
        add(word, 2)
    for quoted in QUOTED.findall(prose):
        add(quoted.strip(), 1)
    for code in re.findall(r"(?<![\w.:/-])\d{3,7}(?![\w:/-]|\.\d)", prose):
        add(code, 1)
    entities = sorted(found.values(), key=lambda item: -item.weight)
    return tuple(item for item in entities if item.text)[:MAX_ENTITIES]


def _without_alert_name(title: str) -> str:
    """`JobStalled: workflow x has …` without its first word, which names the rule and no thing."""
    return re.sub(r"^[A-Za-z]+[a-z][A-Z]\w*(?::\s+|$)|^[A-Z]\w+:\s+", "", title.strip())


def _telling(word: str) -> tuple[bool, int]:
    """Names with digits before others, long ones before short ones."""
    return (any(letter.isdigit() for letter in word), len(word))


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

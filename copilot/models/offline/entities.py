"""Names to look for in an alert's words and labels, and the words that tell what it is about.

Nothing here knows any system: a name is whatever a label singles out, or looks like no word.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from copilot.redact import TOKEN

TELLING_LABELS = (
    "pod", "workflow", "job_name", "job-name", "batch.kubernetes.io/job-name", "task", "task_id",
    "dag_id", "run_id", "container", "deployment", "statefulset", "daemonset", "cronjob", "service",
    "app", "application", "component", "name", "host", "hostname", "node", "device", "volume",
    "topic", "queue", "consumergroup", "database", "table", "dataset", "site", "endpoint_name",
    "exported_job", "unit", "job", "instance", "cluster", "namespace",
)  # fmt: skip
"""Labels that single something out, the most telling first."""
DULL_LABELS_TEXT = """
alertname severity prometheus uid endpoint labels priority source receiver monitor team env
environment controller-uid batch.kubernetes.io/controller-uid ticket replica
"""
DULL_LABELS = frozenset(DULL_LABELS_TEXT.split())
NAME = re.compile(r"[A-Za-z0-9_][\w.\-/:#@+]*[\w#]")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
CLOCK = re.compile(r"\d\d:\d\d(?::\d\d)?")
STAMP = re.compile(r"\d{4}-\d\d-\d\d[T_]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
QUOTED = re.compile(r"[\"“‘`']([^\"”’`'\n]{3,60})[\"”’`']")
MAX_ENTITIES = 14
STOP_WORDS_TEXT = """
a about above after again all almost also although an and another any are as at be because been
before but by can cannot could did do does during each else even ever every few find for from
get give given had has have help her here him his how however if in into is it its just last
less like look made make many may me more most much must my name near need never new no none nor
not now of off on once one only or other our out over own please same say says see seem seems
several she should since so some still such than that the their them then there these they thing
things this those though thus to too two under until up upon us use used very was we well were
what when where whether which while who whole whom why will with within without would yet you
your during down namespace status state
"""
STOP_WORDS = frozenset(STOP_WORDS_TEXT.split())


@dataclass(frozen=True, slots=True)
class Entity:
    """A name to look for. `weight` is 3 for what the alert is about, 2 for a name, 1 for a code."""

    text: str
    weight: int


def entities_of(labels: Mapping[str, str], prose: str) -> tuple[Entity, ...]:
    """What to look for, the most telling first; each once, case aside.

    What stands for a masked secret is in no log.
    """
    found: dict[str, Entity] = {}
    prose = TOKEN.sub(" ", prose)

    def add(text: str, weight: int) -> None:
        if text and not TOKEN.search(text) and text.lower() not in found:
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
    for word in re.findall(r"\b[a-z]{3,}(?:-[a-z]{3,})+\b", prose):
        add(word, 1)
    for quoted in QUOTED.findall(prose):
        add(quoted.strip(), 1)
    for code in re.findall(r"(?<![\w.:/-])\d{3,7}(?![\w:/-]|\.\d)", prose):
        add(code, 1)
    entities = sorted(found.values(), key=lambda item: -item.weight)
    return tuple(item for item in entities if item.text)[:MAX_ENTITIES]


def without_alert_name(title: str) -> str:
    """`JobStalled: workflow x has …` without its first word, which names the rule and no thing."""
    return re.sub(r"^[A-Za-z]+[a-z][A-Z]\w*(?::\s+|$)|^[A-Z]\w+:\s+", "", title.strip())


def _telling(word: str) -> tuple[bool, int]:
    """Names with digits before others, long ones before short ones."""
    return (any(letter.isdigit() for letter in word), len(word))


def words_of(text: str) -> frozenset[str]:
    """The telling words of a text, in lower case; the parts of CamelCase names count too."""
    found: set[str] = set()
    for word in re.findall(r"[A-Za-z][A-Za-z]+", text):
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", word)
        found.update(part.lower() for part in (word, *parts) if len(part) > 2)
    return frozenset(found - STOP_WORDS)


def looks_like_name(word: str) -> bool:
    """True for what is no word of a language: digits, inner punctuation or capitals."""
    if len(word) < 4 or any(form.fullmatch(word) for form in (DATE, CLOCK, STAMP)):
        return False
    if re.fullmatch(r"\d+(?:[_-]\d+)+", word):
        return len(word) > 7  # a number of a run or a task: 170608_123905
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


def is_plain(text: str) -> bool:
    """True for a word such as `client`, which may stand for many things."""
    return text.isalpha()


def is_identifier(text: str) -> bool:
    """True for a name that means one thing only: long, with digits in it."""
    return len(text) >= 8 and sum(letter.isdigit() for letter in text) >= 3


def as_term(text: str) -> str:
    """*text* as one term of a search: exact for an identifier, else as the beginning of a word."""
    if " " in text:
        return f'"{text}"'
    return text if is_identifier(text) or text[-1].isdigit() else f"{text}*"

"""One entry of a log as it was seen: its text, its figures, and what it speaks of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from copilot.models.offline.causes import Sign, sign_of
from copilot.models.offline.queries import GAP
from copilot.values import JsonObject, text_at

CUT = re.compile(r"… \[\d+ char(?:acter)?s\]$")
WORSE = {"FATAL": 3, "ERROR": 2, "WARN": 1}
NUMBERED = re.compile(r"[^\s\[\](){}\"',;=:|/]*\d[^\s\[\](){}\"',;=:|/]*")
INNER_MESSAGE = re.compile(
    r'"(?:message|msg|log|event|error|body|text)"\s*:\s*"((?:[^"\\]|\\.){3,})'
)
THROWN = re.compile(
    r"\s*(?:Caused by: )?(?:[\w$]+\.)*\w*(?:Error|Exception|Failure|Interrupt)\b|\s*Message: "
)
LEADING_TIME = re.compile(
    r"^\W*(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[.,:\d]*(?:Z|[+-]\d\d:?\d\d)?[\s:\]]*"
)
KNOWN_TEXT = """
ref time time_flag level source line record message template count baseline lift first_seen
last_seen in_sources vanished verbatim values
"""
KNOWN = frozenset(KNOWN_TEXT.split())


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of a log, as far as it was seen."""

    reference: str
    source: str
    line: int
    record: int | None
    time: str
    level: str
    message: str
    template: str = ""
    count: int = 1
    baseline: int = 0
    compared: bool = False
    """True when `baseline` was counted and is not just unknown."""
    counted_in: str = ""
    """The handle of the comparison that `count` and `baseline` are of."""
    first_seen: str = ""
    last_seen: str = ""
    in_sources: int = 1
    is_first: bool = False
    """True when it is the first of its kind, by time."""
    fields: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False
    path: str = ""
    """Where in a structured record it stands; empty for a whole entry."""

    @property
    def place(self) -> tuple[str, int, str]:
        """Where it stands; equal places are one entry."""
        return (self.source, self.line, self.path)

    @property
    def sign(self) -> Sign:
        """What the entry speaks of: the strongest sign among its lines."""
        return sign_of(self.telling)

    @property
    def telling(self) -> str:
        """The one of its physical lines that says most; of an object, its message."""
        lines = self.message.split("\n") if self.message else [""]
        if len(lines) == 1:
            inner = INNER_MESSAGE.search(lines[0]) if lines[0].startswith("{") else None
            return inner[1] if inner else lines[0]
        return max(lines[:80], key=lambda text: _weight(text, lines[0]))

    @property
    def thrown(self) -> str:
        """The last of its lines that names an exception; empty where none does."""
        lines = self.message.split("\n")[1:]
        return next((text for text in reversed(lines) if THROWN.match(text)), "")

    @property
    def is_document(self) -> bool:
        """True for a structured record: it has values, not a message."""
        start = self.message.lstrip()[:1]
        return start == "{" and not INNER_MESSAGE.search(self.message.split("\n", 1)[0])

    @property
    def severity(self) -> int:
        """3 for FATAL, 2 for ERROR, 1 for WARN, else 0."""
        return WORSE.get(self.level, 0)

    @property
    def kind(self) -> str:
        """What it has in common with its like: the template, or its text without numbers."""
        return kind_of(self.message)

    @property
    def when(self) -> str:
        """The time of the first of its kind, else its own."""
        return self.first_seen or self.time


def kind_of(message: str) -> str:
    """The text of a message without what differs between its like: times, numbers, hashes."""
    text = LEADING_TIME.sub("", message.split("\n", 1)[0] if message else "")
    return NUMBERED.sub("#", text)[:160]


def line_of(row: JsonObject) -> Line | None:
    """The line that a row shows; None for a row that is not of a log."""
    inner = row.get("values")
    values: JsonObject = inner if isinstance(inner, dict) else row
    reference = text_at(values, "ref") or text_at(row, "ref")
    source = text_at(values, "source")
    message = text_at(values, "message", "text")
    if not reference or not source or (isinstance(inner, dict) and "message" not in values):
        return None
    record = values.get("record")
    return Line(
        reference=reference,
        source=source,
        line=_number(values, "line", 0),
        record=record if isinstance(record, int) else None,
        time=text_at(values, "time"),
        level=text_at(values, "level"),
        message=_rejoined(CUT.sub("", message)),
        template=text_at(values, "template"),
        count=_number(values, "count", 1),
        baseline=_number(values, "baseline", 0),
        compared=values.get("baseline") is not None,
        counted_in=text_at(values, "counted_in") or reference.partition(":")[0],
        first_seen=text_at(values, "first_seen"),
        last_seen=text_at(values, "last_seen"),
        in_sources=_number(values, "in_sources", 1),
        is_first=bool(text_at(values, "first_seen"))
        and text_at(values, "first_seen") == text_at(values, "time"),
        fields={
            key: str(value)
            for key, value in values.items()
            if key not in KNOWN and isinstance(value, str | int | float)
        },
        is_cut=bool(CUT.search(message)) or GAP in message,
    )


def merged(old: Line, new: Line) -> Line:
    """The same entry seen twice: the longer text under its own reference, the fuller figures."""
    longer = new if len(new.message) > len(old.message) else old
    figures = new if (new.compared, new.count) > (old.compared, old.count) else old
    return replace(
        longer,
        message=_union(longer.message, old.message if longer is new else new.message),
        template=figures.template or old.template or new.template,
        count=figures.count if figures.compared else max(old.count, new.count),
        baseline=figures.baseline,
        counted_in=figures.counted_in,
        compared=old.compared or new.compared,
        first_seen=figures.first_seen,
        last_seen=figures.last_seen,
        in_sources=max(old.in_sources, new.in_sources),
        is_first=old.is_first or new.is_first,
        fields={**old.fields, **new.fields},
    )


def _union(whole: str, other: str) -> str:
    """The lines of an entry that was seen twice, cut in different places."""
    more = [text for text in other.split("\n") if text.strip() and text not in whole]
    return "\n".join([whole, *more]) if "\n" in whole else whole


def _rejoined(message: str) -> str:
    """A message of which the middle was left out, as the lines that are left."""
    head, gap, tail = message.partition(GAP)
    return f"{head}\n{tail.partition(' ')[2] or tail}" if gap else message


def _weight(text: str, first: str) -> tuple[int, int, int]:
    """How much one line of an entry says; the first line wins a tie."""
    sign = sign_of(text)
    useful = int(sign.role in ("cause", "waiting"))
    exact = int(sign.cause is not None and not sign.cause.general)
    return (int(sign.strength) * (useful + exact), useful, len(text) if exact else text == first)


def _number(values: JsonObject, key: str, otherwise: int) -> int:
    value = values.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise

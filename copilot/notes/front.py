"""The head of a STATE.md: the front matter between two `---` lines, and the title below it.

Small enough that a thousand incidents are listed from their heads alone. Keys are ours and fixed;
a line that is not one of them belongs to an operator and is kept.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from copilot.errors import UsageError
from copilot.notes.markdown import prose, read_prose
from copilot.notes.sections import LIMIT_LINE, clean_line, in_utc, settle
from copilot.safe_text import one_line
from copilot.window import ALWAYS, Window, iso, parse_iso

FENCE = "---"
PLAIN = re.compile(r"[A-Za-z](?:[\w ./+-]*[\w./+-])?", re.ASCII)
NOT_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""Words that other YAML readers would not take as text."""
LINE = re.compile(r"([a-z_]+):(?: (.*))?")
WORDS = ("incident", "status", "outcome", "judgement", "model", "identity", "previous")
SENTENCES = ("title", "verdict", "cause", "note")
COUNTS = ("alerts", "turns", "tokens")
TIMES = ("started", "updated", "closed")
LIMIT_WORD = 200
LIMIT_LABELS = 40
LIMIT_COUNT = 10**15


@dataclass(frozen=True, slots=True)
class Front:
    """What can be said of an incident in a few lines; also what a list of incidents shows."""

    incident: str = ""
    title: str = ""
    status: str = "open"
    """open, investigating, reported or closed."""
    outcome: str = ""
    """The verdict's level: confirmed, likely, inconclusive, …"""
    verdict: str = ""
    """The cause in one line."""
    judgement: str = ""
    """What an operator thought of the verdict: right, wrong or partly."""
    cause: str = ""
    """The cause as an operator saw it, where she said so."""
    note: str = ""
    """What she added when she closed the incident."""
    alerts: int = 0
    window: Window = ALWAYS
    model: str = ""
    turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    started: datetime | None = None
    updated: datetime | None = None
    closed: datetime | None = None
    identity: str = ""
    """Equal for incidents that are the same trouble at different times."""
    previous: str = ""
    """The last incident before this one with the same identity."""
    labels: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The lines as they were in the file, by key."""

    def __post_init__(self) -> None:
        clean: dict[str, Any] = {}
        for name in WORDS:
            if word := getattr(self, name):
                clean[name] = clean_line(word, LIMIT_WORD)
        for name in SENTENCES:
            if sentence := getattr(self, name):
                clean[name] = one_line(sentence, LIMIT_LINE).strip()
        for name in COUNTS:
            clean[name] = min(max(getattr(self, name), 0), LIMIT_COUNT)
        for name in TIMES:
            if time := getattr(self, name):
                clean[name] = in_utc(time)
        cost = max(self.cost_usd, 0.0) if math.isfinite(self.cost_usd) else 0.0
        pairs = list(self.labels.items())[:LIMIT_LABELS]
        labels = {clean_line(key, 100): clean_line(value, LIMIT_WORD) for key, value in pairs}
        settle(self, cost_usd=round(cost, 6), labels=labels, **clean)


def render_front(front: Front, extra: Sequence[str]) -> list[str]:
    """The lines of the head; *extra* are an operator's own lines of the front matter."""
    lines = [FENCE]
    for key, form in FORMS.items():
        value = getattr(front, key)
        if key not in SHOWN and value == getattr(EMPTY, key):
            continue
        raw = front.raw.get(key)
        same = raw is not None and _read_line(raw) == (key, value)
        lines.append(raw if raw and same else f"{key}: {form.write(value)}")
    raw = front.raw.get("title", "")
    title = raw if one_line(read_title(raw)) == front.title else f"# {prose(front.title)}".rstrip()
    return [*lines, *extra, FENCE, "", title or "#"]


def parse_front(
    lines: Sequence[str], known: Mapping[str, Any] | None = None
) -> tuple[Front, list[str], int]:
    """The front matter that *lines* start with, the operator's lines in it, and where it ends.

    Without a closed front matter nothing is taken: the end is 0. What is *known* otherwise wins.
    """
    end = front_end(lines)
    values: dict[str, Any] = {}
    raw: dict[str, str] = {}
    extra: list[str] = []
    for line in lines[1 : max(end - 1, 1)]:
        key, value = _read_line(line)
        if key is None or key in values:
            extra.append(line)
        else:
            values[key], raw[key] = value, line
    front = Front(**{**values, **(known or {})}, raw=raw)
    return front, extra, end


def front_end(lines: Sequence[str]) -> int:
    """How many lines the front matter takes; 0 when there is none, or it is not closed."""
    return lines.index(FENCE, 1) + 1 if lines[:1] == [FENCE] and FENCE in lines[1:] else 0


def is_title(line: str) -> bool:
    """True when *line* is the heading with the incident's title."""
    return line == "#" or line.startswith("# ")


def read_title(line: str) -> str:
    """The title in that heading."""
    return read_prose(line[2:])


def _read_line(line: str) -> tuple[str, Any] | tuple[None, None]:
    """The key and value of one line of the front matter; None, None for a line that is not ours."""
    match = LINE.fullmatch(line)
    form = FORMS.get(match[1]) if match else None
    if not match or not form:
        return None, None
    try:
        return match[1], form.read((match[2] or "").strip())
    except (ValueError, OverflowError, RecursionError, UsageError):
        return None, None


def _write_text(text: str) -> str:
    plain = PLAIN.fullmatch(text) and text.lower() not in NOT_TEXT
    return text if plain else _json(text)


def _json(value: str | dict[str, str]) -> str:
    """The value as JSON that is YAML too: two signs that YAML cannot hold are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")


def _read_text(written: str) -> str:
    if not written.startswith('"'):
        return written
    found = json.loads(written)
    if not isinstance(found, str):
        raise UsageError(written)
    return found


def _write_time(time: datetime | None) -> str:
    return iso(time) if time else ""


def _read_time(written: str) -> datetime | None:
    return parse_iso(written) if written else None


def _write_window(window: Window) -> str:
    return "/".join(iso(end) if end else ".." for end in (window.start, window.end))


def _read_window(written: str) -> Window:
    start, end = (None if part == ".." else parse_iso(part) for part in written.split("/"))
    return Window(start, end)


def _write_cost(cost: float) -> str:
    return f"{cost:.6f}".rstrip("0").rstrip(".")


def _write_labels(labels: Mapping[str, str]) -> str:
    return _json(dict(labels))


def _read_labels(written: str) -> dict[str, str]:
    found = json.loads(written)
    if not isinstance(found, dict):
        raise UsageError(written)
    return {key: str(value) for key, value in found.items()}


@dataclass(frozen=True, slots=True)
class _Form:
    """How a key's value is written and read."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


_TEXT = _Form(_write_text, _read_text)
_COUNT = _Form(str, int)
_TIME = _Form(_write_time, _read_time)

FORMS: Mapping[str, _Form] = {
    "incident": _TEXT,
    "status": _TEXT,
    "outcome": _TEXT,
    "verdict": _TEXT,
    "judgement": _TEXT,
    "cause": _TEXT,
    "note": _TEXT,
    "alerts": _COUNT,
    "window": _Form(_write_window, _read_window),
    "model": _TEXT,
    "turns": _COUNT,
    "tokens": _COUNT,
    "cost_usd": _Form(_write_cost, float),
    "started": _TIME,
    "updated": _TIME,
    "closed": _TIME,
    "identity": _TEXT,
    "previous": _TEXT,
    "labels": _Form(_write_labels, _read_labels),
}
SHOWN = frozenset({"incident", "status", "alerts", "tokens", "cost_usd"})
"""Keys that are written even when nothing is known yet."""
EMPTY = Front()

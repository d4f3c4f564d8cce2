"""The parts of an alert, read from what a sender wrote: texts, labels, instants, fingerprints.

Senders agree on little, so each of these takes every usual form and never raises: what cannot be
read is empty. Long texts are cut, and controls in them become visible.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from copilot.intake.bounds import (
    NAME_CHARACTERS,
    RAW_CHARACTERS,
    TITLE_CHARACTERS,
    VALUE_CHARACTERS,
)
from copilot.safe_text import one_line, safe_text
from copilot.values import Json, JsonObject, digest
from copilot.window import EPOCH, from_epoch, parse_iso

_line = json.JSONEncoder(ensure_ascii=False).encode
UNSET = datetime(1971, 1, 1, tzinfo=UTC)
"""Go's year 0001 and the epoch itself mean "not set"."""
ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$", re.IGNORECASE)
DOTTED_ZONE = re.compile(r"([+-]\d\d)\.(\d\d)$")
SLASHED = re.compile(r"^(\d{4})/(\d\d)/(\d\d)")
WORDY_ZONE = re.compile(r"\s(?:UTC|GMT)$")
DIGEST_CHARACTERS = 10
TIME_CHARACTERS = 64
"""Of what may be a time; no form of one is longer, and no more of it is kept."""


def cut(text: str, limit: int) -> str:
    """The text, safe to show, of at most *limit* characters."""
    return safe_text(text, limit=limit)


def title(text: str) -> str:
    """One line: a title is printed and committed where a second one would pass for ours."""
    return one_line(text[: TITLE_CHARACTERS * 4], TITLE_CHARACTERS)


def texts(value: Mapping[str, Json]) -> dict[str, str]:
    """The entries that have a text or a number, as labels or annotations."""
    return {
        _exact(str(key), NAME_CHARACTERS): _exact(str(item), VALUE_CHARACTERS)
        for key, item in value.items()
        if key and isinstance(item, str | int | float) and item != ""
    }


def instant(text: str) -> datetime | None:
    """The instant in UTC, or None for what is none. A time without a zone is taken for UTC."""
    return _instant(text.strip()[:TIME_CHARACTERS])


@lru_cache(maxsize=1000)  # the alerts of a group began together
def _instant(text: str) -> datetime | None:
    text = WORDY_ZONE.sub("", text)
    try:
        if EPOCH.fullmatch(text):
            seconds = float(text)
            time = from_epoch(seconds / 1000 if len(text) == 13 and "." not in text else seconds)
        else:
            text = DOTTED_ZONE.sub(r"\1:\2", SLASHED.sub(r"\1-\2-\3", text))
            time = parse_iso(text if ZONE.search(text) else f"{text}Z")
    except (ValueError, OverflowError):
        return None
    return time if time and time > UNSET else None


def words(labels: Mapping[str, str]) -> str:
    """The labels as `a=1, b=2`, in the order of their names."""
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))


def fingerprint(labels: Mapping[str, str], name: str = "") -> str:
    """A digest of the labels, and of a *name* where the labels alone say too little."""
    return digest("\n".join([name, *(f"{key}={labels[key]}" for key in sorted(labels))]))[:16]


def raw(payload: JsonObject, *, lines: bool = True) -> str:
    """What arrived, as JSON that a person can read, cut. On one line it is made much faster."""
    return cut(_lines(payload) if lines else _line(payload), RAW_CHARACTERS)


def _lines(payload: JsonObject, margin: str = "") -> str:
    """A line for each field, and for each field of an object in it; what is deeper stays on one.

    The vendor's own indenting is not used: it is ten times slower, and every alert pays for it.
    """
    inner = f"{margin} "
    shown = [
        f"{inner}{_line(name)}: "
        + (_lines(value, inner) if isinstance(value, dict) and not margin else _line(value))
        for name, value in payload.items()
    ]
    return "\n".join(["{", ",\n".join(shown), f"{margin}}}"]) if shown else "{}"


def differences(members: Sequence[Mapping[str, str]], shared: Iterable[str]) -> list[str]:
    """One line for each of several members: the labels that tell it from the others."""
    if len(members) < 2:
        return []
    values: dict[str, set[str]] = defaultdict(set)
    carriers: Counter[str] = Counter()
    for labels in members:
        for key, value in labels.items():
            values[key].add(value)
            carriers[key] += 1
    differing = {key for key in values if len(values[key]) > 1 or carriers[key] < len(members)}
    told = differing | (values.keys() - set(shared))

    def line(labels: Mapping[str, str]) -> str:
        keys = sorted(labels.keys() & told, key=lambda key: (key not in differing, key))
        return " ".join(f"{key}={one_line(labels[key])}" for key in keys)

    return [line(labels) for labels in members]


def _exact(text: str, limit: int) -> str:
    """The text, cut and then marked with its digest: two long names never become one."""
    safe = cut(text, limit)
    if safe == text or (len(text) <= limit and safe == safe_text(text)):
        return safe
    return f"{safe[: limit - DIGEST_CHARACTERS - 2]}…#{digest(text)[:DIGEST_CHARACTERS]}"

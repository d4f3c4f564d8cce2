"""Log messages that differ only in their values, grouped under one template.

Two steps. Words that hold a digit are masked by what they look like (`<ip>`, `<hex>`, `blk_<n>`),
which alone makes most messages of one kind equal. What remains is grouped by length and first word,
and merged where most words agree (the idea of Drain, He et al., ICWS 2017); differing words become
`<*>`. Works on any logbook: it sees text only.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby

import re2

from connectors.message_shapes import DIGITS, shape_for

DEFAULT_MASKS: tuple[tuple[str, str], ...] = (
    ("time", r"\d{4}-\d\d-\d\d(?:[T_ ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
    ("time", r"\d\d?:\d\d:\d\d(?:[.,:]\d+)*"),
    ("time", r"\d{4}[-.]\d\d[-.]\d\d(?:-\d\d\.\d\d\.\d\d(?:\.\d+)?)?"),
    ("uuid", r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    ("ip", r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"),
    ("hex", r"0[xX][0-9a-fA-F]+|(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{8,}"),
    ("n", r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?"),
    ("size", r"\d+(?:\.\d+)?(?:[kKMGTP]i?B?|[munµ]?s|B|h|d|min)"),
)
"""Placeholder and pattern, in order. A pattern must match a whole word; a word is a run without
blanks, brackets, quotes, commas, semicolons or `=`. Only words that hold a digit are tried."""

WORDS_OF_TEMPLATE = 60
CHARACTERS = 1_000
SIMILAR = 0.7
CANDIDATES = 200
MAX_TEMPLATES = 20_000
OTHER = "(further messages, too different from each other to be listed)"
_CACHED = 100_000
_SHAPES = 20_000

_APART = r"\s\[\]{}()<>\"'`,;=|"
VALUE = re.compile(rf"(?<![^{_APART}])[^{_APART}\d]*+\d[^{_APART}]*")
"""A word that holds a digit. It is looked for at the starts of words only: any other start costs
time that grows with the square of a word."""
LONG_HEX = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}",
    re.IGNORECASE,
)
"""A hash or a UUID inside a word: `req-38101a0b-2096-…`."""
MIXED = re.compile(r"(?:[A-Za-z]+\d+){3,}[A-Za-z]*|(?:\d+[A-Za-z]+){3,}\d*")
LEADING = re.compile(r"^(?:[^\w<]*<(?:time|n)>[^\w<\[({]*)+")
THROWN = re.compile(
    r"^\s*(?:Caused by: )?(?:[\w$]+\.)*[A-Za-z_]\w*"
    r"(?:Error|Exception|Interrupt|Failure|Throwable)\b|^Message: \S"
)
Mask = tuple[re.Pattern[str], tuple[str, ...]]
"""A pattern, and the placeholder of each of its groups."""
_read = json.JSONDecoder().raw_decode
MESSAGE_KEYS = ("message", "msg", "log", "event", "error", "body")


@dataclass(slots=True)
class _Template:
    """The words of one template; None stands for any word."""

    words: list[str | None]

    def text(self) -> str:
        """The template as a person reads it."""
        return " ".join("<*>" if word is None else word for word in self.words)


class TemplateMiner:
    """Gives each message the number of its template; the wording of one may grow wider."""

    def __init__(self, masks: Sequence[tuple[str, str]] = DEFAULT_MASKS) -> None:
        self._templates: list[_Template] = []
        self._groups: dict[tuple[int, str, str], list[int]] = {}
        self._known: dict[tuple[str, str], int] = {}
        self._shapes: dict[tuple[str, bytes], int] = {}
        # Not of a method: that would hold this miner with all its words until garbage is sought.
        self._masked = lru_cache(_CACHED)(partial(_worded, tuple(_compiled(masks))))
        self._other: int | None = None
        usual = tuple(masks) == DEFAULT_MASKS
        self._shape = shape_for((pattern for _, pattern in masks), usual=usual)

    def add(self, message: str, kind: str = "") -> int:
        """The template of *message*. Different *kinds*, such as levels, never share one."""
        shape = (kind, self._shape(telling(message)[:CHARACTERS]))
        number = self._shapes.get(shape)
        if number is None:
            text = shape[1].decode("utf-8", "surrogatepass")
            number = self._numbered(kind, self.mask(text))
            if len(self._shapes) >= _SHAPES:
                self._shapes.clear()
            self._shapes[shape] = number
        return number

    def _numbered(self, kind: str, masked: str) -> int:
        key = (kind, masked)
        number = self._known.get(key)
        if number is None:
            number = self._matching(kind, masked.split(" ")[:WORDS_OF_TEMPLATE])
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[key] = number
        return number

    def text(self, number: int) -> str:
        """The wording of a template."""
        return OTHER if number == self._other else self._templates[number].text()

    def mask(self, text: str) -> str:
        """*text* with its values masked, its blanks single, and without a leading time."""
        masked = " ".join(map(self._masked, text[:CHARACTERS].split()))
        leading = LEADING.match(masked)
        return masked[leading.end() :] if leading else masked

    def _matching(self, kind: str, words: list[str]) -> int:
        """The most similar template, widened to hold *words*, or a new one.

        Masked words are no likeness: `<hex> <n>` stands in messages of every kind.
        """
        first = words[0] if "<" not in words[0] else ""
        group = self._groups.setdefault((len(words), first, kind), [])
        telling_words = [(place, word) for place, word in enumerate(words) if "<" not in word]
        best, best_score = -1, 0.0
        for number in group[:CANDIDATES]:
            template = self._templates[number].words
            same = sum(template[place] == word for place, word in telling_words)
            score = same / max(1, len(telling_words))
            if score > best_score:
                best, best_score = number, score
        if best >= 0 and best_score >= SIMILAR:
            template = self._templates[best].words
            for place, word in enumerate(words):
                if template[place] != word:
                    template[place] = None
            return best
        return self._new(group, words)

    def _new(self, group: list[int], words: list[str]) -> int:
        if len(self._templates) >= MAX_TEMPLATES:
            if self._other is None:
                self._other = len(self._templates)
                self._templates.append(_Template([OTHER]))
            return self._other
        self._templates.append(_Template(list(words)))
        group.append(len(self._templates) - 1)
        return len(self._templates) - 1


def _worded(masks: Sequence[Mask], word: str) -> str:
    """What stands between two blanks, with its values masked."""
    return VALUE.sub(partial(_classified, masks), word)


def _classified(masks: Sequence[Mask], match: re.Match[str]) -> str:
    word = match[0]
    core = word.strip(".:-/@#*!?&")
    start = word.find(core)
    for pattern, placeholders in masks:
        found = pattern.fullmatch(core)
        if found and found.lastindex:
            placeholder = placeholders[found.lastindex - 1]
            return word[:start] + placeholder + word[start + len(core) :]
    if MIXED.fullmatch(core):
        return word.replace(core, "<id>")
    return DIGITS.sub("<n>", LONG_HEX.sub("<hex>", word))


def _compiled(masks: Sequence[tuple[str, str]]) -> Iterator[Mask]:
    """Patterns in their order, ready to match, each with the placeholders of its groups.

    Neighbours of ours are tried at once. What an operator wrote is RE2: no word can stall it.
    """
    for ours, neighbours in groupby(masks, key=DEFAULT_MASKS.__contains__):
        listed = [(f"<{name}>", f"({pattern})") for name, pattern in neighbours]
        if ours:
            placeholders, patterns = zip(*listed, strict=True)
            yield re.compile("|".join(patterns)), placeholders
        else:
            yield from ((re2.compile(pattern), (placeholder,)) for placeholder, pattern in listed)


def telling(message: str) -> str:
    """The part of a message that tells its kind.

    Of several lines: the first, and the last that names an exception. Of a JSON object: its
    message, or else the names of its keys.
    """
    if message.startswith("{"):
        return _of_object(message)
    if "\n" not in message:
        return message
    first, *rest = message.split("\n")
    thrown = next((line.strip() for line in reversed(rest) if THROWN.match(line)), "")
    return f"{first} ⏎ {thrown}" if thrown else first


def _of_object(message: str) -> str:
    try:
        value, end = _read(message)
    except (ValueError, RecursionError):
        return message.split("\n", 1)[0]
    if message[end:].strip(" \t\n\r"):
        return message.split("\n", 1)[0]
    for key in MESSAGE_KEYS:
        text = value.get(key)
        if isinstance(text, str) and text:
            return text
    return "{" + " ".join(f"{key}:" for key in sorted(map(str, value))) + "}"

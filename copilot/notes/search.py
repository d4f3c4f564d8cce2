"""Which past incidents are like a text: those that share its words, rare words counting most.

Every STATE.md and report.md is read each time: a thousand take a third of a second, and an index
that can be stale cannot lie if there is none. One incident's text is held at a time, so that a
search takes no more room when there are more of them. Numbers differ between two incidents of one
kind, so a word that holds digits is also looked for by its letters.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from copilot.errors import NotesError
from copilot.notes.folder import read_start
from copilot.notes.front import Front
from copilot.notes.listing import STATE, folders, read_front
from copilot.safe_text import one_line

FILES = (STATE, "report.md")
LIMIT_BYTES = 512 * 1024
"""Of each file; ours are smaller."""
LIMIT_TERMS = 24
LIMIT_NAMES = 16
"""Words that look like names: with capitals, digits or signs in them."""
LIMIT_SNIPPET = 240
WORD = re.compile(r"\w(?:[\w./:@+-]*\w)?")
LETTERS = re.compile(r"[^\W\d_]{4,}")
COMMON = frozenset(
    re.findall(
        r"\w+",
        """about after again also and any are because been before but can cannot could did does for
        from had has have how into its more most not now only other out over same should since some
        such than that the their then there these they this those too under until was were what when
        where which while who why will with would you your""",
    )
)
SATURATION = 1.2
LENGTH = 0.75
"""The usual two constants of BM25."""
LABEL_WEIGHT = 2.0
SPARE = 2
"""So many times the answers asked for are weighed by their judgement."""
JUDGED = {"wrong": 0.5, "partly": 0.8}
"""An incident whose verdict an operator called wrong teaches less."""


@dataclass(frozen=True, slots=True)
class Recall:
    """A past incident that shares words with what was asked."""

    incident: str
    title: str
    status: str
    outcome: str
    verdict: str
    judgement: str
    updated: datetime | None
    score: float
    """Comparable within one search only."""
    snippet: str
    """The line that shares most."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. Labels are `name=value`, or a value alone."""

    text: str
    labels: tuple[str, ...] = ()
    since: datetime | None = None
    """Only incidents that changed at or after this time."""
    without: str = ""
    """An incident that is not wanted: the one that asks."""
    limit: int = 20


@dataclass(frozen=True, slots=True)
class _Page:
    """How often each word that is looked for stands in the text of an incident."""

    incident: str
    length: int
    counts: tuple[int, ...]


def search_notes(root: Path, query: Query) -> tuple[Recall, ...]:
    """The incidents below *root* that share words or labels with the query, best first."""
    weights = dict.fromkeys(terms(query.text), 1.0)
    weights |= {_label(label): LABEL_WEIGHT for label in query.labels if label.strip()}
    pages = [page for page in _pages(root, weights) if page.incident != query.without]
    worth, ranked = _ranked(pages, weights)
    found: list[Recall] = []
    for score, page in ranked:
        if len(found) >= SPARE * query.limit:
            break
        front = read_front(root, page.incident)
        if front and (query.since is None or _last_change(front) >= query.since):
            text = _content(root, page.incident).decode("utf-8", "replace")
            found.append(_recall(front, score, _snippet(text, worth)))
    found.sort(key=lambda one: -one.score)
    return tuple(found[: query.limit])


def terms(text: str) -> tuple[str, ...]:
    """The words worth looking for, at most 24, longest first: mostly names, some plain words."""
    names: dict[str, int] = {}
    plain: dict[str, int] = {}
    for match in WORD.finditer(text):
        word = match.group()
        kind = plain if word.isalpha() and word[1:] == word[1:].lower() else names
        for part in (word, *([] if word.isalpha() else LETTERS.findall(word))):
            folded = part.lower()
            if 3 <= len(part) <= 100 and folded not in COMMON:
                kind.setdefault(folded, len(part))
    best = sorted(names, key=lambda word: -names[word])
    rest = [*sorted(plain.keys() - names.keys(), key=lambda word: (-plain[word], word))]
    return tuple([*best[:LIMIT_NAMES], *rest, *best[LIMIT_NAMES:]][:LIMIT_TERMS])


def _label(label: str) -> str:
    """How a label stands in the front matter: `"name": "value"`, or the value alone."""
    name, equals, value = label.strip().lower().partition("=")
    return f'"{name}": "{value}"' if equals else name


def _pages(root: Path, words: Iterable[str]) -> Iterator[_Page]:
    """What each incident has of *words*; one that cannot be read is left out.

    Counting in bytes is fast; only ASCII letters are folded.
    """
    needles = [word.encode().lower() for word in words]
    for incident in folders(root):
        if folded := _content(root, incident).lower():
            yield _Page(incident, len(folded), tuple(map(folded.count, needles)))


def _content(root: Path, incident: str) -> bytes:
    """The text of an incident; empty when it has no STATE.md or cannot be read."""
    try:
        parts = [read_start(root, incident, name, LIMIT_BYTES) or b"" for name in FILES]
    except NotesError:
        return b""
    return b"\n".join(parts) if parts[0] else b""


def _ranked(
    pages: Sequence[_Page], weights: Mapping[str, float]
) -> tuple[dict[str, float], list[tuple[float, _Page]]]:
    """What each word is worth here, and the pages that hold one, by BM25."""
    rarity = [_rarity(column) for column in zip(*(page.counts for page in pages), strict=True)]
    worth = [weight * rare for weight, rare in zip(weights.values(), rarity, strict=False)]
    mean = sum(page.length for page in pages) / max(len(pages), 1)
    scored = [
        (_score(page.counts, worth, page.length / mean), page) for page in pages if any(page.counts)
    ]
    scored.sort(key=lambda item: (-item[0], item[1].incident))
    return dict(zip(weights, worth, strict=False)), scored


def _rarity(counts: Sequence[int]) -> float:
    """What a word is worth that occurs so often in each page."""
    holders = sum(count > 0 for count in counts)
    return math.log(1 + (len(counts) - holders + 0.5) / (holders + 0.5))


def _score(counts: Sequence[int], worth: Sequence[float], length: float) -> float:
    norm = SATURATION * (1 - LENGTH + LENGTH * length)
    return sum(
        value * count * (SATURATION + 1) / (count + norm)
        for value, count in zip(worth, counts, strict=True)
    )


def _snippet(text: str, worth: Mapping[str, float]) -> str:
    """The line whose words are worth most, around the first of them."""
    best, most = "", 0.0
    for line in text.split("\n"):
        folded = line.lower()
        value = sum(rare for word, rare in worth.items() if word in folded)
        if value > most:
            best, most = line, value
    folded = best.lower()
    first = min((at for word in worth if (at := folded.find(word)) >= 0), default=0)
    start = max(first - LIMIT_SNIPPET // 3, 0)
    return one_line(("…" if start else "") + best[start:], LIMIT_SNIPPET)


def _last_change(front: Front) -> datetime:
    return front.updated or front.started or datetime.min.replace(tzinfo=UTC)


def _recall(front: Front, score: float, snippet: str) -> Recall:
    return Recall(
        incident=front.incident,
        title=front.title,
        status=front.status,
        outcome=front.outcome,
        verdict=front.verdict,
        judgement=front.judgement,
        updated=front.updated or front.started,
        score=score * JUDGED.get(front.judgement, 1.0),
        snippet=snippet,
    )

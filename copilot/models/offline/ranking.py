"""Which lines could name the cause, best first: by what they say, when, and of whom.

Points, not probabilities. A line gains by naming a cause by itself, by being severe, by being about
what the alert is about, by coming early and by being new against a healthy time; it loses all of
that when a healthy time or sibling has it too.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from copilot.models.offline.causes import CauseClass, Sign, Strength
from copilot.models.offline.entities import is_identifier, words_of
from copilot.models.offline.focus import HEALTHY_NAME, Focus
from copilot.models.offline.lines import Line
from copilot.models.offline.reading import Brief

DIRECT_POINTS = 6.0
HINT_POINTS = 2.5
GENERAL_DISCOUNT = 2.0
CONSEQUENCE_POINTS = 1.0
QUIET = ("INFO", "DEBUG", "TRACE")
QUIET_DISCOUNT = 2.5
"""A program that goes on as usual says so at these levels."""
SIBLING_DISCOUNT = 4.0
"""For a line that names another one of the alert's kind: another block, another job."""
PAST_DISCOUNT = 4.0
ENOUGH = 4.5
"""Points from which a line may be called a cause."""
NEAR = 0.6
"""Points for standing in a file that names what the alert is about."""
STORY = 2.0
"""Points from which a line belongs into the story."""
SETTING = re.compile(r"^[#;\s]*(?:export\s+|set\s+)?[\w.\-/]+\s*(?:=|:)\s*\S{0,120}\s*$")
DIGITS = re.compile(r"\d+")
WORD_SIGN = re.compile(r"[A-Za-z0-9]")
"""What a word goes on with. An underscore divides."""
TALKS_OF_TROUBLE = re.compile(r"error|fail|exception|denied|refused|expired|killed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shares:
    """How many entries the compared windows hold, to compare counts as shares."""

    window: int
    baseline: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines of one kind, the first one first, with the points of the best of them."""

    lines: tuple[Line, ...]
    sign: Sign
    points: float
    is_noise: bool
    """True when a healthy time has it about as often."""
    is_related: bool
    """True when it names what the alert is about."""
    is_near: bool = True
    """True when it at least stands in a file in which that is named."""
    is_past: bool = False
    """True when it had ended before the time that is looked at, or began after it."""
    is_stranger: bool = False
    """True when it shares nothing with the alert, which the logs do speak of."""

    @property
    def first(self) -> Line:
        """The line to cite."""
        return self.lines[0]

    @property
    def cause(self) -> CauseClass:
        """Its class, which it must have."""
        assert self.sign.cause
        return self.sign.cause

    @property
    def is_cause(self) -> bool:
        """True when it could explain the alert."""
        return (
            self.sign.role in ("cause", "waiting")
            and self.points >= ENOUGH
            and not (self.is_noise or self.is_stranger)
        )

    @property
    def is_new(self) -> bool:
        """True when a healthy time was looked at and has none of it."""
        return any(line.compared and not line.baseline for line in self.lines)

    @property
    def count(self) -> int:
        """How often it was counted."""
        return max(len(self.lines), *(line.count for line in self.lines))


def rank(
    lines: Iterable[Line], brief: Brief, focus: Focus, shares: Mapping[str, Shares]
) -> tuple[Candidate, ...]:
    """The candidates among *lines*, best first; what says nothing of trouble is left out."""
    lines = [line for line in lines if not HEALTHY_NAME.search(line.source)]
    lines = [line for line in lines if line.message and not _repeats_alert(line, brief)]
    places = _named_sources(lines, brief)
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        if _says_something(line):
            groups.setdefault((line.sign.name, line.kind), []).append(line)
    found = [_candidate(group, brief, focus, shares, places) for group in groups.values()]
    return tuple(sorted(_with_time(found), key=lambda item: (-item.points, order(item.first))))


def order(line: Line) -> tuple[str, str, int]:
    """The place of a line in the story: by time, then by file."""
    return (line.when or "9", line.source, line.line)


def is_setting(line: Line) -> bool:
    """True for a line of a configuration: it says how things are, not what went wrong."""
    text = line.message.split("\n", 1)[0]
    plain = not (line.level or line.time) and not TALKS_OF_TROUBLE.search(text)
    return plain and (bool(SETTING.match(text)) or text.startswith("#"))


def names(line: Line, text: str) -> bool:
    """True when the entry holds *text* as a whole word, in its message, fields or source.

    Without a pattern: each incident has names of its own, and Python would keep one for each.
    """
    every = "\n".join((line.message, line.source, *line.fields.values())).lower()
    wanted = text.lower()
    start = every.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not WORD_SIGN.search(every[max(start - 1, 0) : start] + every[end : end + 1]):
            return True
        start = every.find(wanted, start + 1)
    return False


def _repeats_alert(line: Line, brief: Brief) -> bool:
    """True for a copy of the alert's own words among the logs: they explain nothing."""
    text = " ".join(line.telling.split())
    return len(text) > 20 and text in " ".join(f"{brief.title} {brief.text}".split())


def _says_something(line: Line) -> bool:
    sign = line.sign
    if sign.role in ("healthy", "blind") or is_setting(line) or line.is_document:
        return False
    return (
        line.severity > 0 or sign.strength is Strength.DIRECT or sign.role in ("cause", "waiting")
    )


def _candidate(
    group: Sequence[Line],
    brief: Brief,
    focus: Focus,
    shares: Mapping[str, Shares],
    places: frozenset[str],
) -> Candidate:
    group = sorted(
        group,
        key=lambda line: (
            bool(line.when) and line.when < focus.since,
            not _prefers(line, brief),
            order(line),
        ),
    )
    first = group[0]
    sign = first.sign
    noise, novelty = _against_healthy(group, shares)
    relation = max(_relation(line, brief, places) for line in group)
    points = _meaning(first) + 0.8 * max(line.severity for line in group) + novelty + relation
    points -= SIBLING_DISCOUNT * all(names_sibling(line, brief) for line in group)
    points += min(1.0, math.log10(max(line.count for line in group) + 1) / 2)
    points += min(1.2, 0.4 * len(brief.words & words_of(first.telling)))
    ended = max(line.last_seen or line.time for line in group)
    starts = min((line.when for line in group if line.when), default="")
    is_past = bool(focus.since and ended and ended < focus.since)
    is_past = is_past or bool(focus.until and starts and starts > focus.until)
    return Candidate(
        lines=tuple(group),
        sign=sign,
        points=points - PAST_DISCOUNT * is_past,
        is_noise=noise,
        is_related=relation > NEAR,
        is_near=relation >= NEAR,
        is_past=is_past,
    )


def _prefers(line: Line, brief: Brief) -> bool:
    """True for the line to cite among its like: it names what the alert is about."""
    return any(names(line, entity.text) for entity in brief.entities if entity.weight > 1)


def _meaning(line: Line) -> float:
    sign = line.sign
    if sign.cause is None:
        return 0.0
    if sign.role == "consequence":
        return CONSEQUENCE_POINTS if sign.strength is Strength.DIRECT else 0.5
    points = DIRECT_POINTS if sign.strength is Strength.DIRECT else HINT_POINTS
    if sign.cause.general:
        points -= GENERAL_DISCOUNT
    if line.level in QUIET and sign.role != "waiting":
        points -= QUIET_DISCOUNT
    return points


def _against_healthy(group: Sequence[Line], shares: Mapping[str, Shares]) -> tuple[bool, float]:
    """Whether a healthy time has it about as often, and the points that this makes."""
    verdicts = []
    for line in group:
        share = shares.get(line.counted_in)
        if not (line.compared and share and share.baseline):
            continue
        here = line.count / max(share.window, 1)
        there = line.baseline / share.baseline
        if not line.baseline:
            verdicts.append((False, 2.0 if line.count > 2 else 1.0))
        elif here > 10 * there:
            verdicts.append((False, 0.0))
        else:
            verdicts.append((here < 2 * there, -2.0 if here > 4 * there else -4.0))
    return min(verdicts, key=lambda item: item[1]) if verdicts else (False, 0.0)


def _relation(line: Line, brief: Brief, places: frozenset[str]) -> float:
    """How closely a line is about what the alert is about."""
    weights = [float(entity.weight) for entity in brief.entities if names(line, entity.text)]
    # A record that carries the very code that the alert names is the one that it is about.
    weights += [2.5 for entity in brief.entities if entity.text in line.fields.values()]
    return max([*weights, NEAR if line.source in places else 0.0])


def names_sibling(line: Line, brief: Brief) -> bool:
    """True when the line names others of the alert's kind and not the alert's own."""
    for entity in brief.entities:
        shape = DIGITS.sub("#", entity.text)
        if entity.weight < 2 or not is_identifier(entity.text) or names(line, entity.text):
            continue
        words = (word.strip(".,:;()[]\"'") for word in re.split(r"[\s=]", line.message[:600]))
        if any(DIGITS.sub("#", word) == shape for word in words if is_identifier(word)):
            return True
    return False


def _named_sources(lines: Sequence[Line], brief: Brief) -> frozenset[str]:
    """The sources in which what the alert is about occurs at all."""
    telling = [entity.text for entity in brief.entities if entity.weight > 1]
    return frozenset(line.source for line in lines if any(names(line, text) for text in telling))


def _with_time(found: list[Candidate]) -> list[Candidate]:
    """Up to 1.5 points for coming first: errors come before their consequences."""
    able = sorted((item for item in found if item.is_cause), key=lambda item: order(item.first))
    early = {id(item): 1.5 * (1 - place / len(able)) for place, item in enumerate(able)}
    return [replace(item, points=item.points + early.get(id(item), 0.0)) for item in found]

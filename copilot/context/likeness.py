"""When two tool calls are the same call, or the same question asked wider. Pure.

Arguments differ in ways that mean nothing: the order of a set, a window whose end is "now" and so
moves by seconds with each turn. Positions (cursor, page, first line) always mean something: paging
through a result is never a repeat.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from copilot.values import Json, canonical
from copilot.window import parse_iso

WINDOWS = (
    ("since", "until"),
    ("updated_since", "updated_until"),
    ("baseline_since", "baseline_until"),
)
SIZES = frozenset({"limit", "count", "before", "after", "context", "top"})
"""Arguments that only say how much of the same answer is wanted."""
UNORDERED = frozenset(
    {"levels", "sources", "handles", "labels", "projects", "statuses", "parts", "where", "tools"}
)
SECONDS = 60.0
"""Ends of a window that are at most so far apart may be the same end …"""
SHARE = 0.01
"""… unless that is more than this part of the window: ten-second slices are not one slice."""
OPEN = (float("-inf"), float("inf"))


@dataclass(frozen=True, slots=True)
class Likeness:
    """A call as it is compared: the question, how much of it, and over which times."""

    question: str
    sizes: str
    windows: tuple[tuple[float, float], ...]

    def is_same(self, other: "Likeness") -> bool:
        """True for the same call: equal, or with windows whose ends differ by seconds."""
        return (
            (self.question, self.sizes) == (other.question, other.sizes)
            and len(self.windows) == len(other.windows)
            and all(map(_near, self.windows, other.windows))
        )

    def overlaps(self, other: "Likeness") -> bool:
        """True for the same question of any size over windows that have time in common."""
        return (
            self.question == other.question
            and len(self.windows) == len(other.windows)
            and all(map(_meet, self.windows, other.windows))
        )


def likeness(tool: str, arguments: Mapping[str, Json]) -> Likeness:
    """The call as it is compared. Give the arguments without those that have their default."""
    try:
        windows = tuple(_window(arguments, *names) for names in WINDOWS)
    except (ValueError, OverflowError):
        windows = ()  # no time that could be compared: only the very same text is the same
    apart = SIZES | ({name for names in WINDOWS for name in names} if windows else set())
    asked: dict[str, Json] = {
        name: sorted(value, key=canonical)
        if name in UNORDERED and isinstance(value, list)
        else value
        for name, value in arguments.items()
        if name not in apart
    }
    sizes: dict[str, Json] = {name: arguments[name] for name in SIZES & arguments.keys()}
    return Likeness(f"{tool} {canonical(asked)}", canonical(sizes), windows)


def _window(arguments: Mapping[str, Json], since: str, until: str) -> tuple[float, float]:
    """The ends in epoch seconds; an open end is infinitely far."""
    ends = (arguments.get(since), arguments.get(until))
    start, end = (_seconds(text) if text else None for text in ends)
    return (OPEN[0] if start is None else start, OPEN[1] if end is None else end)


def _seconds(text: Json) -> float:
    time: datetime = parse_iso(str(text))
    return time.timestamp()


def _near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    apart = min(SECONDS, SHARE * (one[1] - one[0]))
    return all(a == b or abs(a - b) <= apart for a, b in zip(one, other, strict=True))


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1]

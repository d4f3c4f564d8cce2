"""Classes of causes, and which one a line of a log speaks of. The table is `causes.yaml`.

Knows the words that languages, kernels, protocols and schedulers share, and no system's own names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, get_args

from copilot import safe_regex, strict_yaml
from copilot.safe_regex import Pattern
from copilot.values import Json, list_at, text_at

TABLE = Path(__file__).with_name("causes.yaml")
REMEMBERED = 20_000
"""How many lines' classes are kept: a request holds the same lines turn after turn."""
LONGEST = 2000
"""Characters of a line that are looked at: a sign further on is not what the line is about."""

Role = Literal["cause", "waiting", "consequence", "healthy", "blind"]


class Strength(IntEnum):
    """How much a sign says."""

    NONE = 0
    HINT = 1
    DIRECT = 2


@dataclass(frozen=True, slots=True)
class CauseClass:
    """One class of causes. `says` is a sentence without its full stop."""

    name: str
    says: str
    role: Role
    general: bool
    """True when it says what failed and not why."""
    settle: str
    ask: str
    """The text of a search that would find it; empty where no few words would."""
    signs: Mapping[Strength, tuple[Pattern, ...]]

    def strength(self, text: str) -> Strength:
        """How strongly *text* speaks of this class."""
        for strength, patterns in self.signs.items():
            if any(pattern.found_in(text) for pattern in patterns):
                return strength
        return Strength.NONE


@dataclass(frozen=True, slots=True)
class Sign:
    """What a line speaks of, where in it, and how strongly. Without a class it says nothing."""

    cause: CauseClass | None = None
    strength: Strength = Strength.NONE

    @property
    def name(self) -> str:
        """The class's name, or an empty text."""
        return self.cause.name if self.cause else ""

    @property
    def role(self) -> Role | None:
        """The class's role, or None."""
        return self.cause.role if self.cause else None


@cache
def classes() -> tuple[CauseClass, ...]:
    """All classes, the more exact ones first."""
    table = strict_yaml.load(TABLE).data
    return tuple(_class(item) for item in list_at(table, "causes"))


def class_called(name: str) -> CauseClass:
    """The class of that name, which must exist."""
    return next(item for item in classes() if item.name == name)


def sign_of(text: str) -> Sign:
    """What *text*, one line, speaks of: direct signs before hints, causes before consequences."""
    return _sign_of(text[:LONGEST])  # what is kept of a line is no more than is looked at


@lru_cache(maxsize=REMEMBERED)
def _sign_of(line: str) -> Sign:
    best = Sign()
    for item in classes():
        strength = item.strength(line)
        if strength > best.strength:
            best = Sign(item, strength)
    return best


def _class(item: Json) -> CauseClass:
    role = next(known for known in get_args(Role) if known == text_at(item, "role"))
    return CauseClass(
        name=text_at(item, "name"),
        says=text_at(item, "says"),
        role=role,
        general=isinstance(item, dict) and item.get("general") is True,
        settle=text_at(item, "settle"),
        ask=text_at(item, "ask"),
        signs={
            Strength.DIRECT: _patterns(item, "direct"),
            Strength.HINT: _patterns(item, "hints"),
        },
    )


def _patterns(item: Json, key: str) -> tuple[Pattern, ...]:
    return tuple(safe_regex.compile(f"(?i){sign}") for sign in list_at(item, key))

"""What the sections of a STATE.md hold: an artifact, a finding, a moment of the timeline.

Every text is made safe to show and cut to its limit when the value is made, so no later reader has
to think of it. `raw` is how an entry was written in the file it came from: it lets an operator's
own wording and links survive, and takes no part in comparisons.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from copilot.safe_text import safe_text

Status = Literal["confirmed", "likely", "possible"]

LIMIT_PROSE = 2000
"""Characters of a claim, a question or the text of a moment."""
LIMIT_LINE = 500
"""Characters of an identifier, a quote, a search or a handle."""
LIMIT_CITATIONS = 40
"""References under one entry."""


def clean_prose(text: str, limit: int = LIMIT_PROSE) -> str:
    """The text safe to show, without blank ends; line breaks stay. A `…` marks a cut."""
    return safe_text(text.strip(), limit=limit).strip()


def clean_line(text: str, limit: int = LIMIT_LINE) -> str:
    r"""The text safe to show on one line: a line break is spelled `\n`, all else is verbatim."""
    return safe_text(safe_text(text.strip()).replace("\n", r"\n"), limit=limit).strip()


def in_utc(time: datetime) -> datetime:
    """The same instant in UTC; a time without a zone is taken as UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def settle(of: object, /, **fields: Any) -> None:
    """Set fields of a frozen value; only from its `__post_init__`."""
    for name, content in fields.items():
        object.__setattr__(of, name, content)


@dataclass(frozen=True, slots=True)
class Artifact:
    """An identifier worth keeping verbatim, and where it was first seen."""

    kind: str
    value: str
    first: str
    """The reference where it was first seen: `R0007:41`, `alert`, a ticket key, …"""
    count: int = 1
    raw: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        settle(
            self,
            kind=clean_line(self.kind, 40),
            value=clean_line(self.value),
            first=clean_line(self.first),
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference, as in `R0007:41`, and what is quoted from its line."""

    reference: str
    quote: str = ""

    def __post_init__(self) -> None:
        settle(self, reference=clean_line(self.reference), quote=clean_line(self.quote))


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, how sure we are of it, and what it rests on."""

    claim: str
    status: Status
    citations: tuple[Citation, ...] = ()
    raw: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        settle(self, claim=clean_prose(self.claim), citations=_capped(self.citations))


@dataclass(frozen=True, slots=True)
class RuledOut:
    """What is not the cause, and by which references or queries."""

    claim: str
    citations: tuple[Citation, ...] = ()
    raw: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        settle(self, claim=clean_prose(self.claim), citations=_capped(self.citations))


@dataclass(frozen=True, slots=True)
class Done:
    """A search that was run, the handle of its result, and what came out."""

    search: str
    handle: str = ""
    outcome: str = ""
    raw: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        settle(
            self,
            search=clean_line(self.search),
            handle=clean_line(self.handle, 80),
            outcome=clean_prose(self.outcome, LIMIT_LINE),
        )


@dataclass(frozen=True, slots=True)
class Question:
    """Something that nobody knows yet."""

    text: str
    raw: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        settle(self, text=clean_prose(self.text))


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened at a time, and the reference that shows it."""

    time: datetime
    text: str
    reference: str = ""
    raw: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        settle(
            self,
            time=in_utc(self.time),
            text=clean_prose(self.text),
            reference=clean_line(self.reference),
        )


Entry = Artifact | Finding | RuledOut | Done | Question | Moment
"""One entry of a section that is a list."""


def _capped(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    return tuple(citations)[:LIMIT_CITATIONS]

"""Lines of stored results that match a pattern, with references, within a budget.

The pattern is RE2 and is tried on each row's values, then on the row as it is stored, so that it
finds what a reader of either sees. Counting goes on when the budget for showing is used up.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from copilot import safe_regex
from copilot.errors import ScratchError
from copilot.safe_regex import Pattern
from copilot.scratch.rows import decode
from copilot.scratch.seeking import PIECE_CHARACTERS, Seeker, TooLate
from copilot.scratch.store import Scratch
from copilot.values import Json, Reference, compact

LIMIT_SECONDS = 2.0
SNIPPET_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for. No handles means all of the incident's; *context* counts lines."""

    pattern: str
    handles: tuple[str, ...] = ()
    context: int = 0
    limit: int = 20
    budget_bytes: int = 6000


@dataclass(frozen=True, slots=True)
class Match:
    """One matching line. `text` is the value around the match, which stands in its middle."""

    reference: Reference
    field: str
    """The value's keys joined by dots; empty where only the stored line matched."""
    text: str
    before: tuple[tuple[Reference, str], ...] = ()
    after: tuple[tuple[Reference, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """The first matches in order of handle and line. `total` counts matching lines."""

    matches: tuple[Match, ...]
    total: int
    lines_searched: int
    why_incomplete: str = ""
    """Empty exactly when every line was tried."""


def search(scratch: Scratch, asked: Search) -> Matches:
    """The matches of *asked*. Raises PatternError, and ScratchError for a handle that was named."""
    pattern = safe_regex.compile(asked.pattern)
    seeker = Seeker(scratch.monotonic, LIMIT_SECONDS)
    found: list[Match] = []
    problems: list[str] = []
    total = tried = 0
    room = asked.budget_bytes
    for handle in asked.handles or scratch.handles():
        try:
            for number, line in enumerate(scratch.lines(handle), start=1):
                hit = _hit(seeker, pattern, line)
                tried += 1
                total += hit is not None
                if hit and len(found) < asked.limit and room > 0:
                    match = _with_context(scratch, Reference(handle, number), hit, asked.context)
                    room -= _bytes(match)
                    if room >= 0 or not found:
                        found.append(match)
        except TooLate:
            problems.append(f"stopped after {LIMIT_SECONDS:.0f} s in {handle}; name fewer handles")
            break
        except ScratchError as error:
            if asked.handles:
                raise
            problems.append(str(error))
    return Matches(tuple(found), total, tried, "; ".join(problems))


def _hit(seeker: Seeker, pattern: Pattern, line: str) -> tuple[str, str] | None:
    """The field and the snippet of the first value that matches, else of the line itself."""
    values = list(_values(decode(line)))
    together = "\n".join(text for _, text in values)
    # One try on all values is much cheaper than one a value, and most lines miss.
    if len(together) > PIECE_CHARACTERS or seeker.span(pattern, together):
        for field, text in values:
            if span := seeker.span(pattern, text):
                return field, _snippet(text, *span)
    span = seeker.span(pattern, line)
    return ("", _snippet(line, *span)) if span else None


def _values(value: Json, field: str = "") -> Iterator[tuple[str, str]]:
    """Every text, number and truth in a row, with the keys that lead to it."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from _values(inner, f"{field}.{key}" if field else key)
        case list():
            for inner in value:
                yield from _values(inner, field)
        case str():
            yield field, value
        case None:
            return
        case _:
            yield field, compact(value)


def _snippet(text: str, start: int, stop: int) -> str:
    """At most SNIPPET_CHARACTERS of *text*, the match in the middle, cuts marked."""
    spare = max(SNIPPET_CHARACTERS - (stop - start), 0)
    first = max(min(start - spare // 2, len(text) - SNIPPET_CHARACTERS), 0)
    last = min(first + SNIPPET_CHARACTERS, len(text))
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


def _with_context(
    scratch: Scratch, reference: Reference, hit: tuple[str, str], context: int
) -> Match:
    handle, number = reference.handle, reference.line
    last = scratch.stored(handle).lines if context else 0
    around = [
        (Reference(handle, n), _snippet(scratch.line(handle, n), 0, 0))
        for n in range(max(number - context, 1), min(number + context, last) + 1)
        if n != number
    ]
    before = tuple(item for item in around if item[0].line < number)
    return Match(reference, *hit, before, tuple(around[len(before) :]))


def _bytes(match: Match) -> int:
    texts = (match.field, match.text, *(text for _, text in (*match.before, *match.after)))
    return sum(len(text.encode("utf-8", "replace")) + 12 for text in texts)

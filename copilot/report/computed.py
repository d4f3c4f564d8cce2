"""What a query over a stored result may be cited for: figures, never words of its own.

A query can write any text (`select 'disk full'`), so its rows are nobody's line. Each word of a
quote must stand in the result it was computed from, and a figure must not come from the question.
"""

import re

from copilot.scratch.entries import Stored
from copilot.scratch.store import Scratch
from copilot.values import compact, parse_reference, text_at

COMPUTES = frozenset({"query_scratch"})
"""Tools whose rows are computed."""
TOKEN = re.compile(r"[^\W_]+")
ESCAPE = re.compile(r"\\[nrtbf\"/\\]")
POSITIONS = re.compile(r"(?i)\b(?:by|limit|offset)\s+\d+(?:\s*,\s*\d+)*")
"""Figures of a query that choose columns and rows, and cannot come out of it."""
AGGREGATES = frozenset({"count", "min", "max", "sum", "avg"})


def base_of(handle: str, scratch: Scratch) -> Stored:
    """The result that *handle* was computed from in the end; itself when it is no query.

    Raises ScratchError when there is none.
    """
    stored = scratch.stored(handle)
    while stored.tool in COMPUTES:
        asked = parse_reference(text_at(dict(stored.arguments), "handle"))
        if asked is None or asked.handle == stored.handle:
            return stored
        stored = scratch.stored(asked.handle)
    return stored


def foreign(quote: str, handle: str, scratch: Scratch) -> list[str]:
    """The tokens of *quote* that the query brought along; the whole quote when it has no figure.

    Raises ScratchError when what the query was over is gone.
    """
    tokens = _tokens(quote)
    if not any(token.isdecimal() for token in tokens):
        return [repr(quote)]
    base = base_of(handle, scratch)
    if base.tool in COMPUTES:
        return sorted(tokens)
    asked = compact(dict(scratch.stored(handle).arguments))
    own = _tokens(POSITIONS.sub(" ", asked))
    suspects = {token for token in tokens if not token.isdecimal() or token in own} - AGGREGATES
    for line in scratch.lines(base.handle) if suspects else ():
        suspects -= _tokens(line)
        if not suspects:
            break
    return sorted(suspects)


def _tokens(text: str) -> set[str]:
    return {token.lower() for token in TOKEN.findall(ESCAPE.sub(" ", text))}

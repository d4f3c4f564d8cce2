"""Orders that are spread over several rows, of which none reads like one by itself.

Rows are read on, column by column, as the model may: one after another, with and without a blank
between them, and without what each begins with (`retry 3 failed: `), which is there to part them.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from copilot.values import Json

LONGEST_PIECE = 120
"""Characters of a row that are read on: who spreads an order writes little in each."""
CUT_OVER = 2
"""Rows over which one word of an order may be cut."""
HEAD_END = re.compile(r"[:=)>|]")
"""A sign that ends such a beginning."""

Piece = tuple[int, str]
"""The number of a row, and what one column of it says."""


def first_across(
    rows: Iterable[tuple[int, Mapping[str, str]]], is_order: Callable[[str], bool]
) -> int:
    """The number of the row with which an order begins that takes more than one; 0 without any."""
    columns: dict[str, list[Piece]] = defaultdict(list)
    for number, row in rows:
        for name, text in row.items():
            columns[name].append((number, text[:LONGEST_PIECE]))
    found = [
        _begin(pieces, reading, is_order)
        for pieces in columns.values()
        if len({text for _, text in pieces}) > 1
        for reading in (_spaced, _unspaced, _headless)
        if is_order(reading(pieces))
    ]
    return min(found, default=0)


def columns_of(row: Json, texts: Callable[[Json], Iterator[str]]) -> dict[str, str]:
    """What each column of a row says; a row without columns is one."""
    named = row if isinstance(row, dict) else {"": row}
    return {name: "\n".join(texts(value)) for name, value in named.items()}


def _begin(
    pieces: Sequence[Piece],
    reading: Callable[[Sequence[Piece]], str],
    is_order: Callable[[str], bool],
) -> int:
    """The row of the last piece with which the first order can begin."""
    whole = range(len(pieces))
    end = 1 + bisect_left(whole, True, key=lambda last: is_order(reading(pieces[: last + 1])))
    start = bisect_left(whole[:end], True, key=lambda at: not is_order(reading(pieces[at:end])))
    return pieces[max(start - 1, 0)][0]


def _spaced(pieces: Sequence[Piece]) -> str:
    return " ".join(text for _, text in pieces)


def _unspaced(pieces: Sequence[Piece]) -> str:
    """A word may be cut in the middle; where it begins, nothing of another row is before it."""
    texts = [text for _, text in pieces]
    return "\n".join("".join(texts[start : start + CUT_OVER]) for start in range(len(texts)))


def _headless(pieces: Sequence[Piece]) -> str:
    return " ".join(_tail(text) for _, text in pieces)


def _tail(text: str) -> str:
    """The last part of the text that has a letter or a digit in it."""
    parts = HEAD_END.split(text)
    return next((part.strip() for part in reversed(parts) if any(map(str.isalnum, part))), text)

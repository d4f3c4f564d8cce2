"""Columns of text without borders, for people and for `awk`. Pure."""

import unicodedata
from collections.abc import Iterator, Sequence

GAP = "  "
LEAST_LAST = 12
"""However narrow the terminal, so much of the last column is shown."""


def aligned(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """Each row as one line, its columns aligned; the last one is cut to *width* where given.

    An empty cell is a `-`, so that every line has as many words as it has columns.
    """
    filled = [[" ".join(cell.split()) or "-" for cell in row] for row in rows]
    if not filled:
        return
    widths = [max(map(cells, column)) for column in list(zip(*filled, strict=True))[:-1]]
    used = sum(widths) + len(GAP) * len(widths)
    room = None if width is None else max(width - used, LEAST_LAST)
    for row in filled:
        head = [cell + " " * (wide - cells(cell)) for cell, wide in zip(row, widths, strict=False)]
        yield GAP.join([*head, row[-1] if room is None else cut(row[-1], room)])


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def cut(text: str, room: int) -> str:
    """The text in at most *room* columns; a `…` marks a cut."""
    if cells(text) <= room:
        return text
    taken = 0
    for index, character in enumerate(text):
        taken += _cells(character)
        if taken > room - 1:
            return text[:index] + "…"
    return text


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

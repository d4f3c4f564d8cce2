"""The wedge in characters: told apart by shape, so that it reads without colour and in ASCII."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from copilot.chart.wedge import LAYERS, MARKS, Column, Wedge, short

HEIGHT = 12
"""Lines of the wedge itself."""
AXIS = 6
"""Columns that the scale takes."""
WIDEST = 4
"""Columns of one turn where there is room."""
Span = tuple[str, str]
"""Some text, and what it shows: a layer's name, `axis`, `ceiling`, `mark`, `title` or nothing."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters to draw with."""

    layers: str
    """One for each of `LAYERS`."""
    ceiling: str
    across: str
    up: str
    corner: str

    @property
    def all(self) -> str:
        """Every one of them."""
        return f"{self.layers}{self.ceiling}{self.across}{self.up}{self.corner}"


UNICODE = Signs("░▒▓█╳", "┄", "─", "│", "└")
ASCII = Signs(".:+#o", "-", "_", "|", "|")


def draw(wedge: Wedge, width: int, signs: Signs) -> Iterator[list[Span]]:
    """The lines of the chart, none wider than *width* columns."""
    yield [(wedge.title[:width], "title")]
    if not wedge.columns:
        yield [("no request was answered yet", "")]
        return
    room = max(1, width - AXIS - 1)
    columns = fitted(wedge.columns, room)
    wide = min(WIDEST, max(1, room // len(columns)))
    for line in range(HEIGHT, 0, -1):
        yield _line(wedge, columns, line, wide, signs)
    yield [(" " * AXIS + signs.corner + signs.across * (wide * len(columns)), "axis")]
    if wedge.marks:
        marks = "".join(column.marks[-1:].ljust(wide) for column in columns)
        yield [("marks".rjust(AXIS) + " ", "axis"), (marks.rstrip(), "mark")]
    yield [("turn".rjust(AXIS) + " ", "axis"), (_turns(columns, wide), "axis")]
    yield from _legend(wedge, width, signs)


def fitted(columns: Sequence[Column], room: int) -> list[Column]:
    """At most *room* columns: neighbours become their largest, with the marks of all of them."""
    share = math.ceil(len(columns) / room)
    groups = [columns[start : start + share] for start in range(0, len(columns), share)]
    return [
        replace(
            max(group, key=lambda column: column.total),
            turn=group[0].turn,
            marks="".join(mark for mark in MARKS if any(mark in one.marks for one in group)),
        )
        for group in groups
    ]


def _line(
    wedge: Wedge, columns: Sequence[Column], line: int, wide: int, signs: Signs
) -> list[Span]:
    """One line of the wedge, counted from 1 at the bottom."""
    step = wedge.top / HEIGHT
    ceilings = {max(1, math.ceil(one.tokens / step)): one.tokens for one in wedge.drawn}
    labels = {HEIGHT: wedge.top, HEIGHT // 2: wedge.top // 2} | ceilings
    label = short(labels[line]) if line in labels else ""
    empty = (signs.ceiling, "ceiling") if line in ceilings else (" ", "")
    cells = [_cell(column, (line - 0.5) * step, signs) or empty for column in columns]
    spans = [(label.rjust(AXIS - 1) + " " + signs.up, "axis")]
    for text, shows in cells:
        if spans[-1][1] == shows:
            spans[-1] = (spans[-1][0] + text * wide, shows)
        else:
            spans.append((text * wide, shows))
    return spans


def _cell(column: Column, height: float, signs: Signs) -> Span | None:
    """The layer of that column at a height in tokens; None above it."""
    for number, name in enumerate(LAYERS):
        if height < sum(column.tokens[: number + 1]):
            return signs.layers[number], name
    return None


def _turns(columns: Sequence[Column], wide: int) -> str:
    """The numbers of the first and the last turn, and of some between where there is room."""
    text = ""
    for number, column in enumerate(columns):
        place, name = number * wide, str(column.turn)
        is_due = number % max(1, len(columns) // 4) == 0
        if is_due and place + len(name) <= len(columns) * wide and (not text or place > len(text)):
            text = text.ljust(place) + name
    return text


def _legend(wedge: Wedge, width: int, signs: Signs) -> Iterator[list[Span]]:
    """What each sign means, as many to a line as fit."""
    entries: list[tuple[Span, str]] = [
        ((sign, name), name) for sign, name in zip(signs.layers, LAYERS, strict=True)
    ]
    entries += [((mark, "mark"), MARKS[mark]) for mark in wedge.marks]
    for one in wedge.ceilings:
        far = "" if one in wedge.drawn else ", far above"
        entries.append(((signs.ceiling, "ceiling"), f"{one.name} {one.tokens:,}{far}"))
    guessed = ", guessed" if wedge.is_guess else ""
    entries.append((("^", "axis"), f"peak {wedge.peak:,} tokens{guessed}"))
    line: list[Span] = []
    used = 0
    for sign, text in entries:
        if line and used + len(text) + 4 > width:
            yield line
            line, used = [], 0
        line += [("  " if line else "", ""), sign, (f" {text}", "")]
        used += len(text) + 4
    yield line

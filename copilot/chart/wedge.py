"""The stacked wedge: what each turn's request carried, in five layers, with the levers' marks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from copilot.context.usage_rows import Row

LAYERS = ("system", "tools", "alert and state", "conversation", "tool results")
"""From the bottom up: what never changes first, what the levers are for last."""
LAYER_OF: Mapping[str, str] = {
    "system": "system",
    "tools": "tools",
    "alert": "alert and state",
    "state": "alert and state",
    "conversation": "conversation",
    "summary": "conversation",
}
"""Every other source is a tool."""
MARKS: Mapping[str, str] = {
    "C": "results cleared",
    "S": "old turns summarised",
    "x": "answer cut off, paid for and not used",
}
GUESS_PER_BYTE = 0.4
"""Tokens a byte where no service counted any."""


@dataclass(frozen=True, slots=True)
class Column:
    """One request. `tokens` has a number for each of `LAYERS`."""

    turn: int
    tokens: tuple[int, ...]
    marks: str = ""
    """The keys of `MARKS` that apply, at most one of each."""

    @property
    def total(self) -> int:
        """All that the request carried."""
        return sum(self.tokens)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A line that the wedge should stay below."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Wedge:
    """What is to be drawn. Both ways of drawing show exactly this."""

    title: str
    columns: tuple[Column, ...]
    ceilings: tuple[Ceiling, ...] = ()
    is_guess: bool = False
    """True when no service counted the tokens."""

    @property
    def peak(self) -> int:
        """The most that one request carried."""
        return max((column.total for column in self.columns), default=0)

    @property
    def drawn(self) -> tuple[Ceiling, ...]:
        """The ceilings that are near enough to be drawn to scale."""
        return tuple(one for one in self.ceilings if one.tokens <= 2 * self.peak)

    @property
    def top(self) -> int:
        """Where the scale ends."""
        return max([self.peak, *(one.tokens for one in self.drawn), 1])

    @property
    def marks(self) -> str:
        """The marks that occur."""
        return "".join(mark for mark in MARKS if any(mark in one.marks for one in self.columns))


def wedge(rows: Iterable[Row], title: str, ceilings: Sequence[Ceiling] = ()) -> Wedge:
    """The wedge of these rows. Requests for a summary have no column; the mark stands for them."""
    shown = [row for row in rows if row.kind in ("turn", "cut")]
    is_guess = bool(shown) and not any(row.carried for row in shown)
    columns = tuple(map(_column, shown))
    return Wedge(title, columns, tuple(ceilings), is_guess)


def short(tokens: int) -> str:
    """`950`, `14k`, `1.2M`: at most five characters."""
    if tokens < 1000:
        return str(tokens)
    if tokens < 10_000:
        return f"{tokens / 1000:.1f}k".replace(".0k", "k")
    if tokens < 1_000_000:
        return f"{tokens / 1000:.0f}k"
    return f"{tokens / 1_000_000:.1f}M".replace(".0M", "M")


def _column(row: Row) -> Column:
    sizes = dict.fromkeys(LAYERS, 0)
    for source, size in row.bytes.items():
        sizes[LAYER_OF.get(source, "tool results")] += size
    levers = {act.lever for act in row.acts if not act.failed}
    marks = {"C": "clearing" in levers, "S": "compaction" in levers, "x": row.kind == "cut"}
    return Column(
        row.turn,
        _tokens(list(sizes.values()), row.per_byte or GUESS_PER_BYTE),
        "".join(mark for mark, applies in marks.items() if applies),
    )


def _tokens(sizes: Sequence[int], per_byte: float) -> tuple[int, ...]:
    """The sizes in tokens, rounded so that they add up to the rounded whole."""
    edges = [0]
    for size in sizes:
        edges.append(edges[-1] + size)
    return tuple(round(end * per_byte) - round(begin * per_byte) for begin, end in pairwise(edges))

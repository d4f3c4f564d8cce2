"""The wedge as one SVG file: no script, nothing from elsewhere, for light and dark pages."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from copilot.chart.wedge import LAYERS, MARKS, Column, Wedge, short
from copilot.safe_text import safe_text

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 56, 104
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
STEPS = 4
"""Lines of the scale."""
LEGEND_COLUMNS = 3
WIDEST_BAR = 36
DASHES = ("6 4", "2 3", "12 3 2 3")
"""One for each ceiling: clearing, compaction, window."""
NO_XML = dict.fromkeys((0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}")
STYLE = """
svg { --paper: #fff; --ink: #1f2328; --faint: #d0d7de; --stop: #b3261e;
 --l0: #6e7781; --l1: #a9b3bd; --l2: #e69f00; --l3: #0072b2; --l4: #009e73; }
@media (prefers-color-scheme: dark) {
 svg { --paper: #0d1117; --ink: #e6edf3; --faint: #30363d; --stop: #ff8a80;
 --l0: #8b949e; --l1: #57606a; --l2: #f0b429; --l3: #58a6ff; --l4: #3fc796; } }
text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.title { font-size: 15px; font-weight: 600; }
.paper { fill: var(--paper); } .grid { stroke: var(--faint); }
.stop { stroke: var(--stop); stroke-width: 1.5; }
.mark { font-weight: 700; fill: var(--stop); text-anchor: middle;
 paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.l0 { fill: var(--l0); } .l1 { fill: var(--l1); } .l2 { fill: var(--l2); }
.l3 { fill: var(--l3); } .l4 { fill: var(--l4); }
"""


def svg(wedge: Wedge) -> str:
    """The whole file as text."""
    return "\n".join(_parts(wedge)) + "\n"


def _parts(wedge: Wedge) -> Iterator[str]:
    title = _text(wedge.title)
    guessed = ", guessed" if wedge.is_guess else ""
    said = f"{len(wedge.columns)} requests, peak {wedge.peak:,} tokens{guessed}"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title desc">'
    )
    yield f'<title id="title">{title}</title>'
    yield f'<desc id="desc">Tokens that each request carried, by source: {said}.</desc>'
    yield f"<style>{STYLE}</style>"
    yield f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>'
    yield f'<text class="title" x="{LEFT}" y="22">{title}</text>'
    yield f'<text x="{LEFT}" y="40">tokens carried by each request; {said}</text>'
    yield from _scale(wedge)
    for number, column in enumerate(wedge.columns):
        yield from _bar(wedge, number, column)
    for ceiling, dashes in zip(wedge.ceilings, DASHES, strict=False):
        if ceiling in wedge.drawn:
            y = _y(wedge, ceiling.tokens)
            yield _stop(LEFT, WIDTH - RIGHT, y, dashes)
    yield from _legend(wedge)
    yield "</svg>"


def _scale(wedge: Wedge) -> Iterator[str]:
    for step in range(STEPS + 1):
        tokens = wedge.top * step // STEPS
        y = _y(wedge, tokens)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{short(tokens)}</text>'
    shown = max(1, len(wedge.columns) // 10)
    for number, column in enumerate(wedge.columns):
        if number % shown == 0:
            x = LEFT + (number + 0.5) * _pitch(wedge)
            y = HEIGHT - BOTTOM + 16
            yield f'<text class="middle" x="{x:.1f}" y="{y}">{column.turn}</text>'


def _bar(wedge: Wedge, number: int, column: Column) -> Iterator[str]:
    """One request from the bottom up; its numbers show when one points at it."""
    pitch = _pitch(wedge)
    wide = pitch * 0.86
    x = LEFT + number * pitch + (pitch - wide) / 2
    named = ", ".join(f"{name} {n:,}" for name, n in zip(LAYERS, column.tokens, strict=True))
    done = "".join(f"; {MARKS[mark]}" for mark in column.marks)
    yield f"<g><title>turn {column.turn}: {column.total:,} tokens; {named}{done}</title>"
    below = 0
    for layer, tokens in enumerate(column.tokens):
        if tokens:
            top, bottom = _y(wedge, below + tokens), _y(wedge, below)
            yield (
                f'<rect class="l{layer}" x="{x:.1f}" y="{top}" '
                f'width="{wide:.1f}" height="{bottom - top:.1f}"/>'
            )
        below += tokens
    if column.marks:
        y = _y(wedge, column.total) - 4
        yield f'<text class="mark" x="{x + wide / 2:.1f}" y="{y:.1f}">{column.marks}</text>'
    yield "</g>"


def _stop(begin: int, end: int, y: float, dashes: str) -> str:
    """A ceiling's line, in its own dashes."""
    return (
        f'<line class="stop" x1="{begin}" x2="{end}" y1="{y}" y2="{y}" '
        f'stroke-dasharray="{dashes}"/>'
    )


def _legend(wedge: Wedge) -> Iterator[str]:
    """Layers, marks and ceilings below the wedge, in columns."""
    entries = [
        (f'<rect class="l{n}" width="11" height="11"/>', name) for n, name in enumerate(LAYERS)
    ]
    entries += [(f'<text class="mark" x="6" y="10">{m}</text>', MARKS[m]) for m in wedge.marks]
    for one, dashes in zip(wedge.ceilings, DASHES, strict=False):
        far = "" if one in wedge.drawn else ", far above"
        entries.append((_stop(-6, 14, 6, dashes), f"{one.name} {one.tokens:,}{far}"))
    for number, (sign, name) in enumerate(entries):
        x = LEFT + number % LEGEND_COLUMNS * (PLOT_WIDTH / LEGEND_COLUMNS)
        y = HEIGHT - BOTTOM + 32 + number // LEGEND_COLUMNS * 18
        yield f'<g transform="translate({x:.1f} {y})">{sign}'
        yield f'<text x="18" y="10">{_text(name)}</text></g>'


def _pitch(wedge: Wedge) -> float:
    return min(WIDEST_BAR, PLOT_WIDTH / max(1, len(wedge.columns)))


def _y(wedge: Wedge, tokens: int) -> float:
    return round(TOP + PLOT_HEIGHT * (1 - tokens / wedge.top), 1)


def _text(text: str) -> str:
    """The text for XML: what XML has no place for is spelled out, what it would obey escaped."""
    return escape(safe_text(text, limit=200).translate(NO_XML))

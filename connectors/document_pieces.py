"""A document cut into pieces that each stand under one heading.

A piece is whole paragraphs where possible, whole lines where not, and part of a line only when
that line alone is over the limit. Every line that is not blank is in a piece, in order, and the
line number of a piece is the one that an editor shows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from copilot import strict_yaml
from copilot.errors import ConfigError

Lines: TypeAlias = list[tuple[int, str]]
"""Numbered lines, from 1."""

LIMIT = 1500
"""Characters of a piece."""
FRONT_MATTER_LINES = 200
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class Piece:
    """The headings that lead to a stretch of a document, its first line from 1, and its text."""

    headings: tuple[str, ...]
    line: int
    text: str


def markdown_pieces(text: str) -> list[Piece]:
    """The pieces of a Markdown text, in order. A `#` line inside a code fence is no heading.

    The `name` of a YAML front matter (the Agent Skills form) stands above all headings.
    """
    lines = list(enumerate(text.split("\n"), 1))
    end = _front_matter_end(lines)
    name = _name(lines[1 : end - 1])
    pieces = list(_cut(name, lines[:end]))
    for headings, section in _sections(lines[end:]):
        pieces += _cut((*name, *headings), section)
    return pieces


def plain_pieces(text: str) -> list[Piece]:
    """The pieces of a text without headings, in order."""
    return list(_cut((), list(enumerate(text.split("\n"), 1))))


def _front_matter_end(lines: Lines) -> int:
    """How many lines the front matter has, with both its `---` lines; 0 when there is none."""
    if lines[0][1].rstrip() != "---":
        return 0
    ends = (number for number, line in lines[1:FRONT_MATTER_LINES] if line.rstrip() == "---")
    return next(ends, 0)


def _name(front_matter: Lines) -> tuple[str, ...]:
    text = "\n".join(line for _, line in front_matter)
    try:
        values = strict_yaml.parse(text, "front matter").data
    except ConfigError:
        return ()  # a broken front matter is text like any other
    name = values.get("name") if isinstance(values, dict) else None
    return (name,) if isinstance(name, str) else ()


def _sections(lines: Lines) -> Iterator[tuple[tuple[str, ...], Lines]]:
    """The lines from one heading to the next, under the headings that lead there.

    A heading with nothing under it but a deeper heading stays with that one.
    """
    path: dict[int, str] = {}
    section: Lines = []
    has_text = False
    fence = ""
    for number, line in lines:
        if mark := FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence else HEADING.fullmatch(line)
        if heading:
            level = len(heading[1])
            if has_text or level <= max(path, default=0):
                yield tuple(path.values()), section
                section = []
                has_text = False
            path = {above: title for above, title in path.items() if above < level}
            path[level] = heading[2].rstrip(" \t#") or heading[2].strip()
        elif line.strip():
            has_text = True
        section.append((number, line))
    yield tuple(path.values()), section


def _cut(headings: tuple[str, ...], section: Lines) -> Iterator[Piece]:
    lines = [
        (number, line[start : start + LIMIT])
        for number, line in section
        for start in range(0, max(len(line), 1), LIMIT)
    ]
    end = 0
    while end < len(lines):
        start, end = end, _end(lines, end)
        block = lines[start:end]
        while block and not block[-1][1].strip():
            block.pop()
        first = next((index for index, (_, line) in enumerate(block) if line.strip()), None)
        if first is not None:
            yield Piece(headings, block[first][0], "\n".join(line for _, line in block[first:]))


def _end(lines: Lines, start: int) -> int:
    """Where the piece that starts at *start* ends: after the last paragraph that fits."""
    size = 0
    border = 0
    for index in range(start, len(lines)):
        line = lines[index][1]
        if size + len(line) > LIMIT:
            return border or index
        size += len(line) + 1
        if not line.strip() and size > LIMIT // 3:
            border = index + 1
    return len(lines)

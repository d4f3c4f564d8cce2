"""A slice of a stored result, bounded in lines, bytes and columns at once.

A file is hashed before its first line is believed. Lines are found by their offsets, so that a
slice of a large file costs no more memory than its longest line.
"""

import hashlib
import os
from array import array
from dataclasses import dataclass

from copilot.errors import ScratchError

BLOCK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Span:
    """What to read: *count* lines from *first*, of each the columns start <= c < stop.

    Lines count from 1. Columns are characters and count from 0; no stop means to the line's end.
    """

    first: int = 1
    count: int = 20
    start: int = 0
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line or a part of one. `length` is the whole line's, `start` the column of `text`."""

    number: int
    text: str
    start: int
    length: int

    @property
    def is_cut(self) -> bool:
        """True when the line goes on after this part."""
        return self.start + len(self.text) < self.length


@dataclass(frozen=True, slots=True)
class Slice:
    """Some lines of a result. `next_line` is None at the end; `next_column` only inside a line."""

    handle: str
    lines: tuple[Line, ...]
    total_lines: int
    next_line: int | None
    next_column: int | None


class Content:
    """Where each line of a verified file begins. Holds no descriptor and no text."""

    def __init__(self, offsets: "array[int]", signature: tuple[int, ...]) -> None:
        self._offsets = offsets
        self.signature = signature
        self.lines = len(offsets) - 1

    def line(self, descriptor: int, number: int) -> bytes:
        """That line without its end. The number must be one that exists."""
        start, stop = self._offsets[number - 1], self._offsets[number]
        return os.pread(descriptor, stop - start - 1, start)


def signature(descriptor: int) -> tuple[int, ...]:
    """What changes when somebody writes to the file."""
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def verified(descriptor: int, sha256: str) -> Content | None:
    """The content of a file that has this hash; None when it was cut or changed."""
    marks = signature(descriptor)
    hashed = hashlib.sha256()
    offsets = array("Q", [0])
    position = 0
    while block := os.pread(descriptor, BLOCK_BYTES, position):
        hashed.update(block)
        found = block.find(b"\n")
        while found >= 0:
            offsets.append(position + found + 1)
            found = block.find(b"\n", found + 1)
        position += len(block)
    return Content(offsets, marks) if hashed.hexdigest() == sha256 else None


def slice_of(
    handle: str, content: Content, descriptor: int, span: Span, budget_bytes: int
) -> Slice:
    """The lines of *span* as far as the budget goes, and where to go on.

    A line that does not fit is left for the next slice, unless it is the first: that one is cut.
    Raises ScratchError saying which lines there are.
    """
    _check(handle, content, span)
    lines: list[Line] = []
    room = max(budget_bytes, 4)
    for number in range(span.first, min(span.first + span.count, content.lines + 1)):
        whole = content.line(descriptor, number).decode()
        wanted = whole[span.start : span.stop]
        text = _fitting(wanted, room)
        if lines and len(text) < len(wanted):
            return Slice(handle, tuple(lines), content.lines, number, None)
        lines.append(Line(number, text, min(span.start, len(whole)), len(whole)))
        room -= len(text.encode())
        if len(text) < len(wanted) or (span.count == 1 and lines[-1].is_cut):
            next_column = lines[-1].start + len(text)
            return Slice(handle, tuple(lines), content.lines, number, next_column)
    following = span.first + len(lines)
    more = following if following <= content.lines else None
    return Slice(handle, tuple(lines), content.lines, more, None)


def _check(handle: str, content: Content, span: Span) -> None:
    if span.count < 1:
        raise ScratchError(f"asked for {span.count} lines of {handle}; ask for at least 1")
    if span.start < 0 or (span.stop is not None and span.stop <= span.start):
        raise ScratchError(
            f"columns {span.start} to {span.stop} of {handle} are no range; columns count from 0 "
            "and the first must be smaller than the second"
        )
    if not content.lines and span.first == 1:
        return
    if not 1 <= span.first <= content.lines:
        raise ScratchError(f"{no_line(handle, span.first, content.lines)}")


def no_line(handle: str, number: int, lines: int) -> str:
    """Say that a result has no such line, and which it has."""
    has = f"its lines are 1 to {lines}" if lines else "it is empty: nothing was found"
    return f"{handle} has no line {number}; {has}"


def _fitting(text: str, room: int) -> str:
    """The longest beginning of *text* of at most *room* bytes."""
    encoded = text[: room + 1].encode()
    if len(encoded) <= room:
        return text[: room + 1]
    return encoded[:room].decode("utf-8", "ignore")

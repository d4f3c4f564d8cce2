"""Bytes into numbered lines of text.

Only the newline byte ends a line, so that numbers agree with `grep -n` and `sed -n`; a form feed,
U+2028 or a lone carriage return do not. The carriage return of a CRLF is dropped.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from connectors.log_files.opening import BLOCK, Bytes
from connectors.log_files.record import MAX_MESSAGE, Flags

BOM = b"\xef\xbb\xbf"
ESCAPED = re.compile("[\udc80-\udcff]")
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""Colours, cursor moves and window titles that programs write into their logs."""


class Line(NamedTuple):
    """One physical line, or a part of one that is too long. `rest` marks the later parts."""

    number: int
    text: str
    rest: bool = False


def read_lines(stream: Bytes, flags: Flags) -> Iterator[Line]:
    """Every physical line of *stream* in order, with bounded space however long a line is."""
    number, carry, rest = 1, b"", False
    while block := stream.read(BLOCK):
        if number == 1 and not carry and not rest and block.startswith(BOM):
            block = block[len(BOM) :]
            flags["byte_order_mark"] += 1
        *whole, carry = (carry + block).split(b"\n")
        for raw in whole:
            yield from _parts(raw, number, rest=rest, flags=flags)
            number += 1
            rest = False
        while len(carry) > MAX_MESSAGE:
            cut = _character_end(carry)
            yield from _parts(carry[:cut], number, rest=rest, flags=flags)
            carry, rest = carry[cut:], True
    if carry:
        yield from _parts(carry, number, rest=rest, flags=flags)


def _parts(raw: bytes, number: int, *, rest: bool, flags: Flags) -> Iterator[Line]:
    while len(raw) > MAX_MESSAGE:
        cut = _character_end(raw)
        yield Line(number, decoded(raw[:cut], flags), rest)
        flags["cut_line"] += 1
        raw, rest = raw[cut:], True
    if rest:
        flags["cut_line"] += 1
    yield Line(number, decoded(raw.removesuffix(b"\r"), flags), rest)


def _character_end(raw: bytes) -> int:
    """Where to cut at most MAX_MESSAGE bytes without splitting a UTF-8 character."""
    cut = MAX_MESSAGE
    while cut > MAX_MESSAGE - 4 and raw[cut] & 0xC0 == 0x80:
        cut -= 1
    return cut


def decoded(raw: bytes, flags: Flags) -> str:
    """The text of *raw*. A byte that is not UTF-8 reads as its Latin-1 letter, and is counted.

    NUL becomes its visible picture, one character for one, so that columns still agree.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        flags["invalid_utf8"] += 1
        text = ESCAPED.sub(_latin, raw.decode(errors="surrogateescape"))
    if "\x00" in text:
        flags["nul"] += 1
        text = text.replace("\x00", "␀")
    if "\r" in text:
        flags["carriage_return"] += 1
    if "\x1b" in text:
        flags["ansi"] += 1
    return text


def _latin(match: re.Match[str]) -> str:
    byte = ord(match[0]) - 0xDC00
    return chr(byte) if byte >= 0xA0 else "\ufffd"

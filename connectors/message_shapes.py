"""What a message looks like at sight: messages of one shape have the same words once masked.

Most messages of a log differ in digits and hashes alone. Telling their shape is a few steps in C;
masking takes each word apart, and so it is done once for each shape.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

Shape: TypeAlias = Callable[[str], bytes]
"""Gives a text in UTF-8 that has the same words once masked, the same text for many messages."""

DIGITS = re.compile(r"\d+")
ANY_DIGIT = re.compile(r"\\d|0-9|\{[\d,]*\}|0\[xX\]")
"""The parts of a mask that hold digits and yet take one digit like another, but for `0x`."""
ONES = bytes.maketrans(b"0123456789", b"1" * 10)
KINDS = bytes(ord("h" if byte in b"0123456789abcdefABCDEF" else ".") for byte in range(256))
LONG = b"h" * 12
"""A dozen hexadecimal digits, in letters of `KINDS`; a shorter run is masked by what it ends in."""

_HEX = rb"[0-9a-fA-F]"
_BESIDE = rb"[0-9A-Za-z\x80-\xff]"
"""What would make a run of hexadecimal digits a part of a longer word."""
UUID_HEAD = rb"%b{8}-%b{4}-%b{4}-%b{4}-" % ((_HEX,) * 4)
UUID = re.compile(rb"(?<!%b)(?=[a-fA-F-]*\d)%b%b{12}(?!%b)" % (_BESIDE, UUID_HEAD, _HEX, _BESIDE))
"""With a digit: words without one are not masked."""
HASH = re.compile(
    rb"(?<!%b)(?<!%b)(?=[a-fA-F]*\d)(?=\d*[a-fA-F]\d*[a-fA-F])%b{12,}(?!%b)"
    % (_BESIDE, UUID_HEAD, _HEX, _BESIDE)
)
"""Two letters at least: with one it may be a number (`1e5`) or a size (`1.5d`) beside others."""
HEAD = 24
"""Bytes of a UUID before its last dozen."""
HYPHEN = ord("-")
ONE_UUID = b"11111111-1111-1111-1111-11111111111a"
ONE_HASH = b"1a1a1a1a1a1a"


def shape_for(patterns: Iterable[str], *, usual: bool) -> Shape:
    """How a message is looked at whose masks have *patterns*; *usual*: they are the given ones."""
    if any(DIGITS.search(ANY_DIGIT.sub("", pattern)) for pattern in patterns):
        return _as_it_is
    return _without_hashes if usual else _without_digits


def _as_it_is(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _without_digits(text: str) -> bytes:
    """*text* with its digits alike, but where one may be the `0` of a number in hex."""
    shape = text.encode("utf-8", "surrogatepass")
    if (b"x" in shape and b"0x" in shape) or (b"X" in shape and b"0X" in shape):
        return shape
    return shape.translate(ONES)


def _without_hashes(text: str) -> bytes:
    """*text* with its digits alike, and its hashes and UUIDs."""
    shape = text.encode("utf-8", "surrogatepass")
    if (b"x" in shape and b"0x" in shape) or (b"X" in shape and b"0X" in shape):
        return shape
    kinds = shape.translate(KINDS)
    shape = shape.translate(ONES)
    at = kinds.find(LONG)
    return shape if at < 0 else b"".join(_parts(shape, kinds, at))


def _parts(shape: bytes, kinds: bytes, at: int) -> list[bytes]:
    """The parts of *shape*, each hash the same one; the first dozen of *kinds* is at *at*."""
    parts: list[bytes] = []
    end = 0
    while at >= 0:
        found, one = HASH.match(shape, at), ONE_HASH
        if found is None and at >= HEAD and shape[at - 1] == HYPHEN:
            found, one = UUID.match(shape, at - HEAD), ONE_UUID
        if found is None:
            at = kinds.find(LONG, at + len(LONG))
        else:
            parts += (shape[end : found.start()], one)
            end = found.end()
            at = kinds.find(LONG, end)
    parts.append(shape[end:])
    return parts

r"""Untrusted text made safe to print: nothing in it can move a cursor or reorder or hide a word.

What would act instead of being seen becomes a visible escape, such as `\x1b` or `\u202e`. A
backslash that was already there stays as it is, so that escaped text can pass again unchanged.
Markup is not looked at: whoever renders text with markup must switch that off itself.
"""

import re

UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1 (NEL among them)
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # seen as nothing
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero-width, line separators, bidi
    "\ud800-\udfff"  # lone surrogates cannot be encoded
    "\ufe00-\ufe0d\ufeff\ufff0-\ufffb"  # U+FE0E and U+FE0F choose how an emoji looks: they stay
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and variation selectors: whole messages hide in them
    "]"
)
CUT = "…"


def safe_text(text: str, *, limit: int | None = None) -> str:
    """The text with every control, bidi and invisible character spelled out.

    At most *limit* characters come back, the last one a `…` when something was cut.
    """
    if limit is not None:
        text = text[: max(limit, 0) + 1]  # an escape is never shorter than what it stands for
    safe = UNSAFE.sub(_visible, text)
    if limit is None or len(safe) <= limit:
        return safe
    return safe[: limit - 1] + CUT if limit > 0 else ""


def one_line(text: str, limit: int | None = None) -> str:
    """The text as `safe_text` gives it, on one line: each run of white space is one space."""
    return safe_text(" ".join(safe_text(text).split()), limit=limit)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

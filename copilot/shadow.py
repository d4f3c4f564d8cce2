r"""A shadow of a text: the text without what shows nothing, such as colour codes.

Patterns are matched on the shadow, so that nothing unseen can hide a word from them; what they
find is mapped back to the text itself. Each piece that is *opaque* to the caller becomes one NUL,
a character that a shadow holds for nothing else. No line break is ever taken out.

What is unseen depends on who reads: a terminal takes `ESC P` for one command, a file viewer shows
the P, a browser reads `%3A` as a colon, a reader of JSON `\u003d` as an equals sign. So there are
three views, and a secret must be visible in none.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from copilot.safe_text import UNSAFE

SPELLED = ("\\x1b[", "\\x1B[", "\\u001b[", "\\u001B[", "\\033[", "\\e[", "#033[", "^[[")
"""How logs and JSON spell the start of a colour code."""
CODE = rf"(?:\x1b\[|\x9b|{'|'.join(re.escape(start) for start in SPELLED)})[0-?]*[ -/]*[@-~]"
TITLE_OR_LINK = r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
CHARACTERS = re.compile(rf"(?![\r\x85\u2028\u2029]){UNSAFE.pattern}")
"""The view of a file viewer: only characters that are invisible by themselves are unseen."""
CODES = re.compile(rf"{CODE}|{TITLE_OR_LINK}|\x1b[@-Z\\-_]|{CHARACTERS.pattern}")
"""The view of a terminal: whole commands to it are unseen."""
ASCII = "[2-6][0-9A-Fa-f]|7[0-9A-Ea-e]"
ESCAPED = re.compile(rf"%(?:{ASCII}|0[Aa])|(?<!\\)\\{{1,16}}(?:u00(?:{ASCII})|/)")
"""As URLs write characters, and as writers of JSON do without need: `=`, `'` and `&` are escapes to
Gson, `/` to PHP. What was put into JSON twice has more backslashes."""
DECODED = re.compile(f"{CODES.pattern}|{ESCAPED.pattern}")
"""The view of who decodes: as a terminal, and each escape is the character it stands for."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """The seen text, and where each stretch of it begins in the shadow and in the original."""

    text: str
    starts: tuple[int, ...] = (0,)
    origins: tuple[int, ...] = (0,)
    widths: tuple[int, ...] = (0,)
    """How long in the original what one character stands for is; 0 where each is itself."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where that part of the shadow, which is not empty, stands in the original."""
        first, last = (bisect_right(self.starts, place) - 1 for place in (start, end - 1))
        begins = self.origins[first] + start - self.starts[first]
        return begins, self.origins[last] + (self.widths[last] or end - self.starts[last])


def is_plain(text: str, opaque: re.Pattern[str]) -> bool:
    """Whether *text* is its own shadow in every view: all of it is seen, and as it is."""
    return not (_holds_codes(text) or _holds_escapes(text) or opaque.search(text))


def views_of(text: str) -> Iterator[re.Pattern[str]]:
    """The views in which *text* looks different; the terminal's is always one."""
    yield CODES
    if _holds_codes(text):
        yield CHARACTERS
    if _holds_escapes(text):
        yield DECODED


def shadow_of(text: str, opaque: re.Pattern[str], view: re.Pattern[str] = CODES) -> Shadow:
    """The shadow of *text* in that view, where each match of *opaque* is one NUL."""
    hidden = [(*match.span(), "\0") for match in opaque.finditer(text)]
    if view is DECODED or _holds_codes(text):
        hidden += [(*match.span(), _stands_for(match.group())) for match in view.finditer(text)]
        hidden.sort()
    if not hidden:
        return Shadow(text)
    seen: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    widths: list[int] = []
    length = done = 0
    for start, end, filler in [*hidden, (len(text), len(text), "")]:
        for part, origin, width in ((text[done:start], done, 0), (filler, start, end - start)):
            if part:
                seen.append(part)
                starts.append(length)
                origins.append(origin)
                widths.append(width)
                length += len(part)
        done = max(done, end)
    if not seen:
        return Shadow("")
    return Shadow("".join(seen), tuple(starts), tuple(origins), tuple(widths))


def _holds_codes(text: str) -> bool:
    is_spelled = "[" in text and any(start in text for start in SPELLED)
    return is_spelled or bool(UNSAFE.search(text))


def _holds_escapes(text: str) -> bool:
    return ("%" in text or "\\" in text) and bool(ESCAPED.search(text))


def _stands_for(unseen: str) -> str:
    """The character that an escape is; nothing for what shows nothing."""
    if not ESCAPED.fullmatch(unseen):
        return ""
    return "/" if unseen.endswith("/") else chr(int(unseen[-2:], 16))

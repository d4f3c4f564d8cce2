"""A shadow of a text: the text without what shows nothing, such as colour codes.

Patterns are matched on the shadow, so that nothing unseen can hide a word from them; what they
find is mapped back to the text itself. Each piece that is *opaque* to the caller becomes one NUL,
a character that a shadow holds for nothing else. No line break is ever taken out.

What is unseen depends on who reads: a terminal takes `ESC P` for one command, a file viewer shows
the P. So there are two views, and a secret must be visible in neither.
"""

import re
from bisect import bisect_right
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


@dataclass(frozen=True, slots=True)
class Shadow:
    """The seen text, and where each stretch of it begins in the shadow and in the original."""

    text: str
    starts: tuple[int, ...] = (0,)
    origins: tuple[int, ...] = (0,)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where that part of the shadow, which is not empty, stands in the original."""
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, position: int) -> int:
        stretch = bisect_right(self.starts, position) - 1
        return self.origins[stretch] + position - self.starts[stretch]


def shadow_of(text: str, opaque: re.Pattern[str], view: re.Pattern[str] = CODES) -> Shadow:
    """The shadow of *text* in that view, where each match of *opaque* is one NUL."""
    hidden = [(*match.span(), "\0") for match in opaque.finditer(text)]
    if UNSAFE.search(text) or any(start in text for start in SPELLED):
        hidden += [(*match.span(), "") for match in view.finditer(text)]
        hidden.sort()
    if not hidden:
        return Shadow(text)
    seen: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = done = 0
    for start, end, filler in [*hidden, (len(text), len(text), "")]:
        for part, origin in ((text[done:start], done), (filler, start)):
            if part:
                seen.append(part)
                starts.append(length)
                origins.append(origin)
                length += len(part)
        done = max(done, end)
    return Shadow("".join(seen), tuple(starts) or (0,), tuple(origins) or (0,))

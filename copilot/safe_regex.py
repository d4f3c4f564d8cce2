"""Patterns that cannot run away: RE2 behind one small typed door.

Whatever the model or a file supplies is matched in time linear to the text. RE2 has no look-around
and no back-references; the refusal says so and how to write it instead. Matching replaces lone
surrogates, which UTF-8 cannot hold, by `?`, so that positions stay those of the text given.
"""

from collections.abc import Iterator

import re2

from copilot.errors import PatternError

LIMIT_PATTERN_BYTES = 1024
LIMIT_MEMORY_BYTES = 1 << 20
"""For one compiled pattern and its automaton. RE2 keeps up to 128 compiled ones."""
LIMIT_INSTRUCTIONS = 2000
"""A larger program makes the slow path of RE2 crawl: 2,700 took 6 s on a line of 600 KB."""

LACKS = (
    (("(?=", "(?!", "(?<=", "(?<!"), "look-around", "search for the plain text, then filter"),
    (("(?>",), "atomic groups", "write (?:…): RE2 never backtracks"),
    (("(?P=", r"\k<"), "back-references", "search for each value by itself"),
    (("(?(",), "conditionals", "write the two cases as a|b"),
    (("++", "*+", "?+", "}+"), "possessive quantifiers", "leave the last + out"),
    (("(?x", "(?#"), "comments and verbose mode", "leave them out"),
    ((r"\Z",), r"\Z", r"write \z"),
    ((r"\u", r"\U", r"\N"), "this escape", r"write \x{1F4A9} or the character itself"),
)


class Pattern:
    """A compiled pattern. Made by `compile` only."""

    def __init__(self, source: str, compiled: re2._Regexp) -> None:
        self.source = source
        self._compiled = compiled

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"

    def span(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Where the first match at or after *start* begins and ends, in characters; or None."""
        match = self._compiled.search(encodable(text), start)
        return match.span() if match else None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Every match from left to right, without overlaps."""
        return (match.span() for match in self._compiled.finditer(encodable(text)))

    def found_in(self, text: str) -> bool:
        """True when the pattern matches anywhere in *text*."""
        return self.span(text) is not None


def compile(pattern: str) -> Pattern:  # noqa: A001 - the word that every reader of `re` expects
    """The compiled *pattern*. Raises PatternError saying what RE2 lacks and what to write instead.

    `^` and `$` match at the ends of each line. Case counts unless the pattern starts with `(?i)`.
    """
    size = len(pattern.encode("utf-8", "replace"))
    if size > LIMIT_PATTERN_BYTES:
        raise PatternError(
            f"the pattern has {size} bytes, at most {LIMIT_PATTERN_BYTES} are allowed; "
            "search for a shorter, typical part"
        )
    options = re2.Options()
    options.log_errors = False
    options.max_mem = LIMIT_MEMORY_BYTES
    try:
        compiled = re2.compile(f"(?m){encodable(pattern)}", options)
    except re2.error as error:
        raise PatternError(_refusal(pattern, error)) from None
    if compiled.programsize > LIMIT_INSTRUCTIONS:
        raise PatternError(
            f"the pattern {_shown(pattern)} is too large once its repetitions are unrolled; "
            "use smaller numbers in {…}, or * and +"
        )
    return Pattern(pattern, compiled)


def encodable(text: str) -> str:
    """The text with every lone surrogate as `?`; most texts come back unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _refusal(pattern: str, error: Exception) -> str:
    """Say what RE2 did not take and, where it is a thing that RE2 lacks, the way round it."""
    reason = error.args[0].decode("utf-8", "replace") if error.args else "not a pattern"
    start = f"the pattern {_shown(pattern)} is refused ({reason})"
    if reason.startswith(("invalid repetition size", "pattern too large")):
        return f"{start}: repetitions may count to 1000 in all; use * or +, or smaller numbers"
    if reason.startswith("invalid escape sequence") and reason[-1].isdigit():
        return f"{start}: RE2 has no back-references; search for each value by itself"
    for marks, name, instead in LACKS:
        if any(mark in pattern for mark in marks):
            return f"{start}: RE2 has no {name}; {instead}"
    return f"{start}: put a backslash before a sign that is meant literally, as in \\( or \\["


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 60 else f"{pattern[:60]}…")

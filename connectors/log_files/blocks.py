"""Which lines of text belong to the event above them.

A line with its own time at its start, or a line at the left margin that is no known part of a
stack trace, starts a new event. So an unknown line is never swallowed by the event above it.
"""

import re
from enum import Enum

from connectors.log_files.levels import KUBERNETES

TRACEBACK = re.compile(r"Traceback \(most recent call last\):\s*$")
CHAINED = re.compile(
    r"(?:During handling of the above exception|The above exception was the direct cause)"
)
FRAME = re.compile(
    r"(?:Caused by: |Suppressed: |\.\.\. \d+ (?:more|common frames)|at [\w$.<>/]+\()"
)
THROWN = re.compile(r"(?:[\w$]+\.)+[A-Z][\w$]*(?:Exception|Error|Throwable|Failure)(?::|\s*$)")
"""A Java exception at the left margin: `java.net.ConnectException: Connection refused`."""
BLOCK_START = re.compile(r".{0,4}<@=+ \w+ Start =+@>")
BLOCK_END = re.compile(r"<@-+ \w+ End -+@>")
CLOSING = re.compile(r"[\])}]+[,;]?\s*$")


class Inside(Enum):
    """What the lines so far have opened."""

    NOTHING = 1
    TRACEBACK = 2
    AFTER_TRACEBACK = 3
    CHAIN = 4
    BLOCK = 5


def joins(text: str, inside: Inside, *, anchored: bool) -> bool:
    """True when the untimed *text* continues the event above it.

    *anchored*: that event began with a time or a level, so that a trace below it is its own.
    """
    if inside is Inside.BLOCK or inside is Inside.TRACEBACK:
        return True
    if text[0] in " \t":
        return not KUBERNETES.match(text)
    if FRAME.match(text) or CLOSING.match(text) or BLOCK_START.match(text):
        return True
    if CHAINED.match(text):
        return inside is Inside.AFTER_TRACEBACK
    if TRACEBACK.match(text):
        return anchored or inside is Inside.CHAIN
    return anchored and bool(THROWN.match(text))


def after(text: str, inside: Inside) -> Inside:
    """What is open once *text* has been read."""
    if inside is Inside.BLOCK:
        return Inside.NOTHING if BLOCK_END.search(text) else Inside.BLOCK
    if "<@=" in text and BLOCK_START.match(text):
        return Inside.BLOCK
    if "Traceback (" in text and TRACEBACK.search(text):
        return Inside.TRACEBACK
    if inside is Inside.TRACEBACK and text[:1] not in " \t":
        return Inside.AFTER_TRACEBACK  # this was the line that names the exception
    if inside is Inside.AFTER_TRACEBACK and CHAINED.match(text):
        return Inside.CHAIN
    return inside if inside is Inside.TRACEBACK else Inside.NOTHING


def is_trace(texts: list[str]) -> bool:
    """True when the lines are those of an event that stopped a program."""
    return len(texts) > 1 and any(
        TRACEBACK.search(text) or FRAME.match(text.lstrip()) or BLOCK_START.match(text)
        for text in texts
    )

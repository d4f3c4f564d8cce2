"""The text that the full-text index is given for a message.

It must be the same text again when an entry is removed from the index: a change here is a new
version of the store.
"""

import re

from connectors.log_files.lines import ANSI

ESCAPES = re.compile(r"\\[nrt]")
"""In JSON a newline is written as two characters; the second must not stick to the next word."""


def searchable(message: str) -> str:
    """*message* without terminal colours, and without JSON's escaped blanks where it is JSON."""
    if "\x1b" in message:
        message = ANSI.sub(" ", message)
    if "\\" in message and message[:1] in {"{", "["}:
        message = ESCAPES.sub("  ", message)
    return message

"""The message of a commit: a subject that fits a log, and trailers that git can be asked for."""

import re
from collections.abc import Mapping

from copilot.errors import NotesError
from copilot.safe_text import one_line

LIMIT_SUBJECT = 100
LIMIT_TRAILER = 200
KEY = re.compile(r"[A-Z][A-Za-z]*(?:-[A-Za-z]+)*")


def message(subject: str, trailers: Mapping[str, str]) -> str:
    """The whole message. No subject or value can add a line, and so no trailer, of its own."""
    for key in trailers:
        if not KEY.fullmatch(key):
            raise NotesError(f"{key!r} is no name for a trailer; write one like Turn or Cost-Usd")
    lines = [f"{key}: {one_line(value, LIMIT_TRAILER)}" for key, value in trailers.items()]
    return "\n".join([one_line(subject, LIMIT_SUBJECT) or "notes", "", *lines, ""])

"""What a log file is cut into, before it gets a place in a logbook."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from connectors.logbook import TimeFlag

Flag = Literal[
    "invalid_utf8",
    "nul",
    "byte_order_mark",
    "carriage_return",
    "ansi",
    "cut_line",
    "cut_entry",
    "no_zone",
    "guessed_year",
    "unbelievable_time",
    "unparsed_json",
    "unparsed_csv",
    "ragged_row",
    "json_too_large",
]
Flags = Counter[Flag]
"""How often each oddity was met in a file. All of them were imported all the same."""

MAX_MESSAGE = 1 << 20
"""Characters of one message. What is longer becomes several records, with nothing lost."""
MAX_LINES = 500
"""Lines of one record of text, for the same reason."""

Pairs = tuple[tuple[str, str], ...]


class Record(NamedTuple):
    """One event of a file. A named tuple: a million of them are made in one import.

    `lines` counts the physical lines accounted to it: its own, the blank ones after it, and, for
    the first record, whatever stands before it (blank lines, a header, an opening bracket).
    """

    line: int
    lines: int
    time: int | None
    """Microseconds since 1970 in UTC."""
    time_flag: TimeFlag
    level: str
    message: str
    fields: Pairs = ()
    extra: str = ""
    """Values that a search must find although they are not part of the message."""
    record: int | None = None
    verbatim: bool = True


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """*text* cut into messages of legal length, at line ends where there are any.

    Each comes with the number of newlines before it, the line end that it was cut at included.
    """
    start, newlines = 0, 0
    while len(text) - start > MAX_MESSAGE:
        cut = text.rfind("\n", start, start + MAX_MESSAGE)
        end = cut if cut > start else start + MAX_MESSAGE
        yield newlines, text[start:end]
        start = end + 1 if cut > start else end
        newlines = text.count("\n", 0, start)
    yield newlines, text[start:]

"""From a reference and a quote to the line that a person can open. The report rests on this.

A quote is found verbatim in one of the row's texts, white space aside. Where the message is the
raw text of several lines of a file, the line cited is the one that the quote begins on.
"""

import re
from dataclasses import dataclass

from copilot.errors import CopilotError
from copilot.scratch.store import Scratch
from copilot.values import JsonObject, compact, parse_reference

MIN_QUOTE = 2
SHOWN_CHARACTERS = 300


class CitationError(CopilotError):
    """A reference does not resolve, or the quote is not on its line. The text says which."""


@dataclass(frozen=True, slots=True)
class Citation:
    """One piece of evidence that exists. `line` counts from 1 in `source`; 0 where it has none."""

    reference: str
    quote: str
    source: str
    line: int
    record: int | None
    time: str
    level: str
    text: str
    """The cited line, cut around the quote."""
    row: JsonObject

    def place(self) -> str:
        """`source:line` as grep would print it, with the record's index where there is one."""
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{place} (record {self.record})" if self.record is not None else place


def cite(reference: str, quote: str, scratch: Scratch) -> Citation:
    """The citation of *quote* at *reference*. Raises CitationError saying what is wrong."""
    parsed = parse_reference(reference)
    if parsed is None:
        raise CitationError(f"{reference!r} is not a reference such as R0007:41")
    if not parsed.line:
        raise CitationError(f"{reference} names a whole result; cite a line of it, {reference}:1")
    if len(quote.strip()) < MIN_QUOTE:
        raise CitationError(f"{reference} comes without a quote; copy the words that carry it")
    try:
        row = scratch.row(parsed.handle, parsed.line)
    except CopilotError as error:
        raise CitationError(f"{reference} does not resolve: {error}") from None
    text, at = _find(row, quote)
    if at < 0:
        raise CitationError(f"{reference} does not say {quote!r}; it says: {_shown(text, 0)}")
    whole_lines = row.get("verbatim") is not False and text is row.get("message")
    first = row.get("line")
    line = first + text.count("\n", 0, at) * whole_lines if isinstance(first, int) else 0
    record = row.get("record")
    return Citation(
        reference=reference,
        quote=quote,
        source=str(row.get("source") or "computed"),
        line=line,
        record=record if isinstance(record, int) else None,
        time=str(row.get("time") or ""),
        level=str(row.get("level") or ""),
        text=_shown(text, at),
        row=row,
    )


def _find(row: JsonObject, quote: str) -> tuple[str, int]:
    """The text of the row that holds the quote and where; the message and -1 when none does."""
    texts = [value for value in row.values() if isinstance(value, str)]
    texts += [compact(value) for value in row.values() if isinstance(value, dict | list)]
    texts += [str(value) for value in row.values() if isinstance(value, int | float)]
    message = row.get("message")
    message = message if isinstance(message, str) else "\n".join(texts)
    pattern = re.compile(r"\s+".join(re.escape(word) for word in quote.split()))
    for text in (message, *texts):
        match = pattern.search(text)
        if match:
            return text, match.start()
    return message, -1


def _shown(text: str, at: int) -> str:
    """The line of *text* that holds position *at*, cut to a readable length around it."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    if len(line) <= SHOWN_CHARACTERS:
        return line.strip()
    first = max(0, at - start - SHOWN_CHARACTERS // 3)
    cut = line[first : first + SHOWN_CHARACTERS]
    return (
        f"{'…' if first else ''}{cut.strip()}{'…' if first + SHOWN_CHARACTERS < len(line) else ''}"
    )

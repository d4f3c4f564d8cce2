"""From a reference and a quote to the line that a person can open. The report rests on this.

A quote is found verbatim in one of the row's texts, white space aside. Where the message is the
raw text of several lines of a file, the line cited is the one that the quote begins on. What a
query computed is cited for its figures only: its words are the query's own.
"""

import re
from dataclasses import dataclass

from copilot.artifacts import find_artifacts
from copilot.errors import CopilotError
from copilot.report.computed import COMPUTES, base_of, foreign
from copilot.scratch.store import Scratch
from copilot.values import JsonObject, compact, parse_reference, text_at

SHOWN_CHARACTERS = 300
WORD = re.compile(r"[^\W_]{3,}")
PLACE_FIELDS = frozenset({
    "time", "time_flag", "level", "source", "line", "document", "record", "verbatim",
})  # fmt: skip
"""Where and when a line stands. They say nothing by themselves."""
CUT_QUOTE = 40
"""Characters; a quote as long as that may break off inside a word and is still no other text."""
HINTS = frozenset({"search_incidents"})
"""Tools whose answers say what was once believed."""


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
    computed: bool = False
    """True for the row of a query, which no line of a source holds."""
    document: str = ""
    """`index/_id`, by which an entry that stands on no line is found again."""

    def place(self) -> str:
        """`source:line` as grep would print it, with the record's index where there is one."""
        place = f"{self.source}:{self.line}" if self.line else self.document or self.source
        return f"{place} (record {self.record})" if self.record is not None else place


def cite(reference: str, quote: str, scratch: Scratch) -> Citation:
    """The citation of *quote* at *reference*. Raises CitationError saying what is wrong."""
    parsed = parse_reference(reference)
    if parsed is None:
        raise CitationError(f"{reference!r} is not a reference such as R0007:41")
    if not parsed.line:
        raise CitationError(f"{reference} names a whole result; cite a line of it, {reference}:1")
    if not quote.strip():
        raise CitationError(f"{reference} comes without a quote; copy the words that carry it")
    try:
        row = scratch.row(parsed.handle, parsed.line)
        computed = scratch.stored(parsed.handle).tool in COMPUTES
        base = base_of(parsed.handle, scratch)
        made = foreign(quote, parsed.handle, scratch) if computed else []
    except CopilotError as error:
        raise CitationError(f"{reference} does not resolve: {error}") from None
    if base.tool in HINTS:
        raise CitationError(
            f"{reference}: old verdicts are hints, not evidence; cite today's lines"
        )
    if made:
        raise CitationError(
            f"{reference} is computed and carries figures only; {', '.join(made)} came with the "
            f"query, not with {base.handle}; cite the line itself"
        )
    if not computed and not (WORD.search(quote) or find_artifacts(quote)):
        raise CitationError(f"{reference}: {quote!r} is too little; quote whole words of the line")
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
        computed=computed,
        document=text_at(row, "document") if not line else "",
    )


def _find(row: JsonObject, quote: str) -> tuple[str, int]:
    """The text of the row that holds the quote and where; the message and -1 when none does."""
    values = [value for name, value in row.items() if name not in PLACE_FIELDS]
    texts = [value for value in values if isinstance(value, str)]
    texts += [compact(value) for value in values if isinstance(value, dict | list)]
    texts += [str(value) for value in values if isinstance(value, int | float)]
    message = row.get("message")
    message = message if isinstance(message, str) else "\n".join(texts)
    words = quote.split()
    # The raw text of a JSON file has its line ends as `\n`, which is no part of a word.
    before = r"(?:(?<!\w)|(?<=\\[nrt]))" if re.match(r"\w", quote.strip()) else ""
    is_whole = len(quote) < CUT_QUOTE and re.search(r"\w$", quote.strip())
    after = r"(?!\w)" if is_whole else ""
    pattern = re.compile(before + r"\s+".join(re.escape(word) for word in words) + after)
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

"""All lines that the answers so far have shown, each once, with what is known of it.

The same line may come back from several searches; the longest text and all figures are kept. Views
over stored rows (query_scratch) give the reference of the row that they show.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from copilot.models.offline.lines import Line, line_of, merged
from copilot.models.offline.transcript import Exchange, Transcript
from copilot.values import text_at

LOG_TOOLS = frozenset({"search_logbook", "logbook_patterns", "logbook_context", "logbook_trace",
                       "logbook_overview"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dossier:
    """What is known so far: lines by place, and how often texts were found."""

    lines: tuple[Line, ...]
    tickets: tuple[Line, ...]
    documents: tuple[Line, ...]
    past: tuple[Line, ...]


def read_dossier(transcript: Transcript) -> Dossier:
    """Everything that *transcript* shows."""
    found: dict[tuple[str, int, str], Line] = {}
    for exchange in transcript.exchanges:
        for line in _lines(exchange):
            old = found.get(line.place)
            found[line.place] = merged(old, line) if old else line
    return Dossier(
        lines=tuple(found.values()),
        tickets=tuple(_all(transcript.of_tool("search_tickets", "get_ticket"))),
        documents=tuple(_all(transcript.of_tool("search_documents", "read_document"))),
        past=tuple(_all(transcript.of_tool("search_incidents"))),
    )


def _lines(exchange: Exchange) -> Iterator[Line]:
    of_log = exchange.tool in LOG_TOOLS
    if exchange.tool == "read_scratch":
        yield from _whole(exchange)
        return
    of_view = exchange.tool == "query_scratch" and exchange.step not in ("records", "siblings")
    if not (of_log or of_view):
        return
    compared = exchange.tool == "logbook_patterns" and bool(
        exchange.answer.facts.get("baseline_entries")
    )
    for row in exchange.answer.rows:
        line = line_of(row)
        if line and not row.get("vanished"):
            yield replace(line, compared=line.compared and (compared or of_view))


def _whole(exchange: Exchange) -> Iterator[Line]:
    """The stored rows that were read whole."""
    for row in exchange.answer.rows:
        try:
            stored = json.loads(text_at(row, "text"))
        except ValueError:
            continue
        line = line_of(stored | {"ref": row.get("ref")}) if isinstance(stored, dict) else None
        if line:
            yield line


def _all(exchanges: Iterable[Exchange]) -> Iterator[Line]:
    for exchange in exchanges:
        for row in exchange.answer.rows:
            line = line_of(row)
            if line:
                yield line

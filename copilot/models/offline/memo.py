"""What the investigator keeps of answers that may be cleared: in its own words, which stay.

A policy may take old results out of a request. So each turn the answers not yet kept are written
into the turn's text, cut to the rows that the story needs, in the shape that they came in.
"""

from collections.abc import Iterator

from copilot.models.offline.lines import line_of
from copilot.models.offline.story import tell
from copilot.models.offline.transcript import MARK, Exchange
from copilot.models.offline.view import View
from copilot.values import Json, JsonObject, compact, text_at

CANDIDATES = 14
ROWS_OF_AN_ANSWER = 8
MESSAGE_CHARACTERS = 300
FACTS = ("buckets", "sources", "baseline_entries", "problems")
WHOLE_STEPS = ("records", "siblings", "pulse", "beat", "beatlast", "homes")


def memo(view: View) -> str:
    """The line that keeps what was answered since the last one; empty when nothing was."""
    needed = frozenset(_needed(view))
    kept: JsonObject = {
        item.id: _condensed(item, needed)
        for item in view.transcript.exchanges
        if item.answer.known and not item.is_kept
    }
    return f"{MARK}{compact(kept)}" if kept else ""


def _needed(view: View) -> Iterator[str]:
    """The references of the lines that a report would rest on as it stands."""
    story = tell(view)
    for item in view.candidates[:CANDIDATES]:
        yield from (line.reference for line in item.lines[:3])
    for line in (*story.support, *story.before, *story.ends, *story.settings):
        yield line.reference
    sources = {item.first.source for item in view.candidates[:CANDIDATES]}
    for line in view.dossier.lines:
        if line.sign.role == "blind" or line.is_document:
            yield line.reference
        elif line.source in sources and view.related(line):
            sources.discard(line.source)  # one line that shows what the file is about
            yield line.reference


def _condensed(item: Exchange, needed: frozenset[str]) -> JsonObject:
    """The envelope of an answer with the rows that are needed."""
    answer = item.answer
    rows: list[Json] = [
        _cut(row) for row in answer.rows if item.step in WHOLE_STEPS or _is_needed(row, needed)
    ]
    facts: JsonObject = {key: answer.facts[key] for key in FACTS if key in answer.facts}
    envelope: JsonObject = {
        "ok": answer.ok,
        "total": answer.total,
        "complete": answer.complete,
        "handle": answer.handle,
        "lines": answer.lines,
        "range": list(answer.range) if answer.range[0] else [],
        "facts": facts,
        "hint": answer.text[:200],
        "rows": rows[:ROWS_OF_AN_ANSWER],
    }
    return {key: value for key, value in envelope.items() if value not in (None, "", [], {}, 0)} | {
        "ok": answer.ok,
        "total": answer.total,
    }


def _is_needed(row: JsonObject, needed: frozenset[str]) -> bool:
    line = line_of(row)
    reference = line.reference if line else text_at(row, "ref")
    return reference in needed or text_at(row, "part") in ("description", "comment 1")


def _cut(row: JsonObject) -> JsonObject:
    """The row with its texts cut; what was cut away can be read again by its reference."""
    return {
        key: _cut(value) if isinstance(value, dict) else _shortened(key, value)
        for key, value in row.items()
        if key not in ("template", "lift", "time_flag", "in_sources", "rank", "first")
    }


def _shortened(key: str, value: Json) -> Json:
    limit = 8 * MESSAGE_CHARACTERS if key == "text" else MESSAGE_CHARACTERS
    return value[:limit] if isinstance(value, str) else value

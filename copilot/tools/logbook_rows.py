"""Log entries and templates as the rows that scratch keeps and the model reads."""

from connectors.logbook import Entry, Found, Pattern
from copilot.tools.base import Outcome
from copilot.values import JsonObject
from copilot.window import iso


def entry_row(entry: Entry) -> JsonObject:
    """The row of one entry: the well-known names, its fields, the message last."""
    row: JsonObject = {
        "time": iso(entry.time) if entry.time else None,
        "level": entry.level,
        "source": entry.source,
        "line": entry.line,
    }
    if entry.time_flag != "own":
        row["time_flag"] = entry.time_flag
    if entry.record is not None:
        row["record"] = entry.record
    if not entry.verbatim:
        row["verbatim"] = False
    row |= {name: value for name, value in entry.fields.items() if name not in row}
    row["message"] = entry.message
    return row


def entries_outcome(found: Found, scope: JsonObject) -> Outcome:
    """The outcome of a page of entries: fewer lines than match is not complete."""
    why = found.coverage.why_incomplete
    if not why and len(found.entries) < found.total.value:
        why = f"limit: {len(found.entries)} of {found.total.value} returned"
    return Outcome(
        scope=scope,
        facts={"cursor": found.cursor} if found.cursor else {},
        rows=tuple(entry_row(entry) for entry in found.entries),
        total=found.total,
        why_incomplete=why,
        first=found.first,
        last=found.last,
        hint=notes_of(found.coverage.notes, found.coverage.untimed),
    )


def pattern_row(pattern: Pattern, sample: Entry) -> JsonObject:
    """The row of one template: its figures, then one entry that shows it and can be cited."""
    row: JsonObject = {
        "template": pattern.template,
        "count": pattern.count,
        "baseline": pattern.baseline_count,
        "lift": round(pattern.lift, 2),
        "first_seen": iso(pattern.first) if pattern.first else None,
        "last_seen": iso(pattern.last) if pattern.last else None,
        "in_sources": len(pattern.sources),
    }
    return row | entry_row(sample)


def notes_of(notes: tuple[str, ...], untimed: int) -> str:
    """What a reader of the answer should know about how it was found."""
    timeless = f"{untimed} matching lines have no time and are in no window" if untimed else ""
    return "; ".join(filter(None, (*notes, timeless)))

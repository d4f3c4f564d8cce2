"""Log entries and templates as the rows that scratch keeps and the model reads."""

from connectors.logbook import Coverage, Entry, Found, Pattern
from copilot.tools.base import Outcome
from copilot.values import JsonObject
from copilot.window import ALWAYS, Window, iso

OURS = frozenset({
    "time", "time_flag", "level", "source", "line", "document", "record", "verbatim", "message",
    "template", "count", "baseline", "lift", "first_seen", "last_seen", "in_sources", "vanished",
    "ref",
})  # fmt: skip
"""What a row says by itself. An entry's own field of such a name is shown as `field.NAME`: whoever
writes into a log can name a field as he likes. Where it says what the row says it is left out."""


def entry_row(entry: Entry) -> JsonObject:
    """The row of one entry: the well-known names, its fields, the message last.

    An entry without a line is found again by its `document`.
    """
    row: JsonObject = {
        "time": iso(entry.time) if entry.time else None,
        "level": entry.level,
        "source": entry.source,
        "line": entry.line,
    }
    if not entry.line:
        row["document"] = entry.id
    if entry.time_flag != "own":
        row["time_flag"] = entry.time_flag
    if entry.record is not None:
        row["record"] = entry.record
    if not entry.verbatim:
        row["verbatim"] = False
    for name, value in entry.fields.items():
        if name not in OURS:
            row[name] = value
        elif str(row.get(name, "")).casefold() != value.casefold():
            row[f"field.{name}"] = value
    row["message"] = entry.message
    return row


def entries_outcome(found: Found, scope: JsonObject, window: Window = ALWAYS) -> Outcome:
    """The outcome of a page of entries: fewer lines than match is not complete."""
    why = why_incomplete(found.coverage, window)
    if not found.coverage.why_incomplete and len(found.entries) < found.total.value:
        limit = f"limit: {len(found.entries)} of {found.total.value} returned"
        why = "; ".join(filter(None, (limit, why)))
    return Outcome(
        scope=scope,
        facts={"cursor": found.cursor} if found.cursor else {},
        rows=tuple(entry_row(entry) for entry in found.entries),
        total=found.total,
        why_incomplete=why,
        first=found.first,
        last=found.last,
        hint="; ".join(found.coverage.notes),
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


def why_incomplete(coverage: Coverage, window: Window) -> str:
    """Why nothing found would not be a fact: lines without a time are in no bounded window."""
    timeless = (
        f"{coverage.untimed} matching lines have no time and are in no window; "
        "search without a window too"
        if coverage.untimed and window != ALWAYS
        else ""
    )
    return "; ".join(filter(None, (coverage.why_incomplete, timeless)))

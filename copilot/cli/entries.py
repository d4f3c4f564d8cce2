"""Log entries as lines for a person and as JSON: masked first, and never as markup."""

from typing import TYPE_CHECKING

from copilot.cli.session import Session
from copilot.cli.shown import exact
from copilot.cli.ui import Style
from copilot.window import iso

if TYPE_CHECKING:
    from connectors.logbook import Entry
    from copilot.values import JsonObject

LEVEL_STYLES: dict[str, Style] = {"FATAL": "bad", "ERROR": "bad", "WARN": "warn"}
INDENT = 4


def entry_line(session: Session, entry: "Entry") -> None:
    """Print one entry: time, level, source:line, then its message; further lines are indented."""
    when = iso(entry.time) if entry.time else "no-time"
    style = LEVEL_STYLES.get(entry.level, "")
    first, *rest = session.masked(entry.message).split("\n")
    session.screen.line(
        (f"{when} ", "dim"),
        (f"{entry.level or '-'} ", style),
        (f"{place(entry)} ", "dim"),
        first,
    )
    for line in rest:
        session.screen.line(line, indent=INDENT)


def place(entry: "Entry") -> str:
    """`source:line` as grep prints it, and the record's index where the file is a JSON array."""
    where = f"{entry.source}:{entry.line}" if entry.line else entry.source
    return where if entry.record is None else f"{where}[{entry.record}]"


def entry_json(session: Session, entry: "Entry") -> "JsonObject":
    """The entry as data."""
    row: JsonObject = {
        "id": entry.id,
        "time": exact(entry.time),
        "time_flag": entry.time_flag,
        "level": entry.level,
        "source": entry.source,
        "line": entry.line,
        "record": entry.record,
        "message": entry.message,
        "fields": dict(entry.fields),
    }
    return session.workspace.redactor.redact_json(row)

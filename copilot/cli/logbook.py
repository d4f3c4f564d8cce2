"""`copilot logbook`: import log files; search and count their lines."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from copilot.cli import exit_codes
from copilot.cli.choice import Choice, say_coverage
from copilot.cli.entries import entry_json, entry_line
from copilot.cli.logbook_statistics import overview, patterns
from copilot.cli.options import as_json, filtered
from copilot.cli.session import Session, pass_session, pick
from copilot.cli.shown import counted, exact
from copilot.window import iso

if TYPE_CHECKING:
    from connectors.log_files.batch import Imported, Refused
    from connectors.logbook import Order


@click.group("logbook")
def command() -> None:
    """Import log files; search and count their lines."""


command.add_command(overview)
command.add_command(patterns)


@command.command("import")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="Sources are named by their path below this folder; else below the one you are in.",
)
@click.option(
    "--to", "--logbook", "logbook", default="", help="Which logbook, where there are several."
)
@pass_session
def import_(session: Session, files: tuple[Path, ...], root: Path | None, logbook: str) -> int:
    """Import log files, plain or .gz, or folders of them: text, CSV, JSON lines, JSON arrays.

    A file is imported as a whole or not at all; importing it again changes nothing. Every line is
    kept; those without a time are counted.
    """
    from connectors.log_files.batch import Imported

    book = pick(session.workspace.logbooks, logbook, "logbook")
    refused = lines = 0
    rows = []
    for found in book.import_files([session.cwd / file for file in files], root or session.cwd):
        if isinstance(found, Imported):
            rows.append(_imported(found))
            lines += found.lines
        else:
            refused += 1
            _say_refused(session, found)
    session.screen.table(("SOURCE", "LINES", "ENTRIES", "UNTIMED", "STATE", "FLAGGED"), rows)
    held = f"{counted(lines, 'line')} of {counted(len(rows), 'file')}"
    session.screen.say(f"the logbook {book.name} has {held}")
    return exit_codes.FAILED if refused else exit_codes.OK


@command.command("search")
@click.argument("text", nargs=-1, metavar="[TEXT...]")
@filtered
@click.option("--limit", type=click.IntRange(1, 10_000), default=40, show_default=True)
@click.option(
    "--order",
    type=click.Choice(["newest", "oldest", "ranked"]),
    default="newest",
    show_default=True,
)
@click.option("--cursor", default="", help="Go on where the last answer ended.")
@as_json
@pass_session
def search(
    session: Session,
    /,
    text: tuple[str, ...],
    limit: int,
    order: "Order",
    cursor: str,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Find lines that hold all words of TEXT: "a phrase", -not, prefix*. Case is ignored."""
    from connectors.logbook import Search

    choice = Choice(**chosen)
    asked = Search(choice.filters(" ".join(text)), choice.window(session), order, limit, cursor)
    found = choice.book(session).search(asked)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.entries/1",
                "window": str(asked.window),
                "total": found.total.value,
                "relation": found.total.relation,
                "why_incomplete": found.coverage.why_incomplete,
                "cursor": found.cursor,
                "entries": [entry_json(session, entry) for entry in found.entries],
            }
        )
        return
    for entry in found.entries:
        entry_line(session, entry)
    shown = f"{len(found.entries)} of {counted(found.total.value, 'line')}"
    session.screen.say(shown if found.total.relation == "exact" else f"{shown} or more")
    if found.cursor:
        session.screen.say(f"for more, add: --cursor {found.cursor}")
    say_coverage(session, found.coverage)


@command.command("fields")
@click.option("--logbook", default="", help="Which logbook, where there are several.")
@as_json
@pass_session
def fields(session: Session, logbook: str, as_json: bool) -> None:
    """Show what --field can filter on, with the most frequent values."""
    found = pick(session.workspace.logbooks, logbook, "logbook").fields()
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.fields/1",
                "entries": found.total,
                "first": exact(found.first),
                "last": exact(found.last),
                "fields": [
                    {
                        "name": one.name,
                        "entries": one.count,
                        "values": [[session.masked(value), count] for value, count in one.values],
                    }
                    for one in found.fields
                ],
            }
        )
        return
    session.screen.table(
        ("FIELD", "ENTRIES", "VALUES"),
        [
            (one.name, str(one.count), session.masked(", ".join(value for value, _ in one.values)))
            for one in found.fields
        ],
    )
    if found.first and found.last:
        session.screen.say(f"{found.total} entries from {iso(found.first)} to {iso(found.last)}")


def _imported(found: "Imported") -> tuple[str, ...]:
    flagged = ", ".join(f"{name} {count}" for name, count in found.flagged.items())
    state = "unchanged" if found.unchanged else "imported"
    counts = (str(found.lines), str(found.entries), str(found.untimed))
    return (found.source, *counts, state, flagged)


def _say_refused(session: Session, refused: "Refused") -> None:
    session.screen.say((f"refused: {refused.source}: {refused.reason}", "bad"))

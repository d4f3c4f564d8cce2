"""`copilot tickets`: import exported tickets; find and show them."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from copilot.cli import exit_codes
from copilot.cli.options import as_json, ids_only, window_of, windowed
from copilot.cli.session import Session, pass_session, pick
from copilot.cli.shown import counted, seconds
from copilot.errors import ImportRefusedError, NotFoundError, UsageError
from copilot.safe_text import safe_text
from copilot.window import iso

if TYPE_CHECKING:
    from connectors.tracker import Ticket, TicketsFound
    from copilot.values import Json, JsonObject

PARTS = frozenset({"comments", "changes", "links"})
tracker_option = click.option(
    "--tracker", default="", help="Which tracker, where there are several."
)
limit_option = click.option("--limit", type=click.IntRange(1, 1000), default=40, show_default=True)


@dataclass(frozen=True, slots=True)
class Choice:
    """The options by which tickets are chosen and shown."""

    since: str
    until: str
    tracker: str
    limit: int
    quiet: bool
    as_json: bool


@click.group("tickets")
def command() -> None:
    """Import tickets; find and show them."""


@command.command("import")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@tracker_option
@pass_session
def import_(session: Session, files: tuple[Path, ...], tracker: str) -> int:
    """Import tickets from JSON files: Jira REST answers (v2 or v3), or plain objects with a key.

    A file is imported as a whole or not at all; importing it again changes nothing.
    """
    from connectors.embedded_tracker import EmbeddedTracker

    wanted = pick(session.workspace.trackers, tracker, "tracker")
    if not isinstance(wanted, EmbeddedTracker):
        raise UsageError(
            f"{wanted.name} is a Jira: its tickets are read where they are. Import into a tracker "
            "of kind `embedded`"
        )
    refused = 0
    rows = []
    for file in files:
        try:
            found = wanted.import_file(session.cwd / file, file.name)
        except ImportRefusedError as error:
            refused += 1
            session.screen.say((f"refused: {error}", "bad"))
            continue
        counts = (found.added, found.replaced, found.unchanged, found.older)
        rows.append((found.source, *map(str, counts)))
        for item in found.refused:
            session.screen.say((f"left out: {found.source} {item.where}: {item.why}", "warn"))
        if found.missing:
            session.screen.say((f"{found.source} is one page: {found.missing} tickets", "warn"))
    session.screen.table(("FILE", "ADDED", "REPLACED", "UNCHANGED", "OLDER"), rows)
    return exit_codes.FAILED if refused else exit_codes.OK


@command.command("list")
@windowed
@tracker_option
@limit_option
@ids_only
@as_json
@pass_session
def list_(session: Session, /, **chosen: Any) -> None:
    """List tickets, last updated first; the window is of their last update."""
    _find(session, "", Choice(**chosen))


@command.command("search")
@click.argument("text", nargs=-1, required=True, metavar="TEXT...")
@windowed
@tracker_option
@limit_option
@ids_only
@as_json
@pass_session
def search(session: Session, /, text: tuple[str, ...], **chosen: Any) -> None:
    """Find tickets that hold all words of TEXT, best first."""
    _find(session, " ".join(text), Choice(**chosen))


@command.command("show")
@click.argument("key")
@tracker_option
@as_json
@pass_session
def show(session: Session, key: str, tracker: str, as_json: bool) -> None:
    """Show the ticket KEY with its comments, changes and links."""
    found = pick(session.workspace.trackers, tracker, "tracker").ticket(key, PARTS)
    if found is None:
        raise NotFoundError(
            f"no such ticket: {safe_text(key, limit=80)!r}; `copilot tickets list` shows those "
            "that there are"
        )
    if as_json:
        session.screen.document({"schema": "copilot.ticket/1", "ticket": _json(session, found)})
        return
    _page(session, found)


def _find(session: Session, text: str, choice: Choice) -> None:
    from connectors.tracker import TicketSearch

    wanted = pick(session.workspace.trackers, choice.tracker, "tracker")
    window = window_of(session, choice.since, choice.until)
    found = wanted.search(TicketSearch(text=text, updated=window, limit=choice.limit))
    if choice.as_json:
        session.screen.document(
            {
                "schema": "copilot.tickets/1",
                "window": str(window),
                "total": found.total.value,
                "why_incomplete": found.coverage.why_incomplete,
                "tickets": [_json(session, ticket) for ticket in found.tickets],
            }
        )
    elif choice.quiet:
        for ticket in found.tickets:
            session.screen.line(ticket.key)
    else:
        _table(session, found)


def _table(session: Session, found: "TicketsFound") -> None:
    session.screen.table(
        ("KEY", "UPDATED", "STATUS", "SUMMARY"),
        [
            (ticket.key, _time(ticket, "updated"), ticket.status, session.masked(ticket.summary))
            for ticket in found.tickets
        ],
    )
    session.screen.say(f"{len(found.tickets)} of {counted(found.total.value, 'ticket')}")
    for note in (found.coverage.why_incomplete, *found.coverage.notes):
        if note:
            session.screen.say(f"note: {note}")


def _page(session: Session, ticket: "Ticket") -> None:
    screen, masked = session.screen, session.masked
    screen.line((f"{ticket.key}  {masked(ticket.summary)}", "title"))
    facts = {
        "status": " ".join(filter(None, (ticket.status, ticket.resolution))),
        "kind": ticket.kind,
        "priority": ticket.priority,
        "labels": ", ".join(ticket.labels),
        "created": _time(ticket, "created"),
        "updated": _time(ticket, "updated"),
        "source": ticket.source,
        "missing": "; ".join(ticket.missing),
    }
    for name, value in facts.items():
        if value:
            screen.line(f"{name}: {masked(value)}")
    for link in ticket.links or ():
        screen.line(f"link: {link.relation} {link.key} {masked(link.summary)}")
    if ticket.description:
        screen.line()
        screen.page(masked(ticket.description))
    for comment in ticket.comments or ():
        screen.line()
        when = iso(comment.created) if comment.created else "no time"
        screen.line((f"{when}  {masked(comment.author)}", "title"))
        screen.page(masked(comment.text))
    for change in ticket.changes or ():
        when = iso(change.time) if change.time else "no time"
        screen.line(
            (f"{when} ", "dim"), masked(f"{change.field}: {change.before} → {change.after}")
        )


def _time(ticket: "Ticket", name: str) -> str:
    time = getattr(ticket, name)
    return seconds(time)


def _json(session: Session, ticket: "Ticket") -> "JsonObject":
    """The ticket as data, its times in ISO; a part that was not fetched is null."""
    plain = {name: _plain(value) for name, value in asdict(ticket).items()}
    return session.workspace.redactor.redact_json(plain)


def _plain(value: object) -> "Json":
    from datetime import datetime

    match value:
        case dict():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case datetime():
            return iso(value)
        case None:
            return None
        case _:
            return str(value)

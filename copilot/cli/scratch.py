"""`copilot scratch`: the evidence of an incident, by handle, within bounds."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from copilot.cli import exit_codes
from copilot.cli.options import as_json, ids_only
from copilot.cli.session import Session, pass_session
from copilot.cli.shown import counted
from copilot.errors import NotFoundError, ScratchError, UsageError
from copilot.safe_text import one_line, safe_text
from copilot.values import Reference, parse_reference

if TYPE_CHECKING:
    from copilot.scratch.searching import Matches
    from copilot.scratch.store import Scratch

SHOWN_LINES = 20
READ_BYTES = 256 << 10
"""The most that one `show` prints."""
RANGE = re.compile(r"(\d{1,9})(?::(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Place:
    """A result of an incident, or a line of it."""

    incident: str
    reference: Reference


@click.group("scratch")
def command() -> None:
    """The evidence: results kept on disk, by handle."""


@command.command("ls")
@click.argument("incident", metavar="ID")
@ids_only
@as_json
@pass_session
def ls(session: Session, incident: str, quiet: bool, as_json: bool) -> None:
    """List the results of the incident ID, in the order of their calls."""
    scratch = _scratch(session, incident)
    handles = scratch.handles()
    if quiet:
        for handle in handles:
            session.screen.line(f"{incident}/{handle}")
        return
    stored = [scratch.stored(handle) for handle in handles]
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.scratch/1",
                "incident": incident,
                "results": [
                    {
                        "handle": one.handle,
                        "lines": one.lines,
                        "bytes": one.bytes,
                        "tool": one.tool,
                        "arguments": dict(one.arguments),
                        "file": str(scratch.root / incident / one.file),
                    }
                    for one in stored
                ],
            }
        )
        return
    session.screen.table(
        ("RESULT", "LINES", "BYTES", "CALL"),
        [(f"{incident}/{one.handle}", str(one.lines), str(one.bytes), one.call) for one in stored],
    )
    if not stored:
        session.screen.say(f"nothing was stored for {incident}")


@command.command("show")
@click.argument("reference", metavar="REF")
@click.option("--lines", metavar="FROM[:TO]", default="", help="Lines from 1, both included.")
@click.option("--columns", metavar="FROM:TO", default="", help="Columns from 0, the end excluded.")
@as_json
@pass_session
def show(session: Session, reference: str, lines: str, columns: str, as_json: bool) -> None:
    """Show lines of a result. REF is ID/R0007 or, for one line, ID/R0007:41.

    ID may be left out where only one incident has results.
    """
    from copilot.scratch.reading import Span

    place = _place(session, reference)
    first, count = _lines(lines, place.reference)
    start, stop = _columns(columns)
    scratch = _scratch(session, place.incident)
    handle = place.reference.handle
    found = scratch.read(handle, Span(first, count, start, stop), budget_bytes=READ_BYTES)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.lines/1",
                "incident": place.incident,
                "handle": handle,
                "total_lines": found.total_lines,
                "next_line": found.next_line,
                "lines": [
                    {"reference": f"{handle}:{line.number}", "text": line.text, "cut": line.is_cut}
                    for line in found.lines
                ],
            }
        )
        return
    for line in found.lines:
        mark = " …" if line.is_cut else ""
        session.screen.line((f"{handle}:{line.number} ", "dim"), f"{line.text}{mark}")
    if found.next_line is not None and not place.reference.line:
        more = f"copilot scratch show {place.incident}/{handle} --lines {found.next_line}"
        session.screen.say(f"{found.total_lines} lines; for more: {more}:{found.total_lines}")


@command.command("grep")
@click.argument("pattern")
@click.argument("incident", metavar="ID")
@click.option("--context", type=click.IntRange(0, 20), default=0, help="Lines around each match.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@as_json
@pass_session
def grep(
    session: Session, pattern: str, incident: str, context: int, limit: int, as_json: bool
) -> int:
    """Find PATTERN (RE2) in the results of the incident ID, or in one of them: ID/R0007.

    Leaves with 1 when nothing matched, as grep does.
    """
    from copilot.scratch.searching import Search, search

    named, _, handle = incident.partition("/")
    handles = (handle,) if handle else ()
    asked = Search(pattern, handles, context, limit, budget_bytes=READ_BYTES)
    found = search(_scratch(session, named), asked)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.matches/1",
                "incident": named,
                "total": found.total,
                "lines_searched": found.lines_searched,
                "why_incomplete": found.why_incomplete,
                "matches": [
                    {"reference": str(one.reference), "field": one.field, "text": one.text}
                    for one in found.matches
                ],
            }
        )
    else:
        _print_matches(session, named, found)
    return exit_codes.OK if found.total else exit_codes.FAILED


def _print_matches(session: Session, incident: str, found: "Matches") -> None:
    for match in found.matches:
        for reference, text in match.before:
            session.screen.line((f"{incident}/{reference}- {text}", "dim"))
        session.screen.line((f"{incident}/{match.reference}: ", "dim"), one_line(match.text))
        for reference, text in match.after:
            session.screen.line((f"{incident}/{reference}- {text}", "dim"))
    session.screen.say(
        f"{len(found.matches)} of {counted(found.total, 'matching line')}; "
        f"{found.lines_searched:,} searched"
    )
    if found.why_incomplete:
        session.screen.say((f"incomplete: {found.why_incomplete}", "warn"))


@command.command("gc")
@click.option("--older-than", metavar="LENGTH", default="", help="Instead of scratch.keep.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@pass_session
def gc(session: Session, older_than: str, dry_run: bool) -> None:
    """Remove the results of incidents closed for longer than scratch.keep, and pack the notes.

    A result that was removed still says which call it answered. Nothing else is touched.
    """
    from copilot.scratch.sweeping import sweep, usage
    from copilot.window import parse_duration

    workspace = session.workspace
    root, length = workspace.settings.scratch.path, workspace.settings.scratch.keep
    limit = session.now() - (parse_duration(older_than) if older_than else length)
    closed = workspace.closed_before(limit)
    held = usage(root)
    if dry_run:
        for one in held:
            if one.incident in closed and one.newest:
                session.screen.line(f"{one.incident}  {one.bytes:,} bytes")
        return
    keep = {one.incident for one in held} - closed
    swept = sweep(root, older_than=limit, keep=keep)
    workspace.notes.tidy()
    session.screen.line(f"removed {counted(swept.files, 'file')}, {swept.bytes:,} bytes")


def _scratch(session: Session, incident: str) -> "Scratch":
    """The results of that incident. Raises NotFoundError when there is no such incident."""
    scratch = session.workspace.scratch(incident)
    try:
        known = bool(scratch.handles())
    except ScratchError:
        known = False
    if not known:
        session.front(incident)
    return scratch


def _place(session: Session, text: str) -> Place:
    """What a reference on the command line names. Raises UsageError, NotFoundError."""
    incident, slash, tail = text.rpartition("/")
    reference = parse_reference(tail)
    if reference is None:
        if not slash and session.workspace.notes.front(text):
            raise UsageError(
                f"{text} is an incident; name one of its results, as in {text}/R0001. "
                f"They are listed by: copilot scratch ls {text}"
            )
        raise NotFoundError(
            f"no such result: {safe_text(text, limit=80)!r}; write it as INCIDENT/R0007 or "
            "INCIDENT/R0007:41. `copilot scratch ls INCIDENT` lists them"
        )
    return Place(incident or _only_incident(session, reference), reference)


def _only_incident(session: Session, reference: Reference) -> str:
    """The one incident that has results. Raises UsageError where there are several."""
    root = session.workspace.settings.scratch.path
    names = sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    if len(names) != 1:
        there_are = f"{len(names)} incidents have" if names else "no incident has"
        raise UsageError(
            f"{there_are} results; say whose {reference} is meant, as in INCIDENT/{reference}"
        )
    return names[0]


def _lines(text: str, reference: Reference) -> tuple[int, int]:
    """The first line and how many."""
    if reference.line and not text:
        return reference.line, 1
    if not text:
        return 1, SHOWN_LINES
    match = RANGE.fullmatch(text)
    first = int(match[1]) if match else 0
    last = int(match[2] or first) if match else 0
    if not match or first < 1 or last < first:
        raise UsageError(f"--lines {text!r} is no range; lines count from 1: --lines 40:60")
    return first, last - first + 1


def _columns(text: str) -> tuple[int, int | None]:
    if not text:
        return 0, None
    match = RANGE.fullmatch(text)
    if not match or match[2] is None or int(match[2]) <= int(match[1]):
        raise UsageError(f"--columns {text!r} is no range; columns count from 0: --columns 0:200")
    return int(match[1]), int(match[2])

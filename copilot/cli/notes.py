"""`copilot notes`: what is known of each incident, and how that came about."""

from typing import TYPE_CHECKING

import click

from copilot.cli.options import as_json, ids_only, window_of, windowed
from copilot.cli.session import Session, pass_session
from copilot.cli.shown import counted, exact, seconds
from copilot.errors import NotFoundError
from copilot.safe_text import safe_text
from copilot.window import iso

if TYPE_CHECKING:
    from copilot.notes.history import Commit
    from copilot.values import JsonObject

STATE = "STATE.md"
SHORT = 12
"""Characters of a commit's name that a person types."""


@click.group("notes")
def command() -> None:
    """What is known of each incident, and its history."""


@command.command("list")
@ids_only
@as_json
@pass_session
def list_(session: Session, quiet: bool, as_json: bool) -> None:
    """List what was found out, last updated first."""
    listing = session.workspace.notes.incidents()
    if quiet:
        for front in listing.incidents:
            session.screen.line(front.incident)
    elif as_json:
        session.screen.document(
            {
                "schema": "copilot.notes/1",
                "notes": [
                    {
                        "incident": front.incident,
                        "updated": exact(front.updated),
                        "outcome": front.outcome,
                        "verdict": front.verdict,
                        "judgement": front.judgement,
                        "cause": front.cause,
                    }
                    for front in listing.incidents
                ],
            }
        )
    else:
        session.screen.table(
            ("INCIDENT", "UPDATED", "OUTCOME", "JUDGED", "VERDICT"),
            [
                (
                    front.incident,
                    seconds(front.updated),
                    front.outcome,
                    front.judgement,
                    front.cause or front.verdict or front.title,
                )
                for front in listing.incidents
            ],
        )
    for name in listing.unreadable:
        session.screen.say((f"cannot be read: {name}/{STATE}", "warn"))


@command.command("show")
@click.argument("incident", metavar="ID")
@click.argument("file", default=STATE)
@pass_session
def show(session: Session, incident: str, file: str) -> None:
    """Show a file of the incident's notes: STATE.md, report.md, report.json or usage.csv."""
    session.front(incident)
    text = session.workspace.notes.show_file(incident, file)
    if text is None:
        raise NotFoundError(
            f"{incident} has no {safe_text(file, limit=80)}; there is always STATE.md, and after "
            "an investigation report.md, report.json and usage.csv"
        )
    session.screen.page(session.masked(text))


@command.command("search")
@click.argument("text", nargs=-1, required=True, metavar="TEXT...")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@ids_only
@as_json
@pass_session
def search(session: Session, text: tuple[str, ...], limit: int, quiet: bool, as_json: bool) -> None:
    """Find incidents whose notes are like TEXT, best first."""
    from copilot.notes.search import Query, search_notes

    found = search_notes(session.workspace.notes.root, Query(" ".join(text), limit=limit))
    if quiet:
        for one in found:
            session.screen.line(one.incident)
    elif as_json:
        session.screen.document(
            {
                "schema": "copilot.recall/1",
                "found": [
                    {
                        "incident": one.incident,
                        "title": one.title,
                        "status": one.status,
                        "outcome": one.outcome,
                        "verdict": one.verdict,
                        "judgement": one.judgement,
                        "updated": exact(one.updated),
                        "score": round(one.score, 3),
                        "snippet": one.snippet,
                    }
                    for one in found
                ],
            }
        )
    else:
        session.screen.table(
            ("INCIDENT", "UPDATED", "OUTCOME", "LINE"),
            [(one.incident, seconds(one.updated), one.outcome, one.snippet) for one in found],
        )
        session.screen.say(counted(len(found), "incident"))


@command.command("history")
@click.argument("incident", metavar="ID")
@windowed
@as_json
@pass_session
def history(session: Session, incident: str, since: str, until: str, as_json: bool) -> None:
    """Show each change of belief about the incident, newest first."""
    session.front(incident)
    window = window_of(session, since, until) if since or until else None
    commits = [
        one
        for one in session.workspace.notes.history(incident)
        if window is None or window.holds(one.time)
    ]
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.history/1",
                "incident": incident,
                "commits": [_commit_json(one) for one in commits],
            }
        )
        return
    session.screen.table(
        ("COMMIT", "TIME", "BY", "TURN", "CHANGE"),
        [
            (one.name[:SHORT], iso(one.time), one.author, one.trailers.get("Turn", ""), one.subject)
            for one in commits
        ],
    )
    if len(commits) > 1:
        session.screen.say(f"what the last change was: copilot notes diff {incident}")


@command.command("diff")
@click.argument("incident", metavar="ID")
@click.argument("old", default="")
@click.argument("new", default="")
@pass_session
def diff(session: Session, incident: str, old: str, new: str) -> None:
    """Show what changed between two commits of `history`: else in the last one, or since OLD."""
    session.front(incident)
    notes = session.workspace.notes
    commits = notes.history(incident)
    if not new and not commits:
        raise NotFoundError(f"the notes of {incident} have no history yet")
    newer = new or commits[0].name
    if not old and len(commits) == 1:
        session.screen.say(f"{incident} has one commit only, so there is nothing to compare")
        return
    text = notes.diff(incident, old or commits[1].name, newer)
    for line in session.masked(text).splitlines():
        mark = line[:1] if not line.startswith(("+++", "---")) else ""
        session.screen.line((line, "good" if mark == "+" else "bad" if mark == "-" else ""))


def _commit_json(commit: "Commit") -> "JsonObject":
    return {
        "commit": commit.name,
        "time": iso(commit.time),
        "author": commit.author,
        "subject": commit.subject,
        "trailers": dict(commit.trailers),
    }

"""`copilot outbox`: the comments that the copilot proposed; a person approves or rejects each."""

from typing import TYPE_CHECKING

import click

from copilot.cli.options import as_json, ids_only
from copilot.cli.session import Session, pass_session
from copilot.cli.shown import exact, seconds
from copilot.errors import UsageError
from copilot.safe_text import one_line
from copilot.values import JsonObject

if TYPE_CHECKING:
    from copilot.comments import JiraComments
    from copilot.outbox import Draft

STATUSES = ("draft", "approved", "posted", "rejected", "failed")
QUOTE = "| "
"""Before each line of a proposed text, so that none can pass for a line of ours."""


@click.group("outbox")
def command() -> None:
    """List, show, approve and reject the comments that the copilot proposed for tickets."""


@command.command("list")
@click.option("--status", type=click.Choice(STATUSES), help="Only these.")
@click.option("--incident", default="", metavar="ID", help="Only those of this incident.")
@ids_only
@as_json
@pass_session
def list_(session: Session, status: str | None, incident: str, quiet: bool, as_json: bool) -> None:
    """List the drafts, newest first."""
    listing = session.workspace.outbox.listing()
    drafts = [
        draft
        for draft in listing.drafts
        if status in (None, draft.status) and incident in ("", draft.incident)
    ]
    if quiet:
        for draft in drafts:
            session.screen.line(draft.id)
    elif as_json:
        session.screen.document(
            {"schema": "copilot.outbox/1", "drafts": [_draft_json(draft) for draft in drafts]}
        )
    else:
        session.screen.table(
            ("DRAFT", "STATUS", "TICKET", "TRACKER", "INCIDENT", "PROPOSED", "TEXT"),
            [
                (
                    draft.id,
                    draft.status,
                    draft.key,
                    draft.tracker,
                    draft.incident,
                    seconds(draft.proposed),
                    one_line(draft.text, 200),
                )
                for draft in drafts
            ],
        )
        if not drafts:
            session.screen.say("no draft; the copilot proposes where a tracker has `write: true`")
    for name in listing.unreadable:
        session.screen.say((f"cannot be read: {name}.json", "warn"))


@command.command("show")
@click.argument("draft", metavar="DRAFT")
@as_json
@pass_session
def show(session: Session, draft: str, as_json: bool) -> None:
    """Show what approving DRAFT would do: where, and with which words."""
    from copilot.outbox import comment_text, mark_of

    found = session.workspace.outbox.get(draft)
    if as_json:
        session.screen.document({"schema": "copilot.draft/1", **_draft_json(found)})
        return
    for name, value in _facts(session, found).items():
        if value:
            session.screen.line((f"{name}: ", "dim"), one_line(value))
    session.screen.line(("comment:", "dim"))
    session.screen.page(_quoted(f"{comment_text(found)}\n\n{mark_of(found.incident)}"))
    if found.status not in ("posted", "rejected"):
        session.screen.say(f"to post it: copilot outbox approve {found.id}")


@command.command("approve")
@click.argument("draft", metavar="DRAFT")
@click.option("--by", default="", metavar="NAME", help="Who approves; else the user here.")
@click.option("--dry-run", is_flag=True, help="Print the exact body that would be sent.")
@as_json
@pass_session
def approve(session: Session, draft: str, by: str, dry_run: bool, as_json: bool) -> None:
    """Post DRAFT on its ticket, or bring the incident's comment there up to date.

    Done twice, it changes nothing. After a failure or a kill, the same command goes on.
    """
    outbox = session.workspace.outbox
    found = outbox.get(draft)
    if dry_run:
        _print_body(session, found, session.workspace.comments(found.tracker), as_json=as_json)
        return
    decided = outbox.approve(
        draft, _who(session, by), lambda one: session.workspace.comments(one.tracker).post(one)
    )
    if as_json:
        session.screen.document(
            {"schema": "copilot.draft/1", **_draft_json(decided.draft), "done": decided.done}
        )
        return
    session.screen.say(
        f"{found.key}: the comment {decided.draft.comment} was {_said(decided.done)}"
    )


@command.command("reject")
@click.argument("draft", metavar="DRAFT")
@click.option("--by", default="", metavar="NAME", help="Who rejects; else the user here.")
@click.option("--note", default="", help="Why.")
@as_json
@pass_session
def reject(session: Session, draft: str, by: str, note: str, as_json: bool) -> None:
    """Reject DRAFT: it is kept, and never posted."""
    rejected = session.workspace.outbox.reject(draft, _who(session, by), note)
    if as_json:
        session.screen.document({"schema": "copilot.draft/1", **_draft_json(rejected)})
        return
    session.screen.say(f"{rejected.id} is rejected; nothing of it goes to {rejected.key}")


def say_waiting(session: Session, incident: str) -> None:
    """Tell the person which drafts of the incident nobody has decided on."""
    for draft in session.workspace.outbox.listing().drafts:
        if draft.incident == incident and draft.status in ("draft", "approved", "failed"):
            session.screen.say(
                f"a comment for {draft.key} waits for you: copilot outbox show {draft.id}"
            )


def _facts(session: Session, draft: "Draft") -> dict[str, str]:
    """What is known of the draft, and what approving it would do."""
    before = session.workspace.outbox.replaced_by(draft)
    action = f"comment on {draft.key} (project {draft.project}, tracker {draft.tracker})"
    if before:
        action = f"replace the {action} that was posted from {before.id}"
    return {
        "draft": draft.id,
        "status": draft.status,
        "incident": draft.incident,
        "proposed": seconds(draft.proposed),
        "decided": " by ".join(filter(None, (seconds(draft.decided), draft.by))),
        "posted": seconds(draft.posted),
        "why": draft.why,
        "action": action,
    }


def _print_body(
    session: Session, draft: "Draft", comments: "JiraComments", *, as_json: bool
) -> None:
    """Print the body alone to stdout: ADF as JSON for Cloud, wiki text for Data Center."""
    body, link = comments.body(draft), comments.link(draft)
    if as_json:
        preview: JsonObject = {
            "schema": "copilot.comment/1",
            "tracker": draft.tracker,
            "key": draft.key,
            "format": "adf" if isinstance(body, dict) else "wiki",
            "body": body,
            "link": {"globalId": link.mark, "url": link.url, "title": link.title} if link else None,
        }
        session.screen.document(preview)
        return
    session.screen.say(f"nothing is sent; this would be the comment on {draft.key}:")
    if isinstance(body, dict):
        session.screen.document(body)
    else:
        session.screen.page(str(body))
    if link:
        session.screen.say(f"and a link to {link.url}")


def _quoted(text: str) -> str:
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in text.splitlines())


def _said(done: str) -> str:
    return {"made": "made", "edited": "edited in place"}.get(done, "there already, as it should be")


def _who(session: Session, by: str) -> str:
    """The person who decides: as given, else as the machine knows her. Raises UsageError."""
    name = one_line(by or session.environ.get("USER", ""), 100)
    if not name:
        raise UsageError("nobody is known to decide here; say who with --by NAME")
    return name


def _draft_json(draft: "Draft") -> JsonObject:
    return {
        "id": draft.id,
        "incident": draft.incident,
        "tracker": draft.tracker,
        "project": draft.project,
        "key": draft.key,
        "status": draft.status,
        "text": draft.text,
        "proposed": exact(draft.proposed),
        "decided": exact(draft.decided),
        "by": draft.by,
        "posted": exact(draft.posted),
        "comment": draft.comment,
        "why": draft.why,
    }

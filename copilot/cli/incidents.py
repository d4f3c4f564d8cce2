"""`copilot incidents`: the state of work, from the heads of the notes; closing and reopening."""

import json
from typing import TYPE_CHECKING

import click

from copilot.cli import incident_work
from copilot.cli.card import print_card
from copilot.cli.options import as_json, ids_only
from copilot.cli.outbox import say_waiting
from copilot.cli.session import Session, pass_session
from copilot.cli.shown import exact, seconds
from copilot.errors import NotFoundError, UsageError
from copilot.values import JsonObject

if TYPE_CHECKING:
    from copilot.notes.front import Front

STATUSES = ("open", "investigating", "reported", "closed")
JUDGEMENTS = ("right", "wrong", "partly")


@click.group("incidents")
def command() -> None:
    """List, show, watch, cancel, retry, close and reopen incidents."""


for verb in (incident_work.watch, incident_work.cancel, incident_work.retry):
    command.add_command(verb)


@command.command("list")
@click.option("--status", type=click.Choice(STATUSES), help="Only these.")
@click.option("--limit", type=click.IntRange(1), help="Only the newest so many.")
@ids_only
@as_json
@pass_session
def list_(
    session: Session, status: str | None, limit: int | None, quiet: bool, as_json: bool
) -> None:
    """List incidents, last updated first."""
    listing = session.workspace.notes.incidents()
    fronts = [one for one in listing.incidents if status in (None, one.status)][:limit]
    if quiet:
        for front in fronts:
            session.screen.line(front.incident)
    elif as_json:
        session.screen.document(
            {"schema": "copilot.incidents/1", "incidents": [_front_json(one) for one in fronts]}
        )
    else:
        session.screen.table(
            ("INCIDENT", "STATUS", "OUTCOME", "UPDATED", "TITLE"),
            [
                (
                    one.incident,
                    one.status,
                    one.outcome,
                    seconds(one.updated),
                    one.title,
                )
                for one in fronts
            ],
        )
        if not fronts:
            session.screen.say("no incident yet; begin with: copilot investigate ALERT.json")
    for name in listing.unreadable:
        session.screen.say((f"cannot be read: {name}/STATE.md", "warn"))


@command.command("show")
@click.argument("incident", metavar="ID")
@click.option("--turn", type=click.IntRange(1), help="What happened in this turn.")
@click.option("--request", is_flag=True, help="With --turn: the exact request that was sent.")
@as_json
@pass_session
def show(session: Session, incident: str, turn: int | None, request: bool, as_json: bool) -> None:
    """Show the incident ID: its report, or what is known so far."""
    front = session.front(incident)
    if request and turn is None:
        raise UsageError("--request needs --turn N: each turn sends another request")
    if turn is not None:
        from copilot.cli.turns import show_turn

        show_turn(session, incident, turn, request=request, as_json=as_json)
        return
    report, advice = _report(session, incident), _advice(session, incident)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.incident/1",
                "incident": _front_json(front),
                "report": report,
                "advice": [*advice],
            }
        )
        return
    _print_front(session, front)
    session.screen.line()
    if report is None:
        session.screen.page(session.masked(session.workspace.notes.read(incident) or ""))
        session.screen.say(f"no report yet; go on with: copilot investigate {incident}")
    else:
        print_card(session.screen, report)
        session.screen.say(f"the evidence: copilot scratch ls {incident}")
    say_waiting(session, incident)
    for text in advice:
        session.screen.say((f"for the next time, {text}", "warn"))


@command.command("close")
@click.argument("incident", metavar="ID")
@click.option("--verdict", type=click.Choice(JUDGEMENTS), help="Was the report's verdict right?")
@click.option("--cause", default="", help="What it was.")
@click.option("--note", default="", help="What the next person should know.")
@pass_session
def close(session: Session, incident: str, verdict: str | None, cause: str, note: str) -> None:
    """Close the incident ID and say what you think of its verdict; later incidents learn of it."""
    masked = session.masked
    commit = session.workspace.incidents.close(
        incident, judgement=verdict or "", cause=masked(cause), note=masked(note)
    )
    said = "closed" if commit else "was closed already, as you said"
    session.screen.say(f"{incident} {said}; to undo: copilot incidents reopen {incident}")


@command.command("reopen")
@click.argument("incident", metavar="ID")
@click.option("--note", default="", help="Why.")
@pass_session
def reopen(session: Session, incident: str, note: str) -> None:
    """Open the incident ID again."""
    commit = session.workspace.incidents.reopen(incident, note=session.masked(note))
    said = "is open again" if commit else "was open already"
    session.screen.say(f"{incident} {said}; go on with: copilot investigate {incident}")


def _report(session: Session, incident: str) -> JsonObject | None:
    """The incident's report as data, or None. Raises NotFoundError when it is no JSON any more."""
    text = session.workspace.notes.show_file(incident, "report.json")
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NotFoundError(
            f"{incident}/report.json is no longer the report that was written; the text is in "
            f"report.md: copilot notes show {incident} report.md"
        )
    return found


def _advice(session: Session, incident: str) -> list[str]:
    """What to change in the policy, by what the latest investigation had to fetch again."""
    from copilot.context.asked import advice_in

    return [*advice_in(session.workspace.events(incident)).values()]


def _print_front(session: Session, front: "Front") -> None:
    facts = {
        "incident": front.incident,
        "status": front.status,
        "alerts": str(front.alerts),
        "started": seconds(front.started),
        "updated": seconds(front.updated),
        "before": front.previous,
        "judged": " ".join(filter(None, (front.judgement, front.cause, front.note))),
    }
    for name, value in facts.items():
        if value:
            session.screen.line((f"{name}: ", "dim"), value)


def _front_json(front: "Front") -> JsonObject:
    times = {"started": front.started, "updated": front.updated, "closed": front.closed}
    return {
        "incident": front.incident,
        "title": front.title,
        "status": front.status,
        "outcome": front.outcome,
        "verdict": front.verdict,
        "judgement": front.judgement,
        "cause": front.cause,
        "note": front.note,
        "alerts": front.alerts,
        "model": front.model,
        "turns": front.turns,
        "tokens": front.tokens,
        "cost_usd": front.cost_usd,
        "previous": front.previous,
        "labels": dict(front.labels),
        **{name: exact(time) for name, time in times.items()},
    }

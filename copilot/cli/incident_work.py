"""`copilot incidents watch|cancel|retry`: what the running daemon does with incidents."""

import time
from typing import TYPE_CHECKING

import click

from copilot.cli.faults import Stopped
from copilot.cli.session import Session, pass_session
from copilot.cli.shown import seconds
from copilot.errors import NotFoundError
from copilot.values import JsonObject, list_at, text_at

if TYPE_CHECKING:
    from copilot.daemon.client import Client

LOOK_EVERY_S = 1.0
SHOWN = 200


@click.command("watch")
@click.argument("incident", metavar="[ID]", required=False, default="")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print each event as a JSON line.")
@pass_session
def watch(session: Session, incident: str, as_jsonl: bool) -> int:
    """Follow the investigation of the incident ID, or what changes of all of them, until Ctrl-C."""
    from copilot.cli.alerts import needed
    from copilot.cli.handed import watched

    client = needed(session)
    if incident:
        return watched(session, client, _id(incident), as_jsonl)
    _watch_all(session, client, as_jsonl)
    return 0


@click.command("cancel")
@click.argument("incident", metavar="ID")
@click.option("--reason", default="", help="Why.")
@pass_session
def cancel(session: Session, incident: str, reason: str) -> None:
    """Investigate the incident ID no further: at once when it waits, else at its next step."""
    from copilot.cli.alerts import needed

    path = f"/v1/incidents/{_id(incident)}/cancel"
    found = needed(session).post(path, {"reason": session.masked(reason)})
    session.screen.say(
        f"{text_at(found, 'incident')} is cancelled; to go on where it stopped: "
        f"copilot incidents retry {incident}"
    )


@click.command("retry")
@click.argument("incident", metavar="ID")
@pass_session
def retry(session: Session, incident: str) -> None:
    """Go on with the incident ID after its last good step: nothing is paid for twice."""
    from copilot.cli.alerts import needed

    found = needed(session).post(f"/v1/incidents/{_id(incident)}/retry", {})
    session.screen.say(
        f"{text_at(found, 'incident')} is {text_at(found, 'status')}; to follow it: "
        f"copilot incidents watch {incident}"
    )


def _watch_all(session: Session, client: "Client", as_jsonl: bool) -> None:
    """Print each incident when it is new or its state has changed, oldest change first."""
    shown: dict[str, str] = {}
    try:
        while True:
            found = list_at(client.get("/v1/incidents", limit=str(SHOWN)), "incidents")
            for one in reversed(found):
                if isinstance(one, dict) and shown.get(text_at(one, "incident")) != _state(one):
                    shown[text_at(one, "incident")] = _state(one)
                    _print(session, one, as_jsonl)
            time.sleep(LOOK_EVERY_S)
    except KeyboardInterrupt:
        raise Stopped("no longer watching; the daemon goes on", 130) from None


def _print(session: Session, one: JsonObject, as_jsonl: bool) -> None:
    if as_jsonl:
        session.screen.event({"schema": "copilot.incident-state/1", **one})
        return
    reason = f"  ({text_at(one, 'reason')})" if text_at(one, "reason") else ""
    session.screen.line(
        f"{seconds(session.now())}  {text_at(one, 'incident')}  {text_at(one, 'status'):<13} "
        f"{text_at(one, 'severity'):<8} {text_at(one, 'title')}{reason}"
    )


def _state(one: JsonObject) -> str:
    return f"{text_at(one, 'status')} {text_at(one, 'alerts')} {text_at(one, 'runs')}"


def _id(incident: str) -> str:
    """The id as a part of a path. Raises NotFoundError for what can be none."""
    from copilot.notes.folder import INCIDENT

    if not INCIDENT.fullmatch(incident):
        raise NotFoundError(
            f"no such incident: {incident[:80]!r}; "
            "`copilot incidents list` shows those that there are"
        )
    return incident

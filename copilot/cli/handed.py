"""An investigation that the daemon of the workspace runs, followed from here.

What is shown is read from its record, which is on this machine; the daemon is asked only how the
incident stands. Whoever stops following stops nothing.
"""

import json
import time
from typing import TYPE_CHECKING

from copilot.cli import exit_codes
from copilot.cli.card import print_card
from copilot.cli.faults import Stopped
from copilot.cli.follow import Follower, event_json
from copilot.cli.session import Session
from copilot.errors import CopilotError
from copilot.values import JsonObject, text_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from copilot.daemon.client import Client
    from copilot.journal import Event

    Show = Callable[[Event], None]

LOOK_EVERY_S = 0.2
ASK_EVERY_S = 1.0
AT_WORK = frozenset({"waiting", "queued", "running"})


def hand_over(session: Session, client: "Client", body: JsonObject, as_jsonl: bool) -> JsonObject:
    """Have the daemon investigate, follow it, and return the report."""
    found = client.post("/v1/investigations", body)
    incident = text_at(found, "incident")
    how = "goes on there already" if found.get("joined") else "is handed to it"
    session.screen.say(
        f"a daemon runs here (process {client.plate.pid}); the investigation of {incident} {how}"
    )
    return _followed(session, client, incident, as_jsonl)


def watched(session: Session, client: "Client", incident: str, as_jsonl: bool) -> int:
    """Follow an incident's investigation, print its report; what the process leaves with."""
    report = _followed(session, client, incident, as_jsonl)
    if as_jsonl:
        session.screen.event(report)
    else:
        print_card(session.screen, report)
    return exit_codes.OK


def _followed(session: Session, client: "Client", incident: str, as_jsonl: bool) -> JsonObject:
    """Show the investigation until it is over, and return its report. Raises CopilotError."""
    try:
        found = _follow(session, client, incident, _shower(session, as_jsonl))
    except KeyboardInterrupt:
        raise Stopped(
            "no longer following; the daemon goes on. To follow again: "
            f"copilot incidents watch {incident}",
            exit_codes.INTERRUPTED,
        ) from None
    status = text_at(found, "status")
    text = session.workspace.notes.show_file(incident, "report.json")
    if text is None or status in ("failed", "cancelled"):
        reason = text_at(found, "reason") or "no reason is known"
        error = CopilotError(f"{incident} is {status.replace('_', ' ')}: {reason}")
        error.add_note(f"to go on where it stopped: copilot incidents retry {incident}")
        raise error
    report: JsonObject = json.loads(text)
    return report


def _follow(session: Session, client: "Client", incident: str, show: "Show") -> JsonObject:
    """Show each new event until the incident is no longer at work; how it stands then."""
    from copilot.journal import Tail

    workspace = session.workspace
    tails: dict[str, Tail] = {}
    asked = 0.0
    while True:
        for path in workspace.journals(incident)[-1:]:
            tail = tails.setdefault(path.name, Tail(path))
            for event in tail.news():
                show(event)
        if time.monotonic() - asked > ASK_EVERY_S:
            asked = time.monotonic()
            found = client.get(f"/v1/incidents/{incident}")
            if text_at(found, "status") not in AT_WORK:
                break
        time.sleep(LOOK_EVERY_S)
    for tail in tails.values():
        for event in tail.news():
            show(event)
    return found


def _shower(session: Session, as_jsonl: bool) -> "Show":
    """Prints each event: as a line for a person on stderr, or as JSON on stdout."""
    follower = Follower(session.now)

    def show(event: "Event") -> None:
        text, style = follower.take_in(event)
        if as_jsonl:
            session.screen.event(event_json(event))
        else:
            session.screen.say((f"{event.time:%H:%M:%S}  {text}", style))

    return show

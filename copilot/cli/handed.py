"""An investigation that the daemon of the workspace runs, followed from here.

What is shown is read from its record, which is on this machine; the daemon is asked only how the
incident stands. Whoever stops following stops nothing.
"""

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copilot.cli import exit_codes
from copilot.cli.card import print_card
from copilot.cli.faults import Stopped
from copilot.cli.follow import Follower, event_json
from copilot.cli.outbox import say_waiting
from copilot.cli.session import Session
from copilot.errors import CopilotError
from copilot.values import JsonObject, text_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copilot.daemon.client import Client
    from copilot.journal import Event
    from copilot.workspace import Workspace

    Show = Callable[[Event], None]

LOOK_EVERY_S = 0.4
AT_WORK = frozenset({"waiting", "queued", "running"})


def hand_over(session: Session, client: "Client", body: JsonObject, as_jsonl: bool) -> JsonObject:
    """Have the daemon investigate, follow it, and return the report."""
    found = client.post("/v1/investigations", body)
    incident = text_at(found, "incident")
    how = "goes on there already" if found.get("joined") else "is handed to it"
    session.screen.say(
        f"a daemon runs here (process {client.plate.pid}); the investigation of {incident} {how}"
    )
    return _followed(session, client, incident, as_jsonl, text_at(found, "record"))


def watched(session: Session, client: "Client", incident: str, as_jsonl: bool) -> int:
    """Follow an incident's investigation, print its report; what the process leaves with."""
    report = _followed(session, client, incident, as_jsonl)
    if as_jsonl:
        session.screen.event(report)
    else:
        print_card(session.screen, report)
        say_waiting(session, text_at(report, "incident"))
    return exit_codes.OK


def _followed(
    session: Session, client: "Client", incident: str, as_jsonl: bool, record: str = ""
) -> JsonObject:
    """Show the investigation until it is over, and return its report. Raises CopilotError."""
    try:
        found = _follow(session, client, Record(incident, record), _shower(session, as_jsonl))
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
    if status == "waiting_model":
        why = text_at(found, "reason")
        session.screen.say((f"the full report is still to come: {why}", "warn"))
    report: JsonObject = json.loads(text)
    return report


@dataclass(frozen=True, slots=True)
class Record:
    """What is followed: an investigation of that incident; the newest where no file is named."""

    incident: str
    name: str

    def path(self, workspace: "Workspace") -> "Path | None":
        """Its journal, when there is one."""
        if self.name:
            return workspace.journal_path(self.incident, 1).with_name(self.name)
        return next(reversed(workspace.journals(self.incident)), None)


def _follow(session: Session, client: "Client", record: Record, show: "Show") -> JsonObject:
    """Show each new event until the incident is no longer at work; how it stands then."""
    from copilot.journal import Tail

    found = client.get(f"/v1/incidents/{record.incident}")
    is_at_work = text_at(found, "status") in AT_WORK
    tail: Tail | None = None
    while True:
        path = record.path(session.workspace)
        if path and (tail is None or tail.path != path):
            tail = Tail(path)
            past = tail.news()
            if record.name or not (is_at_work and past and past[-1].kind == "ended"):
                for event in past:
                    show(event)
        for event in tail.news() if tail else ():
            show(event)
        if not is_at_work:
            return found
        time.sleep(LOOK_EVERY_S)
        found = client.get(f"/v1/incidents/{record.incident}")
        is_at_work = text_at(found, "status") in AT_WORK


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

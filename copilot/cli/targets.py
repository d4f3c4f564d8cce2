"""What TARGET names: an alert in a file or on stdin, an incident, a ticket, or a workflow."""

import re
import shlex
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from copilot.errors import CopilotError, NotFoundError, UsageError
from copilot.safe_text import one_line
from copilot.window import iso

if TYPE_CHECKING:
    from copilot.cli.session import Session
    from copilot.values import Alert
    from copilot.window import Window
    from copilot.workspace import Workspace

STDIN = "-"
TICKET_KEY = re.compile(r"[A-Z][A-Z0-9_]{1,15}-\d{1,9}")
"""How Jira names a ticket."""


@dataclass(frozen=True, slots=True)
class Known:
    """An incident that there is already."""

    incident: str


def target_of(
    session: "Session", workspace: "Workspace", target: str, question: str
) -> "Alert | Known":
    """What *target* names. Raises UsageError or NotFoundError saying what it could have been."""
    from copilot.intake.payloads import alert_of_ticket, from_words, parse_alert
    from copilot.notes.folder import INCIDENT

    path = session.cwd / target
    if target == STDIN:
        return parse_alert(read_stdin())
    if path.is_file():
        return parse_alert(read_start(path))
    if path.is_dir() and not question:
        raise UsageError(
            f"{one_line(target, 200)} is a folder; name a JSON file with an alert in it"
        )
    if INCIDENT.fullmatch(target):
        return Known(session.front(target).incident)
    for tracker in workspace.trackers.values():
        with suppress(UsageError):  # a key that is out of this tracker's scope
            ticket = tracker.ticket(target, frozenset({"comments"}))
            if ticket:
                return alert_of_ticket(ticket)
    if target.endswith(".json") or "/" in target:
        raise NotFoundError(f"there is no file {one_line(target, 200)!r} with an alert")
    if question:
        return from_words(target, question, None)
    raise _unknown(target)


def _unknown(target: str) -> CopilotError:
    """What to say of a name that nothing here has."""
    asking = (
        f"copilot investigate {shlex.quote(one_line(target, 80))} --question 'Why has it stalled?'"
    )
    if TICKET_KEY.fullmatch(target):
        return NotFoundError(
            f"no ticket {target} was imported; `copilot tickets import FILE...` imports tickets; "
            f"or ask about a workflow of that name: {asking}"
        )
    return UsageError(
        f"{one_line(target, 80)!r} is no alert file, no ticket in a tracker and no incident "
        f"here. To ask about a workflow by its name, add --question: {asking}"
    )


def resolved(workspace: "Workspace", alert: "Alert") -> str:
    """Why a resolved alert is not investigated; empty when it still fires or its incident is open.

    The news that an open incident's alert is resolved belongs to that incident.
    """
    from copilot import alerts

    masked = alerts.redacted(alert, workspace.redactor)
    names = workspace.settings.identity_labels
    if alert.status != "resolved" or workspace.incidents.is_going_on(masked, names):
        return ""
    began = f" (it began {iso(alert.starts_at)})" if alert.starts_at else ""
    known = workspace.incidents.known(masked, names)
    anyway = f"give its incident, {known[-1].incident}" if known else "add --question TEXT"
    return f"the alert is resolved{began}; nothing is investigated. To look into it anyway {anyway}"


def with_window(alert: "Alert", window: "Window") -> "Alert":
    """The alert, starting with the window when it does not say when it started."""
    return replace(alert, starts_at=window.start) if not alert.starts_at else alert


def with_words(question: str, window: "Window") -> str:
    """The question with the window in plain words."""
    if not (window.start or window.end):
        return question
    return f"{question}\nWindow: {window} UTC".strip()


def read_stdin() -> bytes:
    """What stands on stdin, as far as an alert may reach. Raises UsageError when it is closed."""
    from copilot.intake.payloads import MAX_BYTES

    try:
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
    except (OSError, ValueError, AttributeError):  # closed, or never there
        raise UsageError("stdin is closed; give the alert there, or name its file") from None
    return content


def read_start(path: Path) -> bytes:
    """The start of the file, as far as an alert may reach. Raises UsageError."""
    from copilot.intake.payloads import MAX_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None

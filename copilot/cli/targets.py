"""What TARGET names: an alert in a file or on stdin, an incident, a ticket, or a workflow."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from copilot.errors import NotFoundError, UsageError
from copilot.safe_text import safe_text

if TYPE_CHECKING:
    from copilot.cli.session import Session
    from copilot.values import Alert
    from copilot.window import Window
    from copilot.workspace import Workspace

STDIN = "-"


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
        return parse_alert(_stdin())
    if path.is_file():
        return parse_alert(_start_of(path))
    if INCIDENT.fullmatch(target) and workspace.notes.front(target):
        return Known(target)
    for tracker in workspace.trackers.values():
        ticket = tracker.ticket(target, frozenset({"comments"}))
        if ticket:
            return alert_of_ticket(ticket)
    if target.endswith(".json") or "/" in target:
        raise NotFoundError(f"there is no file {safe_text(target, limit=200)!r} with an alert")
    if question:
        return from_words(target, question, None)
    raise UsageError(
        f"{safe_text(target, limit=80)!r} is no alert file, no ticket in a tracker and no incident "
        "here. To ask about a workflow by its name, add --question: "
        f"copilot investigate {safe_text(target, limit=80)} --question 'Why has it stalled?'"
    )


def with_window(alert: "Alert", window: "Window") -> "Alert":
    """The alert, starting with the window when it does not say when it started."""
    return replace(alert, starts_at=window.start) if not alert.starts_at else alert


def with_words(question: str, window: "Window") -> str:
    """The question with the window in plain words."""
    if not (window.start or window.end):
        return question
    return f"{question}\nWindow: {window} UTC".strip()


def _stdin() -> bytes:
    from copilot.intake.payloads import MAX_BYTES

    try:
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
    except (OSError, ValueError, AttributeError):  # closed, or never there
        raise UsageError("stdin is closed; give the alert there, or name its file") from None
    return content


def _start_of(path: Path) -> bytes:
    from copilot.intake.payloads import MAX_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None

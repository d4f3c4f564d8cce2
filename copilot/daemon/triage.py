"""The report while the model cannot be asked: what rules find, marked as such, within a minute.

It costs nothing, has a record of its own, and is replaced by the full investigation's report.
"""

import logging
from dataclasses import replace
from pathlib import Path

from copilot import app, assembly
from copilot.daemon.first_alert import first_alert
from copilot.errors import CopilotError
from copilot.inbox.inbox import Inbox
from copilot.journal import read_events
from copilot.workspace import Workspace

LOG = logging.getLogger(__name__)
TURNS = 12


def triage(workspace: Workspace, inbox: Inbox, incident: str, reason: str) -> bool:
    """Write the triage report of *incident*, once; whether it is there now.

    *reason* is why there is no other yet. What goes wrong is in the log, and may be tried again.
    """
    try:
        if not is_triaged(workspace, incident):
            _triage(workspace, inbox, incident, reason)
    except (CopilotError, OSError) as error:
        LOG.warning("triage failed", extra={"incident": incident, "why": str(error)})
        return False
    return True


def _triage(workspace: Workspace, inbox: Inbox, incident: str, reason: str) -> None:
    wishes = app.Wishes(
        record=_record(workspace, incident),
        notice=f"Offline triage by rules, not a language model: {reason}. "
        "The full investigation is queued and will replace this report.",
    )
    alert = first_alert(workspace, inbox, incident)
    offline = workspace.with_run(
        replace(workspace.run_options, model=assembly.OFFLINE, turns=TURNS)
    )
    app.investigate_incident(offline, incident, alert, wishes)


def is_triaged(workspace: Workspace, incident: str) -> bool:
    """Whether the incident's latest investigation has a triage report already."""
    record = _record(workspace, incident)
    return record.exists() and any(event.kind == "ended" for event in read_events(record))


def _record(workspace: Workspace, incident: str) -> Path:
    name = app.record_for(workspace, incident, "").stem
    return workspace.journal_path(incident, 1).with_name(f"{name}-triage.jsonl")

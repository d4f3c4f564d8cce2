"""The alert that an incident began with, wherever it is kept."""

from copilot import alerts
from copilot.inbox.inbox import Inbox
from copilot.values import Alert, object_at
from copilot.workspace import Workspace

TEXT_CHARACTERS = 8_000


def first_alert(workspace: Workspace, inbox: Inbox, incident: str) -> Alert:
    """The incident's first alert: the inbox has it, or else its record, or else its notes.

    The inbox has none of an incident that the command line began or that was adopted.
    """
    if stored := inbox.alerts(incident, limit=1):
        return alerts.from_json(stored[0].alert)
    if events := workspace.events(incident):
        return alerts.from_json(object_at(events[0].data, "alert"))
    state = workspace.notes.state(incident)
    if state is None:
        return Alert(source="notes", title=incident, text="")
    front = state.front
    return Alert(
        source="notes",
        title=front.title,
        text=state.alert[:TEXT_CHARACTERS],
        labels=front.labels,
        starts_at=front.started,
    )

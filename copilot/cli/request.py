"""The exact request that an investigation sends: the next one, or that of a past turn."""

from typing import TYPE_CHECKING

from copilot.cli.targets import Known
from copilot.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copilot.journal import Event
    from copilot.values import Alert, JsonObject
    from copilot.workspace import Workspace

NOT_OPENED = "inc-not-opened"
"""Stands for the incident that an alert would open."""


def next_request(workspace: "Workspace", found: "Alert | Known", question: str) -> "JsonObject":
    """The body of the next request for an incident, or of the first one for an alert."""
    from copilot import alerts, assembly, surface
    from copilot.journal import Event
    from copilot.ledger import Ledger

    if isinstance(found, Known):
        return _body(workspace, workspace.events(found.incident))
    alert = alerts.redacted(found, workspace.redactor)
    case = assembly.case_for(workspace, NOT_OPENED, alert, question, Ledger())
    remote = surface.definitions_of_servers(surface.described(workspace))
    begun = assembly.started(workspace, case, remote)
    return _body(workspace, [Event(1, workspace.now(), "started", 0, begun)])


def request_of(workspace: "Workspace", events: "Sequence[Event]", turn: int) -> "JsonObject":
    """The body of the last request that *turn* sent. Raises NotFoundError when there is none."""
    from copilot.values import text_at

    sent = [event for event in events if event.kind == "request" and event.turn == turn]
    if not sent:
        turns = max((event.turn for event in events if event.kind == "request"), default=0)
        raise NotFoundError(f"turn {turn} sent no request; there are turns 1 to {turns}")
    max_tokens = int(text_at(sent[-1].data, "max_tokens") or 0)
    return _body(workspace, events[: sent[-1].seq - 1], max_tokens or None)


def _body(
    workspace: "Workspace", events: "Sequence[Event]", max_tokens: int | None = None
) -> "JsonObject":
    from copilot import assembly, surface
    from copilot.context.request import build
    from copilot.context.view import View
    from copilot.ledger import Ledger

    if not events:
        raise NotFoundError("this incident was never investigated, so there is no request")
    frame = assembly.frame_for(workspace, surface.described(workspace, events[0].data))
    support = Ledger(events).support
    return build(View(events), frame, support, max_tokens=max_tokens).body()

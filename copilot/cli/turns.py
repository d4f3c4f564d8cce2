"""One turn of an investigation, from its journal: what was asked, answered and found."""

from typing import TYPE_CHECKING

from copilot.cli.follow import event_json
from copilot.cli.request import request_of
from copilot.cli.session import Session
from copilot.cli.ui import Part
from copilot.errors import NotFoundError
from copilot.values import canonical, object_at, text_at
from copilot.window import iso

if TYPE_CHECKING:
    from copilot.journal import Event


def show_turn(session: Session, incident: str, turn: int, *, request: bool, as_json: bool) -> None:
    """Print the turn's events, or the exact request that it sent. Raises NotFoundError."""
    events = session.workspace.events(incident)
    if not events:
        raise NotFoundError(
            f"{incident} was never investigated here; begin with: copilot investigate {incident}"
        )
    if request:
        begun = events[0].data
        workspace = session.open(
            {"model.name": text_at(begun, "model"), "policy": text_at(begun, "policy")}
        )
        session.screen.document(request_of(workspace, events, turn))
        return
    found = [event for event in events if event.turn == turn]
    if not found:
        raise NotFoundError(f"{incident} has turns 1 to {events[-1].turn}, but no turn {turn}")
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.turn/1",
                "incident": incident,
                "turn": turn,
                "events": [event_json(event) | {"data": event.data} for event in found],
            }
        )
        return
    for event in found:
        _print(session, event)
    session.screen.say(
        f"the exact request: copilot incidents show {incident} --turn {turn} --request"
    )


def _print(session: Session, event: "Event") -> None:
    screen, data = session.screen, event.data
    when: Part = (f"{iso(event.time)} ", "dim")
    match event.kind:
        case "request":
            sizes = ", ".join(f"{name} {size}" for name, size in object_at(data, "bytes").items())
            screen.line(when, ("request", "title"), f"  about {text_at(data, 'estimate')} tokens")
            screen.line((f"bytes: {sizes}", "dim"), indent=2)
        case "response":
            from copilot.models.model import Response

            response = Response(data["raw"])  # type: ignore[arg-type]  # their JSON, as received
            screen.line(when, ("answer", "title"), f"  {text_at(data, 'stop_reason')}")
            for line in response.text.splitlines():
                screen.line(line, indent=2)
            for call in response.tool_calls:
                arguments = call.input if isinstance(call.input, str) else canonical(call.input)
                screen.line(f"{call.name} {arguments}", indent=2)
        case "result":
            screen.line(when, (text_at(data, "tool"), "title"), f"  {text_at(data, 'handle')}")
            screen.line(text_at(data, "text"), indent=2)
        case _:
            said = " ".join(text_at(data, key) for key in ("why", "text", "commit", "author"))
            screen.line(when, (event.kind, "title"), f"  {said.strip()}")

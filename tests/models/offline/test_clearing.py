"""The offline investigator when a policy takes old results out of its requests."""

from pathlib import Path

import pytest

from copilot.journal import Event
from copilot.models.model import Request
from copilot.models.offline import OfflineModel
from copilot.models.offline.transcript import MARK
from copilot.values import Json, JsonObject, list_at, object_at, text_at

from .made_up import MadeUp, catalogue, empty_list, full_disk, json_lines
from .test_made_up import investigated

CLEARED = "[cleared to save room; read it again by its handle]"


def last_request(events: tuple[Event, ...]) -> Request:
    """The request that the report answered, with every older result cleared."""
    last = max(event.turn for event in events if event.kind == "response")
    messages: list[JsonObject] = []
    tools: set[str] = set()
    for event in events:
        if event.kind == "started":
            block: JsonObject = {"type": "text", "text": text_at(event.data, "message")}
            messages.append({"role": "user", "content": [block]})
        elif event.kind == "response" and event.turn < last:
            content = list_at(object_at(event.data, "raw"), "content")
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": []}]
        elif event.kind == "result":
            tools.add(text_at(event.data, "tool"))
            if event.turn < last:
                text = text_at(event.data, "text") if event.turn == last - 1 else CLEARED
                results: list[Json] = list_at(messages[-1], "content")
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": text_at(event.data, "call"),
                        "content": text,
                    }
                )
    definitions = tuple({"name": name} for name in sorted(tools))
    return Request("offline", (), definitions, tuple(messages), 4000)


@pytest.mark.parametrize(
    "incident",
    [full_disk(), json_lines(), catalogue(), empty_list()],
    ids=lambda item: item.name,
)
def test_what_was_cleared_is_still_known(incident: MadeUp, tmp_path: Path) -> None:
    workspace, ending, report = investigated(incident, tmp_path)
    request = last_request(workspace.events(ending.incident))
    response = OfflineModel().respond(request)
    call = next(call for call in response.tool_calls if call.name == "submit_report")
    assert isinstance(call.input, dict)
    cause = text_at(call.input["cause"], "claim")
    assert cause.partition(".")[0] == text_at(object_at(report, "cause"), "claim").partition(".")[0]


def test_each_turn_keeps_what_the_one_before_was_told(tmp_path: Path) -> None:
    workspace, ending, _ = investigated(full_disk(), tmp_path)
    texts = [
        text_at(block, "text")
        for event in workspace.events(ending.incident)
        if event.kind == "response"
        for block in list_at(object_at(event.data, "raw"), "content")
        if text_at(block, "type") == "text"
    ]
    assert MARK not in texts[0]
    assert all(MARK in text for text in texts[1:])

"""The offline investigator as a model: pure, bounded, and polite about what it gets."""

import json

import pytest

from copilot.models.model import Request, verdict
from copilot.models.offline import OfflineModel
from copilot.prompt import first_message, limit_message
from copilot.report.values import Report
from copilot.values import Json, JsonObject

TOOLS = tuple(
    {"name": name, "description": "", "input_schema": {"type": "object"}}
    for name in ("logbook_overview", "search_logbook", "search_incidents", "submit_report")
)


def request(*messages: JsonObject, closed: bool = False, logbooks: int = 1) -> Request:
    """A request that opens an investigation and goes on with *messages*."""
    text = first_message(
        {"title": "JobStalled: job_4711_22 stopped", "text": "", "labels": {}},
        incident="inc-1",
        question="",
        sources={"logbooks": [{"name": f"logs{n}"} for n in range(logbooks)]},
        history={},
    )
    first = {"role": "user", "content": [{"type": "text", "text": text}]}
    choice = {"type": "none"} if closed else None
    return Request("offline", (), TOOLS, (first, *messages), 4000, tool_choice=choice)


def answered(first: Request, text: str) -> tuple[JsonObject, JsonObject]:
    """The model's first turn, and *text* as the result of each of its calls."""
    response = OfflineModel().respond(first)
    results: list[Json] = [
        {"type": "tool_result", "tool_use_id": call.id, "content": text}
        for call in response.tool_calls
    ]
    return (
        {"role": "assistant", "content": list(response.content)},
        {"role": "user", "content": results},
    )


def test_the_same_request_gets_the_same_bytes() -> None:
    once, again = OfflineModel().respond(request()), OfflineModel().respond(request())
    assert json.dumps(once.raw) == json.dumps(again.raw)


def test_the_first_turn_asks_for_statistics() -> None:
    response = OfflineModel().respond(request())
    assert verdict(response) == "tools"
    assert response.tool_calls[0].name == "logbook_overview"


def test_without_tools_the_answer_is_a_report_as_text() -> None:
    said: JsonObject = {
        "role": "user",
        "content": [{"type": "text", "text": limit_message("turns")}],
    }
    response = OfflineModel().respond(request(said, closed=True))
    assert verdict(response) == "done"
    assert Report.model_validate_json(response.text).verdict == "inconclusive"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON at all",
        "[cleared to save room]",
        '{"ok":false,"tool":"x","hint":"the index is locked"}',
        '{"ok":true,"rows":[1,null,{"ref":5,"source":{},"message":[]}],"facts":{"buckets":"no"}}',
    ],
)
def test_an_answer_that_cannot_be_read_ends_no_investigation(text: str) -> None:
    messages: list[JsonObject] = []
    for _ in range(14):
        current = request(*messages)
        response = OfflineModel().respond(current)
        if any(call.name == "submit_report" for call in response.tool_calls):
            return
        messages += [
            {"role": "assistant", "content": list(response.content)},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call.id, "content": text}
                    for call in response.tool_calls
                ],
            },
        ]
    pytest.fail("no report after 14 turns")


def test_an_answer_is_never_asked_for_twice_by_a_step() -> None:
    first = request()
    second = OfflineModel().respond(request(*answered(first, '{"ok":true,"total":0}')))
    assert not {c.id for c in second.tool_calls} & {
        c.id for c in OfflineModel().respond(first).tool_calls
    }


def test_no_logbook_at_all_still_ends_in_a_report() -> None:
    messages = answered(request(logbooks=0), '{"ok":true,"total":0,"complete":true}')
    response = OfflineModel().respond(request(*messages, logbooks=0))
    report = next(call.input for call in response.tool_calls if call.name == "submit_report")
    assert isinstance(report, dict)
    assert report["verdict"] == "inconclusive"

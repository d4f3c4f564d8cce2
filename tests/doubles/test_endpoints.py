"""The double as other endpoints: gateways that refuse edits, local servers that ignore them."""

import pytest

from tests.doubles.conversation import MODEL, SEARCH, assistant, body, rounds, user
from tests.doubles.messages_api import Json, Options, Refusal, says
from tests.doubles.messages_api.service import Service

CLEARING, SUMMARIZE = "context-management-2025-06-27", "compact-2026-09-04"
WISH = {
    "edits": [{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 1}}]
}
BLOCK = {"type": "compaction", "content": "SUMMARY"}


def service(options: Options) -> Service:
    """A service that always has an answer."""
    made = Service(options)
    made.responder = lambda _view: says("ok")
    return made


def test_a_gateway_that_refuses_edits_names_them_whatever_the_beta() -> None:
    gateway = service(Options(now=lambda: 0.0, edits="refused"))

    with pytest.raises(Refusal, match="context_management: Extra inputs are not permitted"):
        gateway.answer(body(context_management=WISH), frozenset({CLEARING}))
    with pytest.raises(Refusal, match="compaction: Extra inputs are not permitted"):
        gateway.answer(body(compaction={"type": "summarize"}), frozenset({SUMMARIZE}))
    with pytest.raises(Refusal, match="Input tag 'compaction'"):
        gateway.answer(body(assistant(BLOCK), user("Go on.")), frozenset({SUMMARIZE}))
    assert gateway.answer(body(), frozenset())


def test_a_server_that_ignores_edits_reports_none_and_forgets_summaries() -> None:
    server = service(Options(now=lambda: 0.0, edits="ignored"))
    views: list[Json] = []
    server.responder = lambda view: views.append(view) or says("ok")  # type: ignore[func-returns-value] # both in one line

    request = body(*rounds(6), context_management=WISH, top_k=1)
    message, _ = server.answer(request, frozenset({CLEARING, "no-such-beta"}))
    server.answer(body(user("Why?"), assistant(BLOCK), user("Go on.")), frozenset())

    assert "context_management" not in message
    assert views[0]["messages"] == request["messages"]
    assert views[1]["messages"] == [user("Why?"), user("Go on.")]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"max_tokens": 5}, None),
        ({"model": "claude-haiku-5-5"}, "model_changed"),
        ({"system": "Be brief."}, "system_changed"),
        ({"tools": [SEARCH]}, "tools_changed"),
        ({"messages": [user("Another question")]}, "messages_changed"),
        ({"context_management": WISH}, "unavailable"),
        ({"diagnostics": {"previous_message_id": "msg_9"}}, "previous_message_not_found"),
    ],
    ids=str,
)
def test_diagnostics_name_what_changed(changes: Json, reason: str | None) -> None:
    made = service(Options(now=lambda: 0.0))
    first, _ = made.answer(body(diagnostics={"previous_message_id": None}), frozenset())
    asked = body(user("Why is it stuck?"), assistant("x"), user("y"))
    asked = {**asked, "diagnostics": {"previous_message_id": first["id"]}, **changes}

    second, _ = made.answer(asked, frozenset({CLEARING}))

    assert first["diagnostics"] is None
    assert first["model"] == MODEL
    found = second["diagnostics"]
    assert (found and found["cache_miss_reason"]["type"]) == reason

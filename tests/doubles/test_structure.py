"""The double refuses each conversation that the service refuses, and takes its right neighbour."""

import pytest

from tests.doubles.conversation import MODEL, body, call, result, text, user
from tests.doubles.conversation import assistant as said
from tests.doubles.messages_api import Json, Options, Refusal
from tests.doubles.messages_api.service import Service

OPEN_CALL = "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"
NO_CALL = "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9"
EMPTY = "messages: text content blocks must be non-empty"
PREFILL = "The conversation must end with a user message."
ASKED = user("Why?")


def take(request: Json, *betas: str) -> Json:
    """Return the double's answer to *request*. Raises Refusal."""
    service = Service(Options(now=lambda: 0.0))
    service.responder = lambda _view: {"content": [text("ok")]}
    message, _ = service.answer(request, frozenset(betas))
    return message


WRONG: dict[str, tuple[list[Json], str]] = {
    "nothing said": ([], "messages: at least one message is required"),
    "assistant first": ([said("Hi"), ASKED], 'first message must use the "user" role'),
    "assistant last": ([ASKED, said("It is")], PREFILL),
    "an unknown role": ([{"role": "tool", "content": "x"}], "messages.0.role"),
    "an extra field": ([{**ASKED, "id": 1}], "messages.0.id: Extra inputs are not permitted"),
    "an empty message": ([user("")], "must have non-empty content"),
    "an empty list": ([{"role": "user", "content": []}], "must have non-empty content"),
    "content of a wrong type": ([{"role": "user", "content": 1}], "valid list or string"),
    "an empty text": ([user(text(""))], EMPTY),
    "a blank text": ([user(text(" \n"))], EMPTY),
    "an open call": ([ASKED, said(call("toolu_1")), user("and?")], OPEN_CALL),
    "an open call at the end": ([ASKED, said(call("toolu_1"))], OPEN_CALL),
    "text before the result": (
        [ASKED, said(call("toolu_1")), user(text("see"), result("toolu_1"))],
        OPEN_CALL,
    ),
    "half of a parallel batch": (
        [ASKED, said(call("toolu_2"), call("toolu_1")), user(result("toolu_2"))],
        OPEN_CALL,
    ),
    "a batch answered in two turns": (
        [
            ASKED,
            said(call("toolu_2"), call("toolu_1")),
            user(result("toolu_2")),
            said("hm"),
            user(result("toolu_1")),
        ],
        OPEN_CALL,
    ),
    "a result for no call": (
        [ASKED, said(call("toolu_1")), user(result("toolu_1"), result("toolu_9"))],
        NO_CALL,
    ),
    "a result whose call was cut away": ([user(result("toolu_1"))], "unexpected `tool_use_id`"),
    "two results for one call": (
        [ASKED, said(call("toolu_1")), user(result("toolu_1"), result("toolu_1"))],
        "each tool_use must have a single result",
    ),
    "one id for two calls": (
        [ASKED, said(call("toolu_1"), call("toolu_1")), user(result("toolu_1"))],
        "`tool_use` ids must be unique",
    ),
    "an unknown block": ([user({"type": "log"})], "messages.0.content.0: Input tag 'log'"),
    "a null field": (
        [ASKED, said(text("x", citations=None)), ASKED],
        "messages.1.content.0.text.citations: Extra inputs are not permitted",
    ),
    "an input that is a text": (
        [ASKED, said({**call("toolu_1"), "input": "{"}), user(result("toolu_1"))],
        "tool_use.input: Input should be a valid dictionary",
    ),
    "a call of a bad name": (
        [ASKED, said(call("toolu_1", "a b")), user(result("toolu_1"))],
        "tool_use.name",
    ),
    "an empty text in a result": (
        [ASKED, said(call("toolu_1")), user({**result("toolu_1"), "content": [text("")]})],
        EMPTY,
    ),
    "a call by the user": ([user(call("toolu_1"))], "not allowed in `user` messages"),
    "a result by the assistant": ([ASKED, said(result("toolu_1"))], "not allowed in `assistant`"),
    "a document by the assistant": (
        [ASKED, said({"type": "document", "source": {}}), ASKED],
        "`document` blocks are not allowed in `assistant`",
    ),
    "citations by the user": ([user(text("x", citations=[{}]))], "text.citations"),
    "a system message first": ([{"role": "system", "content": "x"}, ASKED], "first message"),
    "a system message after an answer": (
        [ASKED, said("x"), {"role": "system", "content": "x"}, ASKED],
        "must follow a user message",
    ),
    "a system message inside a tool round": (
        [ASKED, said(call("toolu_1")), {"role": "system", "content": "x"}, user(result("toolu_1"))],
        "must follow a user message",
    ),
}

RIGHT: dict[str, list[Json]] = {
    "one question": [ASKED],
    "neighbours of one role are one turn": [ASKED, user("And why now?")],
    "a parallel batch, results first": [
        ASKED,
        said(text("Looking"), call("toolu_1"), call("toolu_2")),
        user(result("toolu_2"), result("toolu_1", is_error=True), text("Go on.")),
    ],
    "a batch whose results are split over neighbours": [
        ASKED,
        said(call("toolu_1"), call("toolu_2")),
        user(result("toolu_1")),
        user(result("toolu_2")),
    ],
    "control characters": [user("\x00 \x1b[31m \x85 \ufeff \u2028")],
    "a system message after the user": [ASKED, {"role": "system", "content": "Be brief."}],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_conversation_is_refused(name: str) -> None:
    messages, refusal = WRONG[name]

    with pytest.raises(Refusal) as caught:
        take({**body(), "messages": messages})

    assert refusal in caught.value.message
    assert caught.value.status == 400


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_conversation_is_answered(name: str) -> None:
    assert take(body(*RIGHT[name]))["stop_reason"] == "end_turn"


def test_older_models_let_the_answer_be_begun() -> None:
    assert take(body(ASKED, said("It is"), model="claude-haiku-4-5-20251001"))["content"]


def test_a_paused_turn_may_be_sent_back_as_it_was_and_only_so() -> None:
    service = Service(Options(now=lambda: 0.0))
    service.script.extend([{"content": [text("Wait")], "stop_reason": "pause_turn"}] * 2)
    paused, _ = service.answer(body(ASKED), frozenset())
    service.script.extend([{"content": [text("done")]}])

    with pytest.raises(Refusal, match="must end with a user message"):
        service.answer(body(ASKED, said(text("Wait!"))), frozenset())
    answer, _ = service.answer(body(ASKED, said(*paused["content"])), frozenset())

    assert answer["model"] == MODEL

"""A request that the service would refuse is refused at home, with the rule in words."""

import pytest

from copilot.context.validate import InvalidRequestError, check
from copilot.errors import ModelError
from copilot.models.model import Json, Request

USE: Json = {"type": "tool_use", "id": "t1", "name": "a", "input": {}}
RESULT: Json = {"type": "tool_result", "tool_use_id": "t1", "content": "{}"}
TEXT: Json = {"type": "text", "text": "x"}


def request(*messages: tuple[str, list[Json]]) -> Request:
    """A request with these messages."""
    return Request(
        model="m",
        system=(),
        tools=(),
        messages=tuple({"role": role, "content": content} for role, content in messages),
        max_tokens=100,
    )


def test_a_well_formed_conversation_passes() -> None:
    check(
        request(("user", [TEXT]), ("assistant", [USE]), ("user", [RESULT, TEXT])),
        window=10_000,
        estimate=10,
    )


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([], "first message"),
        ([("assistant", [TEXT])], "first message"),
        ([("user", [TEXT]), ("user", [TEXT])], "repeats the role"),
        ([("user", [TEXT]), ("assistant", [TEXT])], "last message"),
        ([("user", [TEXT]), ("assistant", [USE]), ("user", [TEXT])], "answers calls"),
        ([("user", [TEXT]), ("assistant", [USE]), ("user", [TEXT, RESULT])], "text before"),
        ([("user", [RESULT])], "answers calls"),
        ([("user", [TEXT]), ("assistant", [USE]), ("user", [RESULT, RESULT])], "answers calls"),
        ([("user", [{"type": "text", "text": ""}])], "empty block"),
        ([("user", [])], "empty block"),
    ],
)
def test_a_broken_conversation_is_refused_naming_the_rule(
    messages: list[tuple[str, list[Json]]], rule: str
) -> None:
    with pytest.raises(InvalidRequestError, match=rule):
        check(request(*messages), window=10_000, estimate=10)


def test_a_paused_answer_is_sent_back_as_it_is() -> None:
    check(request(("user", [TEXT]), ("assistant", [TEXT])), window=10_000, estimate=10, paused=True)


def test_a_request_that_leaves_no_room_for_the_answer_is_refused_with_numbers() -> None:
    with pytest.raises(ModelError, match=r"9950 tokens and asks for 100 more; m takes 10000"):
        check(request(("user", [TEXT])), window=10_000, estimate=9950)

"""Thinking is bound to what came before it, as on the newest models."""

import pytest

from tests.doubles.conversation import MODEL, SEARCH, assistant, body, result, text, user
from tests.doubles.messages_api import Json, Options, Refusal, calls, says, thinks
from tests.doubles.messages_api.service import Service

ASKED = user("Why is it stuck?")
BINDING = "thinking-binding-controls-2026-08-01"
OTHER = "The block is bound to a different conversation."
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def investigated(service: Service, count: int = 2, **changes: object) -> list[Json]:
    """The messages of so many tool rounds, each with its thinking."""
    messages = [ASKED]
    for number in range(count):
        reply = thinks(f"thought {number}", calls(("search", {"query": str(number)})))
        service.script.append(reply)
        answer, _ = service.answer(body(*messages, **changes), frozenset())
        messages.append(assistant(*answer["content"]))
        messages.append(user(result(answer["content"][-1]["id"], f"hit {number}")))
    return messages


@pytest.fixture
def service() -> Service:
    """A service that always has an answer."""
    service = Service(Options(now=lambda: 0.0))
    service.responder = lambda _view: says("ok")
    return service


def test_an_untouched_conversation_goes_on(service: Service) -> None:
    messages = investigated(service, 3)

    assert service.answer(body(*messages), frozenset())


def test_another_double_knows_the_signatures(service: Service) -> None:
    messages = investigated(service, 3)
    other = Service(Options(now=lambda: 0.0))
    other.responder = lambda _view: says("ok")

    assert other.answer(body(*messages), frozenset())


def test_cache_marks_length_and_effort_may_change(service: Service) -> None:
    messages = investigated(service)
    marked = messages[-1]["content"][0] | {"cache_control": {"type": "ephemeral"}}
    changed = body(
        *messages[:-1], user(marked), max_tokens=9, output_config={"effort": "low"},
        tool_choice={"type": "none"},
    )  # fmt: skip

    assert service.answer(changed, frozenset())


def test_a_result_cut_short_by_the_client_breaks_the_binding(service: Service) -> None:
    messages = investigated(service)
    messages[2] = user({**messages[2]["content"][0], "content": "[cut]"})

    with pytest.raises(Refusal, match=OTHER) as caught:
        service.answer(body(*messages), frozenset())

    assert caught.value.message.startswith("messages.3.content.0: Invalid `signature`")


@pytest.mark.parametrize(
    "changes", [{"system": "Be brief."}, {"tools": [SEARCH]}], ids=["system", "tools"]
)
def test_another_system_prompt_or_tool_set_breaks_the_binding(
    service: Service, changes: Json
) -> None:
    messages = investigated(service)

    with pytest.raises(Refusal, match=OTHER):
        service.answer(body(*messages, **changes), frozenset())


def test_a_turn_left_out_breaks_the_binding(service: Service) -> None:
    messages = investigated(service, 3)

    with pytest.raises(Refusal, match=OTHER):
        service.answer(body(ASKED, *messages[3:]), frozenset())


def test_leading_thinking_may_be_left_out_and_later_may_not(service: Service) -> None:
    messages = investigated(service, 3)

    def without(number: int) -> list[Json]:
        content = messages[number]["content"][1:]
        return [*messages[:number], assistant(*content), *messages[number + 1 :]]

    assert service.answer(body(*without(1)), frozenset())
    with pytest.raises(Refusal, match=OTHER):
        service.answer(body(*without(3)), frozenset())


def test_blocks_may_be_dropped_instead_when_the_request_says_so(service: Service) -> None:
    messages = investigated(service)
    messages[2] = user({**messages[2]["content"][0], "content": "[cut]"})

    answer, _ = service.answer(body(*messages, thinking=DROP), frozenset({BINDING}))

    assert answer["input_transformations"][0]["count"] == 1
    with pytest.raises(Refusal, match="block_binding: Extra inputs are not permitted"):
        service.answer(body(*messages, thinking=DROP), frozenset())


def test_the_thinking_of_an_open_tool_round_cannot_be_left_out(service: Service) -> None:
    messages = investigated(service, 1)
    messages[1] = assistant(*messages[1]["content"][1:])

    with pytest.raises(Refusal, match="latest assistant message cannot be modified"):
        service.answer(body(*messages), frozenset())


def test_thinking_cannot_be_edited(service: Service) -> None:
    messages = investigated(service, 2)
    last = messages[3]["content"]
    edited = [{**last[0], "thinking": "something else"}, *last[1:]]

    with pytest.raises(Refusal, match="latest assistant message cannot be modified"):
        service.answer(body(*messages[:3], assistant(*edited), messages[4]), frozenset())


def test_a_forged_signature_is_refused(service: Service) -> None:
    forged = {"type": "thinking", "thinking": "x", "signature": "abc"}

    with pytest.raises(Refusal, match="Invalid `signature` in `thinking` block"):
        service.answer(body(ASKED, assistant(forged, text("so")), ASKED), frozenset())


def test_older_models_do_not_bind_thinking_to_the_prefix(service: Service) -> None:
    older: Json = {"model": "claude-opus-4-8", "thinking": {"type": "adaptive"}}
    messages = investigated(service, **older)
    messages[2] = user({**messages[2]["content"][0], "content": "[cut]"})

    assert service.answer(body(*messages, **older), frozenset())


def test_thinking_of_another_model_is_dropped_without_a_word(service: Service) -> None:
    messages = investigated(service)
    messages[0] = user("Another question")

    assert service.answer(body(*messages, model="claude-haiku-5-5"), frozenset())


@pytest.mark.parametrize(
    ("model", "thinking", "taken"),
    [
        (MODEL, {"type": "adaptive"}, True),
        (MODEL, {"type": "disabled"}, False),
        (MODEL, {"type": "enabled", "budget_tokens": 2000}, False),
        ("claude-fable-5-1", {"type": "disabled"}, False),
        ("claude-sonnet-5-5", {"type": "between_tools"}, True),
        ("claude-haiku-5-5", {"type": "between_tools"}, False),
        ("claude-opus-4-8", {"type": "enabled", "budget_tokens": 2000}, False),
        ("claude-opus-4-6", {"type": "enabled", "budget_tokens": 2000}, True),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 1000}, False),
        ("claude-haiku-4-5", {"type": "adaptive"}, False),
    ],
)
def test_each_model_has_its_kinds_of_thinking(
    service: Service, model: str, thinking: Json, *, taken: bool
) -> None:
    request = body(model=model, thinking=thinking)

    if taken:
        assert service.answer(request, frozenset())
    else:
        with pytest.raises(Refusal, match="thinking"):
            service.answer(request, frozenset())

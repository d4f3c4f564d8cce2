"""Both kinds of compaction, applied, billed, and refused where the service refuses them."""

import pytest

from tests.doubles.conversation import assistant, body, call, result, rounds, text, user
from tests.doubles.messages_api import Json, Options, Refusal, Status, calls, says, thinks
from tests.doubles.messages_api.service import Service

THRESHOLD, SUMMARIZE = "compact-2026-01-12", "compact-2026-09-04"
CLEARING = "context-management-2025-06-27"
LONG = "2026-11-29T12:00:00Z ERROR lock not granted\n" * 700  # about 10,000 tokens
WISH: Json = {"type": "summarize", "instructions": "Keep every number."}


class Rig:
    """A service with a summariser, and what its model read."""

    def __init__(self, summary: str | None = "SUMMARY") -> None:
        self.views: list[Json] = []
        self.instructions: list[str | None] = []

        def summarise(_view: Json, instructions: str | None) -> str | None:
            self.instructions.append(instructions)
            return summary

        def answer(view: Json) -> Json:
            self.views.append(view)
            return says("ok")

        self.service = Service(Options(now=lambda: 0.0, summarise=summarise))
        self.service.responder = answer

    def ask(self, request: Json, *betas: str) -> Json:
        """The answer to one request."""
        message, _ = self.service.answer(request, frozenset(betas))
        return message

    def summarised(self, messages: list[Json]) -> Json:
        """The signed block of an on-demand compaction of *messages*."""
        answer = self.ask(body(*messages, compaction=WISH), SUMMARIZE)
        block: Json = answer["content"][0]
        return block


def compacting(*messages: Json, **more: object) -> Json:
    """A request with a threshold compaction at 50,000 tokens."""
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}}
    return body(*messages, context_management={"edits": [{**edit, **more}]})


def test_over_the_threshold_the_answer_begins_with_the_summary() -> None:
    rig = Rig()
    answer = rig.ask(compacting(*rounds(6, LONG), instructions="Keep it."), THRESHOLD)

    assert [block["type"] for block in answer["content"]] == ["compaction", "text"]
    assert rig.instructions == ["Keep it."]
    assert rig.views[0]["messages"] == [assistant(answer["content"][0])]
    compaction, message = answer["usage"]["iterations"]
    assert (compaction["type"], message["type"]) == ("compaction", "message")
    assert compaction["input_tokens"] > 50_000 > answer["usage"]["input_tokens"]
    assert answer["context_management"] == {"applied_edits": []}


def test_under_the_threshold_only_the_iterations_tell_that_the_beta_is_on() -> None:
    answer = Rig().ask(compacting(*rounds(1)), THRESHOLD)

    assert [entry["type"] for entry in answer["usage"]["iterations"]] == ["message"]


def test_with_a_pause_only_the_summary_comes_back() -> None:
    rig = Rig()
    messages = rounds(6, LONG)
    answer = rig.ask(compacting(*messages, pause_after_compaction=True), THRESHOLD)

    assert answer["content"] == [{"type": "compaction", "content": "SUMMARY"}]
    assert (answer["stop_reason"], rig.views) == ("compaction", [])
    assert (answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]) == (0, 0)


def test_a_paused_compaction_goes_on_with_or_without_the_old_messages() -> None:
    rig = Rig()
    messages = rounds(6, LONG)
    paused = rig.ask(compacting(*messages, pause_after_compaction=True), THRESHOLD)
    block = assistant(*paused["content"])

    rig.ask(compacting(*messages, block), THRESHOLD)
    rig.ask(compacting(block, *messages[-2:], user("Go on.")), THRESHOLD)

    assert rig.views[0]["messages"] == [block]
    assert rig.views[1]["messages"] == [block, *messages[-2:], user("Go on.")]


def test_a_failed_compaction_is_null_and_changes_nothing() -> None:
    rig = Rig(summary=None)
    messages = rounds(6, LONG)
    answer = rig.ask(compacting(*messages), THRESHOLD)

    assert answer["content"][0] == {"type": "compaction", "content": None}
    assert len(rig.views[0]["messages"]) == len(messages)

    rig.ask(body(*messages, assistant(*answer["content"]), user("Go on.")), THRESHOLD)
    assert len(rig.views[1]["messages"]) == len(messages) + 2


@pytest.mark.parametrize(
    ("block", "refusal"),
    [
        ({"content": "x", "encrypted_content": None}, "compaction.encrypted_content: Extra inputs"),
        ({"content": ""}, "compaction content must be non-empty"),
    ],
)
def test_a_wrong_block_is_refused(block: Json, refusal: str) -> None:
    messages = [user("Why?"), assistant({"type": "compaction", **block}), user("Go on.")]

    with pytest.raises(Refusal) as caught:
        Rig().ask(body(*messages), THRESHOLD)

    assert refusal in caught.value.message


def test_a_block_without_its_beta_is_an_unexpected_block() -> None:
    rig = Rig()
    plain = [assistant({"type": "compaction", "content": "x"}), user("Go on.")]
    signed = [assistant(rig.summarised(rounds(2))), user("Go on.")]

    for messages, wrong, right in ((plain, SUMMARIZE, THRESHOLD), (signed, THRESHOLD, SUMMARIZE)):
        with pytest.raises(Refusal, match="Input tag 'compaction'"):
            rig.ask(body(*messages), wrong)
        assert rig.ask(body(*messages), right)["content"]


def test_on_demand_answers_with_one_signed_block_and_bills_it_apart() -> None:
    rig = Rig()
    answer = rig.ask(body(*rounds(2, LONG), compaction=WISH), SUMMARIZE)

    assert set(answer["content"][0]) == {"type", "content", "signature", "tool_changes"}
    assert (answer["stop_reason"], rig.instructions) == ("compaction", [WISH["instructions"]])
    assert answer["usage"]["input_tokens"] == answer["usage"]["output_tokens"] == 0
    assert [entry["type"] for entry in answer["usage"]["iterations"]] == ["compaction"]
    assert "context_management" not in answer


def test_a_failed_summary_is_a_200_without_content() -> None:
    answer = Rig(summary=None).ask(body(*rounds(2), compaction=WISH), SUMMARIZE)

    assert (answer["content"], answer["stop_reason"]) == ([], "max_tokens")


def test_a_summary_may_be_unavailable_for_a_while() -> None:
    rig = Rig()
    rig.service.script.append(Status(529, "overloaded_error", code="compaction_unavailable"))

    with pytest.raises(Refusal) as caught:
        rig.ask(body(*rounds(2), compaction=WISH), SUMMARIZE)
    assert (caught.value.status, caught.value.code) == (529, "compaction_unavailable")
    assert rig.summarised(rounds(2))


def test_after_a_summary_edits_may_clear() -> None:
    rig = Rig()
    messages = [assistant(rig.summarised(rounds(2))), user("Go on.")]
    wish = {"edits": [{"type": "clear_tool_uses_20250919"}]}

    assert rig.ask(body(*messages, context_management=wish), SUMMARIZE, CLEARING)["content"]


def test_a_summary_of_a_summary_replaces_it() -> None:
    rig = Rig()
    first = assistant(rig.summarised(rounds(2)))
    second = rig.summarised([first, user("Go on."), assistant("Yes.")])

    assert rig.ask(body(assistant(second), user("And?")), SUMMARIZE)["content"]


def test_a_kept_tail_keeps_its_thinking() -> None:
    rig = Rig()
    rig.service.script.append(thinks("old", calls(("search", {"query": "1"}))))
    messages = [user("Why?")]
    answer = rig.ask(body(*messages))
    messages += [assistant(*answer["content"]), user(result(answer["content"][-1]["id"]))]
    rig.service.script.append(thinks("new", calls(("search", {"query": "2"}))))
    answer = rig.ask(body(*messages))
    tail = [assistant(*answer["content"]), user(result(answer["content"][-1]["id"]))]

    block = rig.summarised(messages)

    assert rig.ask(body(assistant(block), *tail), SUMMARIZE)["content"]
    with pytest.raises(Refusal, match="bound to a different conversation"):
        rig.ask(body(assistant(block), *tail, system="Be brief."), SUMMARIZE)


OPEN = [user("Why?"), assistant(call("toolu_1"))]
TOGETHER: dict[str, Json] = {
    "context_management": {"context_management": {"edits": []}},
    "stop_sequences": {"stop_sequences": ["x"]},
    "output_config.format": {"output_config": {"format": {"type": "json_schema"}}},
    "tool_choice": {"tool_choice": {"type": "any"}, "model": "claude-haiku-5-5"},
}


@pytest.mark.parametrize("name", TOGETHER)
def test_a_summary_goes_together_with_nothing_that_shapes_the_answer(name: str) -> None:
    wish = {"compaction": WISH, **TOGETHER[name]}
    if name == "context_management":
        wish["context_management"] = {"edits": [{"type": "clear_tool_uses_20250919"}]}

    with pytest.raises(Refusal, match=f"`{name}` cannot be used together"):
        Rig().ask(body(*rounds(2), **wish), SUMMARIZE, CLEARING)


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (OPEN, "compaction_incomplete_turn"),
        ([assistant({"type": "compaction", "content": "x"})], "compaction_nothing_to_summarize"),
    ],
)
def test_what_cannot_be_summarised_is_refused_with_a_code(messages: list[Json], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        Rig().ask(body(*messages, compaction=WISH), SUMMARIZE, THRESHOLD)

    assert caught.value.code == code


def test_instructions_have_a_longest_length() -> None:
    for length, taken in ((16_384, True), (16_385, False)):
        request = body(*rounds(2), compaction={**WISH, "instructions": "x" * length})
        if taken:
            assert Rig().ask(request, SUMMARIZE)["content"]
        else:
            with pytest.raises(Refusal, match="at most 16384 characters"):
                Rig().ask(request, SUMMARIZE)


def test_a_model_that_cannot_summarise_says_so() -> None:
    with pytest.raises(Refusal, match="compaction: Input tag 'summarize'"):
        Rig().ask(body(*rounds(2), compaction=WISH, model="claude-haiku-4-5"), SUMMARIZE)


def test_a_conversation_over_the_window_cannot_be_summarised_any_more() -> None:
    rig = Rig()
    rig.service.options = Options(now=lambda: 0.0, window=5000)

    with pytest.raises(Refusal, match="prompt is too long"):
        rig.ask(body(*rounds(2, LONG), compaction=WISH), SUMMARIZE)


MISUSED = {
    "compaction_block_misplaced": lambda block: [user("Why?"), assistant(block), user("Go on.")],
    "compaction_block_ambiguous": lambda block: [
        assistant(block), user("Go on."), assistant(block, text("x")), user("And?")
    ],
    "compaction_content_mismatch": lambda block: [
        assistant({**block, "content": "I know better"}), user("Go on.")
    ],
    "compaction_signature_invalid": lambda block: [
        assistant({**block, "signature": "abc"}), user("Go on.")
    ],
    "compaction_tool_changes_mismatch": lambda block: [
        assistant({**block, "tool_changes": [{}]}), user("Go on.")
    ],
}  # fmt: skip


@pytest.mark.parametrize("code", MISUSED)
def test_a_misused_signed_block_is_refused_with_its_code(code: str) -> None:
    rig = Rig()
    block = rig.summarised([*rounds(2), assistant("So far.")])

    with pytest.raises(Refusal) as caught:
        rig.ask(body(*MISUSED[code](block)), SUMMARIZE)
    assert caught.value.code == code
    assert rig.ask(body(assistant(block), user("Go on.")), SUMMARIZE)["content"]


def test_a_signed_block_and_the_threshold_kind_exclude_each_other() -> None:
    rig = Rig()
    block = rig.summarised([*rounds(2), assistant("So far.")])

    with pytest.raises(Refusal, match="cannot be used with a signed compaction block"):
        rig.ask(compacting(assistant(block), user("Go on.")), SUMMARIZE, THRESHOLD)


def test_the_first_kept_role_is_not_the_last_summarised_one() -> None:
    rig = Rig()
    block = rig.summarised([*rounds(2), assistant("So far.")])

    with pytest.raises(Refusal, match="the first kept message has role 'assistant'"):
        rig.ask(body(assistant(block), assistant("kept"), user("Go on.")), SUMMARIZE)

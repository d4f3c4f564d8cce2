"""Requests, responses, and what an answer means."""

import pytest

from copilot.models.model import (
    Json,
    Response,
    Verdict,
    assistant_message,
    verdict,
)
from copilot.models.usage import Usage, read_usage
from tests.models.conftest import request

TEXT: Json = {"type": "text", "text": "done"}
CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "search_logbook", "input": {}}
SUMMARY: Json = {"type": "compaction", "content": "so far", "encrypted_content": None}


def answer(reason: str | None, *content: Json) -> Response:
    """A response of these blocks that stopped for *reason*."""
    return Response({"content": list(content), "stop_reason": reason})


def test_a_body_leaves_out_what_is_not_set() -> None:
    assert list(request(tools=()).body()) == ["model", "max_tokens", "system", "messages"]


def test_a_body_keeps_the_order_of_its_extra_fields_whatever_order_they_came_in() -> None:
    one = request(extra={"thinking": {"type": "adaptive"}, "diagnostics": {}})
    other = request(extra={"diagnostics": {}, "thinking": {"type": "adaptive"}})

    assert one.encoded() == other.encoded()
    assert one.digest == other.digest


def test_the_betas_are_part_of_the_digest_but_not_of_the_body() -> None:
    plain, with_beta = request(), request(betas=("compact-2026-01-12",))

    assert plain.body() == with_beta.body()
    assert plain.digest != with_beta.digest


def test_a_request_is_as_long_as_its_bytes() -> None:
    sent = request({"role": "user", "content": "größer als nötig"})

    assert sent.size == len(sent.encoded())
    assert "größer".encode() in sent.encoded()


@pytest.mark.parametrize(
    ("reason", "content", "word"),
    [
        ("tool_use", [CALL], "tools"),
        ("tool_use", [TEXT], "broken"),
        ("end_turn", [TEXT], "done"),
        ("end_turn", [], "done"),
        ("end_turn", [TEXT, CALL], "tools"),
        ("stop_sequence", [TEXT], "done"),
        ("max_tokens", [TEXT], "cut"),
        ("max_tokens", [CALL, CALL], "cut"),
        ("pause_turn", [TEXT], "pause"),
        ("refusal", [], "refused"),
        ("model_context_window_exceeded", [TEXT], "full"),
        ("compaction", [SUMMARY], "compacted"),
        (None, [TEXT], "broken"),
        ("because", [TEXT], "broken"),
    ],
)
def test_each_stop_reason_has_one_meaning(
    reason: str | None, content: list[Json], word: Verdict
) -> None:
    assert verdict(answer(reason, *content)) == word


def test_an_error_text_in_the_models_mouth_is_not_an_answer() -> None:
    gateway = {"type": "text", "text": "Prompt is too long: 215000 tokens > 200000 maximum"}
    report = {"type": "text", "text": "Prompt is too long, said the gateway. " + "Proof: … " * 40}

    assert verdict(answer("end_turn", gateway)) == "full"
    assert verdict(answer("end_turn", report)) == "done"


def test_an_answer_is_sent_again_as_received_minus_what_is_refused() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": "abc"}
    empty = {"type": "text", "text": ""}
    broken = {**CALL, "input": '{"que'}

    message = assistant_message(answer("tool_use", thinking, SUMMARY, empty, TEXT, broken))

    assert message == {
        "role": "assistant",
        "content": [
            thinking,
            {"type": "compaction", "content": "so far"},
            TEXT,
            {**CALL, "input": {"invalid_json": '{"que'}},
        ],
    }


def test_a_failed_compaction_goes_back_as_the_null_that_it_is() -> None:
    failed = {"type": "compaction", "content": None}

    assert assistant_message(answer("compaction", failed))["content"] == [failed]


def test_asking_for_the_message_to_send_does_not_change_what_was_received() -> None:
    response = answer("compaction", SUMMARY)

    assistant_message(response)

    assert response.content == (SUMMARY,)


def test_every_sampling_is_billed_and_only_the_last_message_fills_the_window() -> None:
    usage = read_usage(
        {
            "input_tokens": 500,
            "output_tokens": 40,
            "iterations": [
                {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3500},
                {
                    "type": "message",
                    "input_tokens": 500,
                    "output_tokens": 40,
                    "cache_read_input_tokens": 4000,
                    "cache_creation_input_tokens": 100,
                    "cache_creation": {"ephemeral_1h_input_tokens": 60},
                },
            ],
        }
    )

    assert usage.total == Usage(180_500, 4000, 100, 3540, cache_write_1h=60)
    assert usage.context == 4600


def test_a_paused_compaction_leaves_the_window_empty() -> None:
    entry = {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3500}

    assert read_usage({"input_tokens": 0, "iterations": [entry]}).context == 0


def test_usage_without_iterations_is_billed_as_it_stands() -> None:
    usage = read_usage({"input_tokens": 5, "output_tokens": 1, "iterations": None})

    assert (usage.total, usage.context) == (Usage(5, output=1), 5)


def test_applied_edits_are_read_where_there_are_any() -> None:
    edit = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8}

    assert Response({"context_management": {"applied_edits": [edit]}}).applied_edits == (edit,)
    assert Response({"context_management": None}).applied_edits == ()

"""Claude against the strict double: what is sent, what comes back, what is never sent twice."""

import json
import subprocess
import sys

import pytest

from copilot.errors import CredentialsError, ModelError
from copilot.models.claude import Endpoint
from copilot.models.model import Model, assistant_message, verdict
from tests.doubles.messages_api import (
    HTML,
    TRUNCATED,
    Bytes,
    Cut,
    Drip,
    MessagesApi,
    Reset,
    Status,
    calls,
    says,
    stops,
    thinks,
)
from tests.models.conftest import Connect, request

OVERLOADED = Status(529, "overloaded_error", "Overloaded")
QUESTION = {"role": "user", "content": "Why is the workflow stuck?"}
BUSY_PIPE = calls(("search_logbook", {"query": "pipe"}), ("search_logbook", {"query": "disk"}))


def test_an_answer_comes_back_whole(connect: Connect) -> None:
    with MessagesApi(says("It waits for a lock.")) as api:
        model: Model = connect(api).claude
        response = model.respond(request())

    assert (response.text, response.stop_reason) == ("It waits for a lock.", "end_turn")
    assert response.request_id == "req_0001"
    assert response.usage.input > 0


def test_a_streamed_answer_equals_a_plain_one(connect: Connect) -> None:
    reply = thinks("First the errors.", calls(("search_logbook", {"query": 'é\n"x'}), text="Hm."))
    with MessagesApi(reply) as api:
        streamed = connect(api).claude.respond(request())
    with MessagesApi(reply) as api:
        plain = connect(api, streams=False).claude.respond(request())

    assert streamed.raw == plain.raw


def test_what_was_received_is_accepted_when_sent_again(connect: Connect) -> None:
    with MessagesApi(thinks("First the errors.", BUSY_PIPE), says("done")) as api:
        claude = connect(api).claude
        first = claude.respond(request())
        journaled = json.loads(json.dumps(first.raw))
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": "0 hits"}
            for call in first.tool_calls
        ]
        answered = {"role": "user", "content": results}

        second = claude.respond(request(QUESTION, assistant_message(first), answered))

        assert second.text == "done"
        assert api.requests[1].body["messages"][1]["content"] == journaled["content"]
        assert api.refusals == []


def test_the_body_on_the_wire_is_the_body_that_was_hashed(connect: Connect) -> None:
    sent = request(betas=("compact-2026-01-12",), tool_choice={"type": "auto"})
    with MessagesApi(says("ok")) as api:
        connect(api).claude.respond(sent)

        assert api.requests[0].body == {**sent.body(), "stream": True}
        assert api.requests[0].headers["anthropic-beta"] == "compact-2026-01-12"


def test_more_than_a_plain_call_may_ask_for_is_streamed(connect: Connect) -> None:
    with MessagesApi(says("long")) as api:
        response = connect(api).claude.respond(request(max_tokens=100_000))

    assert response.text == "long"


def test_a_lone_surrogate_is_replaced_before_it_is_sent(connect: Connect) -> None:
    with MessagesApi(says("ok")) as api:
        connect(api).claude.respond(request({"role": "user", "content": "half \ud83d pair \x00"}))

        assert api.requests[0].body["messages"][0]["content"] == "half ? pair \x00"


def test_a_429_waits_as_long_as_asked_and_up_to_a_third_more(connect: Connect) -> None:
    limited = Status(429, "rate_limit_error", headers={"retry-after": "30"})
    with MessagesApi(limited, says("ok")) as api:
        line = connect(api)

        assert line.claude.respond(request()).text == "ok"
        assert line.waits == [34.5]
        assert [attempt.kind for attempt in line.attempts] == ["rate_limit", "ok"]


def test_a_retry_after_may_be_a_date(connect: Connect) -> None:
    dated = {"retry-after": "Sun, 29 Nov 2026 12:01:00 GMT"}
    with MessagesApi(Status(429, "rate_limit_error", headers=dated), says("ok")) as api:
        line = connect(api)
        line.claude.respond(request())

        assert line.waits == [69.0]


@pytest.mark.parametrize("wish", ["86400", "Fri, 01 Jan 2038 00:00:00 GMT"])
def test_a_wait_over_the_cap_goes_up_to_the_caller(connect: Connect, wish: str) -> None:
    with MessagesApi(Status(429, "rate_limit_error", headers={"retry-after": wish})) as api:
        line = connect(api)
        with pytest.raises(ModelError) as caught:
            line.claude.respond(request())

    assert caught.value.retryable
    assert (caught.value.wait_s or 0) > 3600
    assert line.waits == []


def test_an_overloaded_service_is_asked_five_times(connect: Connect) -> None:
    with MessagesApi(*[OVERLOADED] * 5, says("too late")) as api:
        line = connect(api)
        with pytest.raises(ModelError, match="HTTP 529") as caught:
            line.claude.respond(request())

        assert caught.value.kind == "overloaded"
        assert len(api.requests) == len(line.attempts) == 5
    assert line.waits == [1.5, 2.5, 4.5, 8.5]


@pytest.mark.parametrize(
    "fault",
    [
        OVERLOADED,
        Status(500, "api_error"),
        Status(503, "overloaded_error"),
        Status(504, "timeout_error"),
        Reset(),
        HTML,
        TRUNCATED,
        Bytes(b"[1]", "application/json"),
        Bytes(b'{"type":"message","content":[1]}', "application/json"),
        Bytes(b'{"type":"message","content":[{"type":"tool_use"}]}', "application/json"),
        Bytes(b"\xff\xfe{}", "application/json"),
        Bytes(b"[" * 100_000, "application/json"),
        Bytes(b"event: message_start\ndata: {\n\n", "text/event-stream"),
        Bytes(b"event: x\ndata: []\n\n", "text/event-stream"),
        Bytes(b'event: message_start\ndata: {"type":"message_start"}\n\n', "text/event-stream"),
        Cut(after=0),
        Cut(after=4),
        Cut(after=4, clean=False),
        Cut(after=4, error="overloaded_error"),
        Cut(after=0, error="api_error"),
    ],
    ids=str,
)
def test_a_passing_fault_costs_one_more_try(connect: Connect, fault: object) -> None:
    with MessagesApi(fault, says("kept"), says("ok")) as api:  # type: ignore[arg-type]
        line = connect(api)
        response = line.claude.respond(request())

    assert response.text in ("kept", "ok")
    assert len(line.attempts) == 2


def test_an_answer_without_a_stop_reason_is_no_answer(connect: Connect) -> None:
    with MessagesApi(says("half", stop_reason=""), says("whole")) as api:
        assert connect(api).claude.respond(request()).text == "whole"


def test_an_answer_that_only_drips_is_given_up(connect: Connect) -> None:
    with MessagesApi(responder=lambda _view: says("slow")) as api:
        line = connect(api, step_s=30)

        with pytest.raises(ModelError, match="no end after 60 s"):
            line.claude.respond(request())


def test_a_slow_but_steady_answer_is_whole(connect: Connect) -> None:
    with MessagesApi(Drip(0.001), says("slow and steady")) as api:
        assert connect(api).claude.respond(request()).text == "slow and steady"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Status(401, "authentication_error"), "auth"),
        (Status(403, "permission_error"), "auth"),
        (Status(402, "billing_error"), "billing"),
        (Status(404, "not_found_error"), "invalid"),
        (Status(413, "request_too_large"), "too_long"),
        (Status(400, "invalid_request_error", "tools.0: no"), "invalid"),
        (
            Status(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            "too_long",
        ),
        (
            Status(
                400, "invalid_request_error", "You have reached your specified API usage limits"
            ),
            "spend_cap",
        ),
        (Status(429, "rate_limit_error", code="enforced_spend_limit_reached"), "spend_cap"),
        (Status(429, "rate_limit_error", code="contract_spend_limit_reached"), "spend_cap"),
        (
            Status(429, "rate_limit_error", code="linked_organization_spend_limit_reached"),
            "spend_cap",
        ),
        (Status(529, "overloaded_error", headers={"x-should-retry": "false"}), "overloaded"),
    ],
)
def test_what_a_person_must_settle_is_never_sent_twice(
    connect: Connect, fault: Status, kind: str
) -> None:
    with MessagesApi(fault, says("never")) as api:
        with pytest.raises(ModelError) as caught:
            connect(api).claude.respond(request())

        assert caught.value.kind == kind
        assert not caught.value.retryable
        assert len(api.requests) == 1


def test_a_wrong_key_is_named_without_being_shown(connect: Connect) -> None:
    with MessagesApi(says("never")) as api, pytest.raises(ModelError) as caught:
        connect(api, key="sk-ant-secret").claude.respond(request())

    assert caught.value.kind == "auth"
    assert "sk-ant-secret" not in str(caught.value)
    assert "sk-ant-secret" not in repr(Endpoint("sk-ant-secret"))


@pytest.mark.parametrize("key", ["", "sk-ant-\n", "sk ant", "sk-ant-\xe9", "sk-ant-\x00"])
def test_a_key_that_cannot_be_a_header_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(CredentialsError) as caught:
        Endpoint(key)

    assert "sk" not in str(caught.value)


def test_a_service_that_is_not_there_is_a_network_error(connect: Connect) -> None:
    with MessagesApi() as api:
        line = connect(api)
    with pytest.raises(ModelError, match="check the network") as caught:
        line.claude.respond(request())

    assert (caught.value.kind, caught.value.retryable) == ("network", True)


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (calls(("search_logbook", {"query": "x"})), "tools"),
        (says("done"), "done"),
        (says("done", stop_reason="stop_sequence"), "done"),
        (says("long", stop_reason="max_tokens"), "cut"),
        (calls(("search_logbook", '{"que'), stop_reason="max_tokens"), "cut"),
        (says("wait", stop_reason="pause_turn"), "pause"),
        (stops("refusal", stop_details={"category": "cyber"}), "refused"),
        (says("and", stop_reason="model_context_window_exceeded"), "full"),
        (says("Prompt is too long"), "full"),
    ],
)
def test_every_stop_reason_comes_back_as_data(connect: Connect, reply: dict, word: str) -> None:  # type: ignore[type-arg]
    with MessagesApi(reply) as api:
        response = connect(api).claude.respond(request())

    assert verdict(response) == word


def test_an_unknown_stop_reason_is_a_failed_attempt(connect: Connect) -> None:
    with MessagesApi(says("?", stop_reason="because"), says("ok")) as api:
        assert connect(api).claude.respond(request()).text == "ok"


@pytest.mark.parametrize("text", ['{"query": ', '{"query": NaN}', "[1]", "null"])
def test_an_input_that_is_no_object_is_kept_as_text_and_accepted_back(
    connect: Connect, text: str
) -> None:
    with MessagesApi(calls(("search_logbook", text)), says("sorry")) as api:
        claude = connect(api).claude
        first = claude.respond(request())
        (call,) = first.tool_calls
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "no JSON"}

        second = claude.respond(
            request(QUESTION, assistant_message(first), {"role": "user", "content": [result]})
        )

    assert isinstance(call.input, str)
    assert second.text == "sorry"


def test_fifty_parallel_calls_come_back_in_order(connect: Connect) -> None:
    asked = [("search_logbook", {"query": str(number)}) for number in range(50)]
    with MessagesApi(calls(*asked)) as api:
        response = connect(api).claude.respond(request())

    assert [call.input for call in response.tool_calls] == [wish for _, wish in asked]


def test_tokens_are_counted_after_the_edits(connect: Connect) -> None:
    with MessagesApi() as api:
        assert (connect(api).claude.count_tokens(request()) or 0) > 10
        assert api.requests[0].path == "/v1/messages/count_tokens"


def test_a_service_that_cannot_count_gives_none(connect: Connect) -> None:
    with MessagesApi() as api:
        line = connect(api)
    assert line.claude.count_tokens(request()) is None


def test_a_field_that_the_sdk_does_not_know_is_our_defect_and_not_retried(
    connect: Connect,
) -> None:
    with MessagesApi(says("never")) as api:
        line = connect(api)
        with pytest.raises(TypeError, match="temperature"):
            line.claude.respond(request(extra={"temperature": 0}))

    assert line.attempts == []


def test_the_interface_alone_does_not_import_the_sdk() -> None:
    program = (
        "import sys, copilot.models.model, copilot.models.prices; print('anthropic' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert answer.stdout == b"False\n"


@pytest.mark.bad_input("B85")
def test_a_strangers_environment_sends_nothing_elsewhere(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "somebody-elses")
    with MessagesApi(says("done")) as api:
        assert connect(api).claude.respond(request()).text == "done"

    [sent] = api.requests
    assert "somebody-elses" not in str(sent)


def test_a_redirect_is_not_followed(connect: Connect) -> None:
    away = Status(307, "api_error", headers={"location": "http://127.0.0.1:1/v1/messages"})
    with MessagesApi(away, says("never")) as api:
        with pytest.raises(ModelError, match="HTTP 307"):
            connect(api).claude.respond(request())

        assert len(api.requests) == 1

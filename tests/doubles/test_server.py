"""The double on the wire: what it records, how it fails on demand, what it says of its models."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import anthropic
import pytest

from tests.doubles.conversation import MODEL, body, user
from tests.doubles.messages_api import Json, MessagesApi, Status, calls, says


@pytest.fixture
def api() -> MessagesApi:
    """A double that is not started yet."""
    return MessagesApi()


def client(api: MessagesApi) -> anthropic.Anthropic:
    """The official client on the double."""
    return anthropic.Anthropic(api_key=api.key, base_url=api.url, max_retries=0, timeout=60)


def test_the_official_client_understands_every_answer(api: MessagesApi) -> None:
    api.play(calls(("search", {"query": "x"}), text="Looking"), says("done"))
    with api, client(api) as claude:
        plain = claude.beta.messages.create(**body())
        with claude.beta.messages.stream(**body()) as stream:
            streamed = stream.get_final_message()

    assert [block.type for block in plain.content] == ["text", "tool_use"]
    assert (streamed.content[0].type, streamed.stop_reason) == ("text", "end_turn")


def test_a_turn_may_be_computed_from_the_request(api: MessagesApi) -> None:
    api.play(lambda view: says(f"{len(view['messages'])} messages"))
    with api, client(api) as claude:
        answer = claude.beta.messages.create(**body(user("a"), user("b")))

    assert answer.content[0].to_dict() == {"type": "text", "text": "2 messages"}


def test_every_request_is_recorded_and_every_refusal_counted(api: MessagesApi) -> None:
    api.play(says("ok"))
    with api, client(api) as claude:
        claude.beta.messages.create(**body(), betas=["compact-2026-01-12"])
        with pytest.raises(anthropic.BadRequestError, match="Extra inputs are not permitted"):
            claude.beta.messages.create(**body(), extra_body={"temperature": 0})

    assert [received.path for received in api.requests] == ["/v1/messages"] * 2
    assert api.requests[0].betas == {"compact-2026-01-12"}
    assert [refusal.status for refusal in api.refusals] == [400]


def test_half_a_request_of_a_client_that_was_killed_is_none(api: MessagesApi) -> None:
    with api:
        url = urlsplit(api.url)
        with socket.create_connection((url.hostname, url.port), timeout=5) as line:
            line.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
            line.shutdown(socket.SHUT_WR)
            answer = line.recv(100)

    assert (answer, api.requests, api.refusals) == (b"", [], [])


def test_a_refused_request_takes_no_turn_off_the_script(api: MessagesApi) -> None:
    api.play(says("kept"))
    with api, client(api) as claude:
        with pytest.raises(anthropic.BadRequestError):
            claude.beta.messages.create(**body(user("")))

        assert claude.beta.messages.create(**body()).content[0].to_dict()["text"] == "kept"


def test_an_error_code_gets_its_own_exception(api: MessagesApi) -> None:
    api.play(Status(429, "rate_limit_error", code="enforced_spend_limit_reached"))
    with api, client(api) as claude, pytest.raises(anthropic.RateLimitError) as caught:
        claude.beta.messages.create(**body())

    assert caught.value.error_code == "enforced_spend_limit_reached"
    assert caught.value.request_id == "req_0001"


def test_the_end_of_the_script_is_said_aloud(api: MessagesApi) -> None:
    with api, client(api) as claude, pytest.raises(anthropic.InternalServerError) as caught:
        claude.beta.messages.create(**body())

    assert "no more turns" in str(caught.value)


def test_a_defect_of_the_double_is_said_aloud(api: MessagesApi) -> None:
    api.play(lambda _view: {})
    with api, client(api) as claude, pytest.raises(anthropic.InternalServerError) as caught:
        claude.beta.messages.create(**body())

    assert "the double failed: KeyError('content')" in str(caught.value)


def test_several_threads_may_ask_at_once(api: MessagesApi) -> None:
    api.play(*[says("ok")] * 16)
    with api, client(api) as claude:
        threads = [
            threading.Thread(target=lambda: claude.beta.messages.create(**body()))
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(api.requests) == 16
    assert api.refusals == []


def test_a_reply_that_takes_its_time_holds_up_nobody_else(api: MessagesApi) -> None:
    both = threading.Barrier(2, timeout=60)

    def reply(_: Json) -> Json:
        both.wait()
        return says("ok")

    api.play(reply, reply)
    with api, client(api) as claude, ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(lambda: claude.beta.messages.create(**body())) for _ in range(2)]

        assert [one.result().stop_reason for one in asked] == ["end_turn"] * 2


def test_a_model_says_what_it_can_do(api: MessagesApi) -> None:
    with api, client(api) as claude:
        plain = claude.beta.models.retrieve(MODEL)
        asked = claude.beta.models.retrieve(MODEL, betas=["compact-2026-09-04"])
        with pytest.raises(anthropic.NotFoundError):
            claude.beta.models.retrieve("gpt-oss")

    assert plain.max_input_tokens == 1_000_000
    assert plain.capabilities is not None
    assert plain.capabilities.compaction is None
    assert asked.capabilities is not None
    assert asked.capabilities.compaction is not None
    assert asked.capabilities.compaction.summarize.supported


def test_all_models_are_listed(api: MessagesApi) -> None:
    with api, client(api) as claude:
        assert MODEL in [model.id for model in claude.beta.models.list()]

"""The recorded calls replay with the server gone, and hold nothing that should not be there."""

import dataclasses
import re

import pytest

from copilot.errors import ModelError
from copilot.models.claude import Endpoint
from copilot.models.model import Response
from tests.models.cassettes import CASES, FOLDER, QUESTION, cassette, play

PUBLIC = Endpoint("sk-ant-not-a-key")


def test_a_plain_message_replays() -> None:
    with cassette("message") as tape:
        response = play(CASES["message"], dataclasses.replace(PUBLIC, streams=False))

    assert isinstance(response, Response)
    assert (response.text, response.stop_reason) == ("It waits for a lock.", "end_turn")
    assert tape.all_played


def test_a_streamed_message_replays() -> None:
    with cassette("stream") as tape:
        response = play(CASES["stream"], PUBLIC)

    assert isinstance(response, Response)
    assert [block["type"] for block in response.content] == ["thinking", "text", "tool_use"]
    assert response.tool_calls[0].input == {"query": "ü\u2028"}
    assert response.raw["context_management"] == {"applied_edits": []}
    assert tape.all_played


def test_counted_tokens_replay() -> None:
    with cassette("count_tokens") as tape:
        assert play(CASES["count_tokens"], PUBLIC) == 60

    assert tape.all_played


def test_a_rate_limit_replays_with_its_wait_and_without_sleeping() -> None:
    with cassette("rate_limit") as tape, pytest.raises(ModelError) as caught:
        play(CASES["rate_limit"], PUBLIC)

    assert (caught.value.kind, caught.value.wait_s) == ("rate_limit", 30.0)
    assert tape.all_played


def test_a_changed_request_finds_no_recording() -> None:
    """Without the body among the matchers this would get another call's answer, silently."""
    changed = dataclasses.replace(QUESTION, max_tokens=1001)
    case = dataclasses.replace(CASES["stream"], call=lambda claude: claude.respond(changed))

    with cassette("stream") as tape, pytest.raises(ModelError, match="CannotOverwrite"):
        play(case, PUBLIC)

    assert not tape.all_played


@pytest.mark.parametrize("name", CASES)
def test_a_cassette_holds_no_key_id_host_or_cookie(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").lower()

    for forbidden in (
        "authorization",
        "sk-ant",
        "x-api-key",
        "cookie",
        "organization",
        "127.0.0.1",
    ):
        assert forbidden not in text
    assert not re.search(r"req_(?!scrubbed)", text)
    assert "!!binary" not in text


def test_every_cassette_is_played_by_a_test() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(CASES)

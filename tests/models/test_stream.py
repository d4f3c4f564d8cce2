"""A message put together from events equals the one that was taken apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.models.model import Json
from copilot.models.stream import BrokenStreamError, assemble
from tests.doubles.messages_api.wire import events

WORDS = st.text(max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, WORDS),
    st.builds(
        lambda text, name: {"type": "thinking", "thinking": text, "signature": name}, WORDS, WORDS
    ),
    st.builds(
        lambda given: {"type": "tool_use", "id": "toolu_1", "name": "search", "input": given},
        st.dictionaries(WORDS, VALUES, max_size=3),
    ),
    st.builds(
        lambda text: {"type": "compaction", "content": text}, st.none() | st.text(min_size=1)
    ),
    st.builds(
        lambda text: {
            "type": "compaction",
            "content": text,
            "signature": "s",
            "tool_changes": [],
        },
        WORDS,
    ),
    st.just({"type": "redacted_thinking", "data": "abc"}),
    st.just({"type": "block_of_next_year", "payload": {"a": [1, None]}}),
)


def message(content: list[Json]) -> Json:
    """A whole message of these blocks."""
    return {
        "id": "msg_1",
        "type": "message",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 7, "iterations": [{"type": "message"}]},
        "context_management": {"applied_edits": []},
    }


@given(st.lists(BLOCKS, max_size=4))
def test_taking_apart_and_putting_together_changes_nothing(content: list[Json]) -> None:
    whole = message(content)

    assert assemble(events(whole)) == whole


def test_no_null_field_appears_that_was_not_sent() -> None:
    stream = list(events(message([{"type": "compaction", "content": "so far"}])))
    delta = next(event for event in stream if event["type"] == "content_block_delta")
    delta["delta"]["encrypted_content"] = None

    assert assemble(stream)["content"] == [{"type": "compaction", "content": "so far"}]


def test_citations_are_gathered() -> None:
    stream = list(events(message([{"type": "text", "text": "cited"}])))
    for number in (1, 2):
        citation = {"type": "citations_delta", "citation": {"number": number}}
        stream.insert(4, {"type": "content_block_delta", "index": 0, "delta": citation})

    assert assemble(stream)["content"][0]["citations"] == [{"number": 2}, {"number": 1}]


@pytest.mark.parametrize("kept", range(7))
def test_a_stream_that_ends_early_is_no_message(kept: int) -> None:
    stream = list(events(message([{"type": "text", "text": "half"}])))

    with pytest.raises(BrokenStreamError):
        assemble(stream[:kept])


def test_a_stream_that_begins_in_the_middle_is_no_message() -> None:
    stream = list(events(message([{"type": "text", "text": "half"}])))

    with pytest.raises(BrokenStreamError, match="instead of message_start"):
        assemble(stream[2:])


def test_a_delta_for_a_block_that_never_started_is_refused() -> None:
    stream = list(events(message([{"type": "text", "text": "x"}])))
    del stream[2]

    with pytest.raises(BrokenStreamError, match="never started"):
        assemble(stream)

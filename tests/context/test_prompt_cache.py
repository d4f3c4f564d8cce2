"""The simulated prompt cache keeps the service's rules, and agrees with the strict double."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.context.prompt_cache import LOOKBACK, Block, PromptCache, blocks_of
from copilot.models.model import Json, Request
from tests.doubles.messages_api.cache import Cache

MARK = {"type": "ephemeral"}


def blocks(count: int, marks: set[int], size: int = 100, salt: str = "") -> list[Block]:
    """That many blocks of *size* bytes, marked at these places."""
    return [Block(f"{salt}{n}".encode(), size, "5m" if n in marks else "") for n in range(count)]


def test_the_first_request_writes_up_to_its_last_mark_and_reads_nothing() -> None:
    usage = PromptCache(1).use(blocks(10, {3, 7}), 1.0)

    assert (usage.input, usage.cache_read, usage.cache_write) == (200, 0, 800)


def test_the_next_request_reads_what_was_written_and_writes_the_rest() -> None:
    cache = PromptCache(1)
    cache.use(blocks(10, {9}), 1.0)

    usage = cache.use(blocks(14, {13}), 1.0)

    assert (usage.input, usage.cache_read, usage.cache_write) == (0, 1000, 400)


def test_a_changed_beginning_is_written_again() -> None:
    cache = PromptCache(1)
    cache.use(blocks(10, {9}), 1.0)

    usage = cache.use(blocks(10, {9}, salt="other"), 1.0)

    assert (usage.cache_read, usage.cache_write) == (0, 1000)


@pytest.mark.parametrize(("more", "read"), [(LOOKBACK - 1, 1000), (LOOKBACK, 0)])
def test_what_lies_further_back_than_twenty_blocks_is_not_found(more: int, read: int) -> None:
    cache = PromptCache(1)
    cache.use(blocks(10, {9}), 1.0)

    assert cache.use(blocks(10 + more, {9 + more}), 1.0).cache_read == read


def test_a_beginning_shorter_than_the_least_is_not_cached() -> None:
    cache = PromptCache(1024)

    usage = [cache.use(blocks(10, {9}), 1.0) for _ in range(2)][-1]

    assert (usage.input, usage.cache_read, usage.cache_write) == (1000, 0, 0)


def test_what_lives_for_an_hour_is_counted_apart() -> None:
    found = [Block(b"system", 500, "1h"), Block(b"alert", 300, "5m")]

    usage = PromptCache(1).use(found, 1.0)

    assert (usage.cache_write, usage.cache_write_1h) == (800, 500)


def test_a_result_that_the_service_clears_counts_as_nothing_and_changes_the_beginning() -> None:
    whole, cleared = blocks_of(request("x" * 500)), blocks_of(request("x" * 500), {"t1"})

    assert (cleared[-1].bytes, whole[-1].bytes > 500) == (0, True)
    assert cleared[-1].key != whole[-1].key


def request(text: str, *, mark: bool = False, tool_choice: Json | None = None) -> Request:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    return Request(
        model="claude-sonnet-4-6",
        system=({"type": "text", "text": "system", "cache_control": MARK},),
        tools=({"name": "a", "input_schema": {}},),
        messages=({"role": "user", "content": [result | ({"cache_control": MARK} if mark else {})]},),
        max_tokens=100,
        tool_choice=tool_choice,
    )  # fmt: skip


def test_a_mark_that_moves_does_not_change_the_beginning() -> None:
    marked, plain = blocks_of(request("x", mark=True)), blocks_of(request("x"))

    assert [block.key for block in marked] == [block.key for block in plain]


def test_another_tool_choice_loses_the_messages_and_keeps_the_system_prompt() -> None:
    one, other = blocks_of(request("x")), blocks_of(request("x", tool_choice={"type": "none"}))

    assert [a.key == b.key for a, b in zip(one, other, strict=True)] == [True, True, False]


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 2), st.sets(st.integers(0, 29), max_size=3)), min_size=1, max_size=6))  # fmt: skip
def test_it_reads_and_writes_where_the_double_does(
    requests: list[tuple[int, int, set[int]]],
) -> None:
    """Any series of requests with any marks, one token a byte on our side, three bytes on theirs."""
    ours, theirs = PromptCache(1), Cache(lambda: 0.0)
    for count, salt, marks in requests:
        body = {"model": "m", "messages": [{"role": "user", "content": [
            {"type": "text", "text": f"{salt} {n:03} ".ljust(280, ".")}
            | ({"cache_control": MARK} if n in marks else {})
            for n in range(count)
        ]}]}  # fmt: skip
        sent = Request("m", (), (), tuple(body["messages"]), 100)  # type: ignore[arg-type]

        used, counted = ours.use(blocks_of(sent), 1 / 3), theirs.use(body, 1)

        assert used.cache_read == pytest.approx(counted.read, rel=0.1, abs=30)
        assert used.cache_write == pytest.approx(counted.write_5m, rel=0.1, abs=30)
        assert used.input == pytest.approx(counted.fresh, rel=0.1, abs=30)

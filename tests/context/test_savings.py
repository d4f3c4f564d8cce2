"""What the levers kept out, what they broke of the cache, and why the cache missed."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.context.savings import LEVERS, Savings
from copilot.context.totals import LeverTotal, by_lever
from copilot.context.usage_rows import Row, rows
from copilot.context.view import View
from copilot.journal import Event
from tests.context.measured import Written

BODY = 4000
"""Bytes of the rows behind a pointer."""
POINTER: dict[str, Any] = {"placement": "pointer", "bytes": BODY, "text": "p" * 300}


def clear(journal: Written, turn: int, *calls: int, by: str = "client") -> None:
    """Clear the results of these turns."""
    names = [f"call{number}" for number in calls]
    placeholders = {name: f'{{"cleared":"{name}"}}' for name in names}
    journal.add(
        "clear", turn, by=by, calls=names, up_to=len(names), placeholders=placeholders, state="kept"
    )


def compact(journal: Written, turn: int, keep_from: int, **data: Any) -> None:
    """Summarise what is older than that turn."""
    usage = {"input": 100, "cache_read": 0, "cache_write": 0, "output": 10}
    given_: dict[str, Any] = {
        "by": "client", "failed": False, "keep_from": keep_from, "summary": "they searched",
        "state": "kept too", "usage": usage, "usd": "0.002",
    }  # fmt: skip
    journal.add("compact", turn, **(given_ | data))


def story(steps: list[str]) -> list[Event]:
    """A journal with a turn and then each of *steps*."""
    journal = Written()
    turn, cleared = 0, 0
    for step in ["turn", *steps]:
        match step:
            case "turn":
                turn += 1
                journal.ask(turn)
                journal.answer(turn, (500, 0, 0, 5))
                journal.result(turn, **POINTER)
            case "clear" if cleared < turn:
                cleared += 1
                clear(journal, turn, cleared)
            case "serve" if cleared < turn:
                cleared = turn
                clear(journal, turn, *range(1, turn + 1), by="server")
            case "compact":
                compact(journal, turn, turn)
            case _:
                compact(journal, turn, turn, failed=True)
    return journal.events


@given(st.lists(st.sampled_from(["turn", "clear", "serve", "compact", "fail"]), max_size=20))
def test_what_was_sent_and_what_was_saved_is_resending_everything(steps: list[str]) -> None:
    events = story(steps)
    savings, view = Savings(), View()
    for event in events:
        savings.add(event, view)
    resent = View(event for event in events if event.kind not in ("clear", "compact"))
    bodies = sum(event.kind == "result" for event in events) * (BODY - 300)

    saved = sum(size or 0 for size in savings.bytes.values())

    assert sum(view.sizes.values()) + saved == sum(resent.sizes.values()) + bodies


def lever(events: list[Event], name: str) -> LeverTotal:
    """What that lever did in all."""
    return next(one for one in by_lever(rows(events)) if one.lever == name)


def test_an_offloaded_body_is_saved_in_every_request_that_follows() -> None:
    events = story(["turn", "turn"])

    first, second, third = (row.saved["offload"] for row in rows(events))

    assert first == 0
    assert second is not None
    assert third == 2 * second


def test_a_body_of_unknown_size_is_not_taken_for_nothing() -> None:
    journal = Written()
    for turn in (1, 2):
        journal.ask(turn)
        journal.answer(turn, (500, 0, 0, 5))
        journal.result(turn, placement="pointer")

    assert [row.saved["offload"] for row in rows(journal.events)] == [0, None]
    assert lever(journal.events, "offload").saved is None
    assert lever(journal.events, "offload").net_usd is None


def test_a_failed_summary_saves_nothing_and_its_price_is_counted() -> None:
    found = lever(story(["turn", "fail", "turn"]), "compaction")

    assert (found.acts, found.failed, found.saved) == (0, 1, 0)
    assert found.spent_usd == Decimal("0.002")
    assert found.net_usd == Decimal("-0.002")


def test_a_summary_within_an_answer_counts_as_compaction() -> None:
    journal = Written()
    for turn in range(1, 4):
        journal.ask(turn)
        journal.answer(turn, (500, 0, 0, 5))
        journal.result(turn)
    journal.ask(4)
    block = {"type": "compaction", "content": "they searched"}
    entry = {"input": 700, "cache_read": 0, "cache_write": 0, "output": 20, "kind": "compaction"}
    counts = {key: value for key, value in entry.items() if key != "kind"}
    journal.answer(
        4, raw={"content": [block], "stop_reason": "compaction"}, stop_reason="compaction",
        usage={**counts, "iterations": [entry]},
    )  # fmt: skip
    journal.ask(5)
    journal.answer(5, (300, 0, 0, 5))

    *_, made, after = rows(journal.events)

    assert made.kind == "compaction"
    assert [act.name for act in after.acts] == ["compaction:threshold"]
    assert after.acts[0].results == 3
    assert after.acts[0].freed_bytes > 1500


def test_only_the_tail_that_is_written_again_is_broken() -> None:
    """1,000 of 2,000 cached tokens are read; 700 are written, of which about 100 are new."""
    journal = Written()
    journal.ask(1, system=2000)
    journal.answer(1, (0, 0, 2000, 5))
    journal.result(1, "x" * 400)
    clear(journal, 2, 1)
    journal.ask(2, system=3400)
    journal.answer(2, (0, 1000, 700, 5))

    _, row = rows(journal.events)

    assert row.miss == "clearing"
    assert 300 < row.broken < 700
    assert lever(journal.events, "clearing").broken == row.broken


def second(between: str = "", read: int = 0, minutes: int = 1, **data: Any) -> Row:
    """The row of a second request after a first that left 1,000 tokens in the cache."""
    journal = Written()
    journal.ask(1)
    journal.answer(1, (0, 0, 1000, 5))
    journal.result(1)
    match between:
        case "clear":
            clear(journal, 2, 1)
        case "compact":
            compact(journal, 2, 2)
        case "limit":
            journal.add("limit", 2, limit="turns", text="no more tools")
        case "support":
            journal.add("support", 2)
    journal.ask(2, minutes=minutes)
    journal.answer(2, (0, read, 1200 - read, 5), **data)
    return rows(journal.events)[-1]


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        (second(read=1000), ""),
        (second("clear"), "clearing"),
        (second("clear", read=1000), ""),
        (second("compact"), "compaction"),
        (second("limit"), "last_answer"),
        (second("support"), "support_changed"),
        (second(minutes=7), "pause"),
        (second(model="claude-opus-5"), "model_changed"),
        (second(), "unknown"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_cache_miss_names_its_cause(row: Row, cause: str) -> None:
    assert row.miss == cause


def test_the_first_request_misses_because_it_is_the_first() -> None:
    assert rows(story([]))[0].miss == "first_request"


def test_an_endpoint_without_a_cache_is_called_that() -> None:
    assert rows(story(["turn"]))[1].miss == "not_cached"


def test_what_the_service_says_of_the_miss_stands_beside_the_cause() -> None:
    said = {"cache_miss_reason": {"type": "messages_changed", "cache_missed_input_tokens": 9}}
    raw = {"content": [], "stop_reason": "end_turn", "diagnostics": said}

    row = second("clear", raw=raw)

    assert (row.miss, row.miss_reported) == ("clearing", "messages_changed")


def test_every_lever_is_in_the_totals_even_when_none_acted() -> None:
    assert tuple(one.lever for one in by_lever([])) == LEVERS

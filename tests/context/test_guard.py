"""The guard against repeats: what is the same call, what is no news, and how a loop ends."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from copilot.calls import tools_step
from copilot.context.guard import CLOSE, EMPTY_END, END, NUDGE, Guard
from copilot.context.levers import placeholder
from copilot.journal import Event
from copilot.ledger import Ledger
from copilot.models.model import ToolCall
from copilot.steps import Work, model_step
from copilot.upkeep import compact_view
from copilot.values import JsonObject
from tests.bench import SEARCH, STORY, Bench, made_workspace
from tests.doubles.scripted_model import Call, ScriptedModel, Turn

GIVE_UP: Turn = [("submit_report", {"verdict": "inconclusive", "summary": "nothing found"})]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh workspace."""
    return Bench(made_workspace(tmp_path / "ws"))


def worths(bench: Bench) -> list[str]:
    """What each answer was worth."""
    return [str(event.data["worth"]) for event in bench.results()]


def texts(bench: Bench) -> list[str]:
    """What the model was told by each tool."""
    return [str(event.data["text"]) for event in bench.results()]


def hour(second: int, **more: Any) -> Call:
    """A search over an hour whose end moves."""
    return "search_logbook", {
        "text": "cannot resolve",
        "since": "2026-11-30T10:00:00Z",
        "until": f"2026-11-30T11:00:{second:02}Z",
        **more,
    }


def test_twenty_searches_that_differ_by_seconds_run_once_and_end_in_a_report(bench: Bench) -> None:
    ending = bench.run([[hour(second)] for second in range(20)])

    assert ending.page.limit == "repeats"
    assert len(bench.workspace.scratch(ending.incident).handles()) == 1
    assert worths(bench) == ["news", *["repeat"] * END]
    assert "but for seconds in its window" in texts(bench)[1]


def test_a_growing_size_that_finds_nothing_is_nudged_then_closed_then_ended(bench: Bench) -> None:
    ending = bench.run(
        [[("search_logbook", {"text": "nowhere", "limit": n})] for n in range(1, 21)]
    )

    found = bench.results()
    assert worths(bench)[:2] == ["empty", "same"]
    assert "nudge" not in found[NUDGE - 1].data
    assert "brought nothing new" in texts(bench)[NUDGE]
    assert worths(bench)[CLOSE + 1] == "closed"
    assert "use logbook_overview, logbook_patterns" in texts(bench)[CLOSE + 1]
    assert ending.page.limit == "repeats"
    assert len(found) == END + 1


def test_swings_between_two_calls_are_named_and_end(bench: Bench) -> None:
    other: Call = ("search_logbook", {"text": "waits for its input"})

    ending = bench.run([[SEARCH if n % 2 else other] for n in range(20)])

    assert "back and forth between two calls" in texts(bench)[4]
    assert ending.page.limit == "repeats"
    assert len(bench.results()) == END + 2


def test_empty_searches_for_new_words_go_on_longer_before_they_end(bench: Bench) -> None:
    ending = bench.run([[("search_logbook", {"text": f"nowhere{n}"})] for n in range(40)])

    assert ending.page.limit == "repeats"
    assert END < len(bench.results()) <= EMPTY_END


def test_a_closed_tool_opens_again_when_another_one_brings_news(bench: Bench) -> None:
    growing: list[Turn] = [
        [("search_logbook", {"text": "nowhere", "limit": n + 1})] for n in range(8)
    ]

    bench.run([*growing, [("logbook_overview", {})], [SEARCH], GIVE_UP])

    assert worths(bench)[7:] == ["closed", "news", "news", "news"]


def test_a_call_that_fails_again_and_again_ends(bench: Bench) -> None:
    ending = bench.run([[("no_such_tool", {})]])

    assert ending.page.limit == "repeats"
    assert len(bench.results()) == END


def test_eight_repeats_in_one_turn_are_nudged_before_anything_is_closed(bench: Bench) -> None:
    eight: Turn = [hour(n) for n in range(8)]

    bench.run([eight, *STORY])

    assert worths(bench)[:8] == ["news", *["repeat"] * 7]
    assert bench.results()[-1].data["ends"] is True


def test_an_answer_that_stands_in_view_is_pointed_to_instead_of_sent_again(bench: Bench) -> None:
    patterns: Call = ("logbook_overview", {})

    bench.run([[patterns], [patterns], *STORY])

    first, second = bench.results()[:2]
    assert "its answer stands above" in str(second.data["text"])
    assert int(str(second.data["tokens"])) < int(str(first.data["tokens"])) / 2
    assert second.data["handle"] == first.data["handle"]


def emptied(work: Work, turn: int, calls: Sequence[str]) -> None:
    """Put a placeholder in place of each of these answers."""
    placeholders: JsonObject = {call: placeholder(work.ledger.results[call].data) for call in calls}
    data: JsonObject = {"by": "client", "calls": list(calls), "placeholders": placeholders}
    work.journal.append("clear", turn, data)


def cleared(bench: Bench, script: Sequence[Turn]) -> None:
    """Run the script with every earlier answer cleared before each turn."""
    with bench.work(ScriptedModel(script)) as (work, _):
        for turn in range(1, len(script) + 1):
            uses = [use for use in work.view.tool_uses() if not use.is_cleared]
            if uses:
                emptied(work, turn, [use.call for use in uses])
            tools_step(work, turn, model_step(work, turn).tool_calls)


def test_an_answer_that_was_cleared_is_always_served_whole_and_is_no_repeat(bench: Bench) -> None:
    overview: Call = ("logbook_overview", {})

    cleared(bench, [[overview]] * 12)

    assert worths(bench) == ["news", *["reread"] * 11]
    assert all("cannot resolve" in text for text in texts(bench))
    assert not any("nudge" in event.data for event in bench.results())


def test_re_reads_of_cleared_answers_say_that_keep_is_too_tight(bench: Bench) -> None:
    cleared(bench, [[("logbook_overview", {})]] * 5)

    ledger = Ledger(bench.events)
    assert [event.data.get("rereads") for event in bench.results()][1:] == ["logbook_overview"] * 4
    assert "keep is too tight for logbook_overview: 4" in ledger.advice["logbook_overview"]


def test_lines_that_a_cleared_answer_showed_and_are_read_again_count_as_too_tight(
    bench: Bench,
) -> None:
    reads: list[Turn] = [
        [("read_scratch", {"handle": "R0001", "first": 1, "count": n})] for n in (1, 2, 3)
    ]

    cleared(bench, [[SEARCH], *reads])

    assert list(Ledger(bench.events).advice) == ["search_logbook"]


def test_a_run_that_pages_and_reads_slices_is_never_stopped(bench: Bench) -> None:
    log = "".join(
        f"2026-11-30 11:{n // 60:02}:{n % 60:02},000 INFO mover: copied /store/{n}.root\n"
        for n in range(600)
    )
    (bench.workspace.settings.state.parent / "many.log").write_text(log)
    bench.workspace.logbooks["logs"].import_file(
        bench.workspace.settings.state.parent / "many.log", "many.log"
    )

    def page(n: int) -> Turn:
        if n == 0:
            return [("search_logbook", {"text": "copied", "limit": 20})]
        return [("read_scratch", {"handle": "R0001", "first": n, "count": 1})]

    slices: list[Turn] = [
        [
            (
                "search_logbook",
                {
                    "text": "copied",
                    "since": f"2026-11-30T11:00:{n:02}Z",
                    "until": f"2026-11-30T11:00:{n + 2:02}Z",
                },
            )
        ]
        for n in range(0, 40, 2)
    ]
    bench.budgets = replace(bench.budgets, turns=100)

    bench.run([*[page(n) for n in range(19)], *slices, GIVE_UP])

    assert set(worths(bench)) == {"news"}
    assert len(bench.results()) == 40


def test_paging_by_cursor_is_news_on_every_page(bench: Bench) -> None:
    turns: list[Turn] = [[("search_logbook", {"limit": 1})]]
    for _ in range(8):
        bench.run([*turns, GIVE_UP])
        [newest] = [event for event in bench.results() if event.turn == len(turns)]
        cursor = json.loads(str(newest.data["text"]))["facts"]["cursor"]
        turns.append([("search_logbook", {"limit": 1, "cursor": cursor})])
        bench = Bench(made_workspace(bench.workspace.settings.state.parent / f"p{len(turns)}"))
    bench.run([*turns, GIVE_UP])

    assert worths(bench) == ["news"] * 10


def test_a_listing_asked_for_after_each_of_four_compactions_is_fetched_once(bench: Bench) -> None:
    listing: Call = ("logbook_patterns", {})
    with bench.work(ScriptedModel([[listing]])) as (work, _):
        for turn in range(1, 14, 3):
            tools_step(work, turn, [ToolCall(f"a{turn}", *listing)])
            for more in (1, 2):
                tools_step(work, turn + more, [ToolCall(f"b{turn + more}", *SEARCH)])
            compact_view(work, turn + 3, "state")

    asked = [event for event in bench.results() if event.data["tool"] == "logbook_patterns"]
    assert [event.data.get("repeats") for event in asked] == [None, 1, 1, 1, 1]
    assert [event.data["worth"] for event in asked] == ["news", *["reread"] * 4]
    assert all('"rows"' in str(event.data["text"]) for event in asked)


def test_the_guard_is_the_same_after_a_restart(bench: Bench) -> None:
    bench.run([[hour(second)] for second in range(20)])

    again = Guard()
    for event in bench.events:
        again.add(event)

    assert again.ends()
    assert again.asked.known("search_logbook", dict(hour(30)[1]))


def test_a_partial_answer_is_tried_once_more_then_served() -> None:
    guard = Guard()
    like: JsonObject = {"text": "a"}
    data: JsonObject = {"tool": "search_logbook", "arguments": like, "ok": True, "complete": False}

    guard.add(Event(1, datetime(2026, 1, 1, tzinfo=UTC), "result", 1, data | {"call": "a"}))
    first = guard.asked.known("search_logbook", like)
    guard.add(Event(2, datetime(2026, 1, 1, tzinfo=UTC), "result", 2, data | {"call": "b"}))

    assert first is None
    assert guard.asked.known("search_logbook", like) is not None


def test_an_answer_that_compaction_dropped_is_served_whole(bench: Bench) -> None:
    overview: Call = ("logbook_overview", {})
    with bench.work(ScriptedModel([[overview], [SEARCH], [SEARCH], [overview]])) as (work, _):
        for turn in (1, 2, 3):
            tools_step(work, turn, model_step(work, turn).tool_calls)
        compact_view(work, 4, "state")
        [event] = tools_step(work, 4, [ToolCall("toolu_x", *overview)])

    assert event.data["worth"] == "reread"
    assert "cannot resolve" in str(event.data["text"])
    assert bench.results()[-1].data["repeats"] == 1
    assert "rereads" not in event.data

"""The calls of one turn: how many run, what is served again, and a kill between two answers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copilot import app
from copilot.calls import tools_step
from copilot.config import load_settings
from copilot.models.model import ToolCall
from copilot.upkeep import compact_view
from copilot.workspace import Workspace
from tests.bench import ALERT, NOW, SEARCH, Bench, made_workspace
from tests.doubles.messages_api import MessagesApi, calls, says
from tests.doubles.scripted_model import ScriptedModel


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh workspace."""
    return Bench(made_workspace(tmp_path / "ws"))


class Killed(BaseException):
    """What a kill is to the code that runs: nothing after it happens."""


def contexts(count: int) -> list[ToolCall]:
    """So many different calls."""
    return [
        ToolCall(f"toolu_{n}", "logbook_context", {"source": "app.log", "line": 1 + n % 9})
        for n in range(count)
    ]


@pytest.mark.parametrize("kept", [1, 5, 8, 10])
def test_killed_between_two_answers_the_same_eight_calls_run(bench: Bench, kept: int) -> None:
    many = [*contexts(9), *(ToolCall(f"more_{n}", *SEARCH) for n in range(3))]
    with bench.work(ScriptedModel([""])) as (work, _):
        append = work.journal.append

        def dying(*args: Any) -> Any:
            if len(bench.results()) >= kept:
                raise Killed
            return append(*args)

        work.journal.append = dying  # type: ignore[method-assign, assignment]  # the kill
        with pytest.raises(Killed):
            tools_step(work, 1, many)

    with bench.work(ScriptedModel([""])) as (work, _):
        results = tools_step(work, 1, many)

    assert [event.data["call"] for event in results] == [call.id for call in many]
    assert [event.data["ok"] for event in results] == [True] * 8 + [False] * 4


def test_the_same_call_twice_in_a_turn_is_run_once(bench: Bench) -> None:
    with bench.work(ScriptedModel([""])) as (work, _):
        first, second = tools_step(work, 1, [ToolCall("a", *SEARCH), ToolCall("b", *SEARCH)])

    assert "repeats" not in first.data
    assert second.data["repeats"] == 1
    assert second.data["handle"] == first.data["handle"]


def test_a_re_read_that_the_turn_has_no_room_for_is_put_off_and_then_whole(bench: Bench) -> None:
    overview = {"bucket": "5m"}
    with bench.work(ScriptedModel([""])) as (work, _):
        tools_step(work, 1, [ToolCall("a", "logbook_overview", overview)])
        for turn in (2, 3):
            tools_step(work, turn, [ToolCall(f"b{turn}", *SEARCH)])
        compact_view(work, 4, "state")
        narrow = replace(work, policy=work.policy.model_copy(update={"turn_tokens": 700}))
        ahead = ToolCall("c", "search_logbook", {"text": "job"})
        [_, put_off] = tools_step(narrow, 4, [ahead, ToolCall("d", "logbook_overview", overview)])
        [alone] = tools_step(narrow, 5, [ToolCall("e", "logbook_overview", overview)])

    assert "no room left for it" in str(put_off.data["text"])
    assert '"rows"' in str(alone.data["text"])
    assert alone.data["worth"] == "reread"


def test_a_loop_on_the_strict_double_ends_in_a_report_without_a_refused_request(
    tmp_path: Path,
) -> None:
    def reply(body: dict[str, Any]) -> Any:
        if body.get("tool_choice") == {"type": "none"}:
            return says("I am still looking.")
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return calls(("search_logbook", {"text": "nowhere", "limit": 1 + turn}))

    made_workspace(tmp_path)
    with MessagesApi(*[reply] * 30) as api:
        options = {"model.name": "claude-sonnet-4-6", "model.base_url": api.url}
        settings = load_settings(tmp_path, {}, tmp_path, options)
        key = {"ANTHROPIC_API_KEY": MessagesApi.key}
        ending = app.run(Workspace(settings, key, now=lambda: NOW), ALERT, app.Wishes())

    assert api.refusals == []
    assert ending.page.limit == "repeats"
    assert ending.page.cost.turns == 12

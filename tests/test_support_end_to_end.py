"""Support is discovered, not assumed: a lever that is refused or ignored is pulled on our side."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copilot import app
from copilot.config import load_settings
from copilot.journal import Event
from copilot.notebook import Ending
from copilot.values import list_at, object_at, text_at
from copilot.workspace import Workspace
from tests.bench import ALERT, NOW, SEARCH, SUBMIT, made_workspace
from tests.doubles.messages_api import MessagesApi, Options, Status, calls, thinks

TURNS = 24
KEY = {"ANTHROPIC_API_KEY": MessagesApi.key}


def options(**changes: Any) -> Options:
    """The double's behaviour, with a still clock."""
    return replace(Options(now=lambda: 0.0), **changes)


def script() -> list[Any]:
    """A long run of searches with forty hits each, then the report."""
    searches = [
        calls(("search_logbook", {"since": f"2026-11-30T11:{n % 9:02}:{n:02}Z", "order": "oldest"}))
        for n in range(TURNS)
    ]
    return [calls(SEARCH), *searches, calls(SUBMIT)]


def long_log(folder: Path) -> None:
    """Six hundred lines for the searches to find."""
    lines = [
        f"2026-11-30 11:{n // 60:02}:{n % 60:02},000 INFO mover: copied /store/{n}.root for wf_gamma_{n:04}"
        for n in range(600)
    ]
    (folder / "many.log").write_text("\n".join(lines) + "\n")


def run(
    folder: Path, api: MessagesApi, model: str = "claude-sonnet-4-6", **settings: Any
) -> tuple[list[Event], Ending]:
    """Investigate; the events and how it ended."""
    workspace = made_workspace(folder)
    long_log(folder)
    workspace.logbooks["logs"].import_file(folder / "many.log", "many.log")
    chosen = {"model.name": model, "model.base_url": api.url, "budgets.turns": 60, **settings}
    workspace = Workspace(load_settings(folder, {}, folder, chosen), KEY, now=lambda: NOW)
    events: list[Event] = []
    ending = app.run(workspace, ALERT, app.Wishes(observe=events.append))
    return events, ending


def kinds(events: list[Event], kind: str, key: str) -> list[Any]:
    """One value of each event of a kind."""
    return [event.data.get(key) for event in events if event.kind == kind]


def test_where_the_models_api_says_so_the_service_clears(tmp_path: Path) -> None:
    with MessagesApi(*script(), options=options()) as api:
        events, ending = run(tmp_path, api)

    assert kinds(events, "support", "origin") == ["models api"]
    assert set(kinds(events, "clear", "by")) == {"server"}
    assert api.refusals == []
    assert ending.report.verdict == "action_needed"


@pytest.mark.parametrize("replays", [True, False])
def test_what_was_cleared_stays_cleared_and_the_rest_stays_in_the_cache(
    tmp_path: Path, replays: bool
) -> None:
    with MessagesApi(*script(), options=options(replays_clearing=replays)) as api:
        events, _ = run(tmp_path, api)

    first = next(event for event in events if event.kind == "clear")
    after = [e for e in events if e.kind == "response" and e.turn > first.turn]
    cleared = [
        int(text_at(edit, "cleared_tool_uses"))
        for e in after
        for edit in list_at(e.data, "applied")
    ]
    written = [int(text_at(object_at(e.data, "usage"), "cache_write")) for e in after]
    assert cleared == sorted(cleared)
    assert max(written[1:3]) < 1500


def test_an_endpoint_that_ignores_clearing_is_noticed_and_we_clear(tmp_path: Path) -> None:
    with MessagesApi(*script(), options=options(edits="ignored")) as api:
        events, ending = run(tmp_path, api)

    assert "ignored" in str(kinds(events, "support", "why")[-1])
    assert kinds(events, "clear", "by")[:2] == ["server", "client"]
    assert ending.report.verdict == "action_needed"


def test_where_thoughts_are_bound_nothing_is_cleared_on_our_side(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "eager.yaml").write_text(
        "name: eager\nlike: default\nclearing:\n  trigger_tokens: 8000\n  at_least_tokens: 500\n"
    )
    thinking = [thinks("hm", turn) for turn in script()]
    with MessagesApi(*thinking, options=options(edits="ignored")) as api:
        events, ending = run(tmp_path, api, model="claude-sonnet-5-5", policy="eager")

    ours = [event for event in events if event.kind == "clear" and event.data["by"] == "client"]
    assert [event.data["calls"] for event in ours] == [[]]
    assert api.refusals == []
    assert ending.report.verdict == "action_needed"


def test_a_refused_lever_is_left_out_once_and_remembered(tmp_path: Path) -> None:
    with MessagesApi(*script(), options=options(edits="refused")) as api:
        events, ending = run(tmp_path, api)
        refused = len(api.refusals)
        api.play(*script())
        again, _ = run(tmp_path, api)

    assert refused == 1
    assert len(api.refusals) == refused
    assert "client" in kinds(events, "clear", "by")
    assert ending.report.verdict == "action_needed"
    assert [event for event in again if event.kind == "clear"] or not again


def test_an_operator_who_knows_better_is_believed(tmp_path: Path) -> None:
    said: dict[str, Any] = {"model.supports": {"clear_tool_uses": False}}
    with MessagesApi(*script(), options=options()) as api:
        events, _ = run(tmp_path, api, **said)

    assert kinds(events, "support", "origin") == ["configured"]
    assert set(kinds(events, "clear", "by")) == {"client"}


def test_a_verdict_is_kept_for_a_day(tmp_path: Path) -> None:
    with MessagesApi(*script(), *script(), options=options()) as api:
        run(tmp_path, api)
        book = json.loads((tmp_path / "state" / "endpoints.json").read_text())

    [entry] = book.values()
    assert entry["support"]["clear_tool_uses"] is True


def test_a_passing_fault_of_the_first_answer_is_no_verdict(tmp_path: Path) -> None:
    with MessagesApi(Status(529, "overloaded_error"), *script(), options=options()) as api:
        events, _ = run(tmp_path, api)

    assert kinds(events, "support", "origin") == ["models api"]

"""The small-window policy works where the window holds 8,000 tokens, on the strict double."""

import time
from pathlib import Path

import pytest

from copilot import app
from copilot.config import load_settings
from copilot.errors import ConfigError
from copilot.journal import Event
from copilot.notebook import Ending
from copilot.workspace import Workspace
from tests.bench import ALERT, FINDING, NOW, SEARCH, SUBMIT, made_workspace
from tests.doubles.messages_api import Json, MessagesApi, Options, calls, says

WINDOW = 8000
COPIES = "".join(
    f"2026-11-30 11:{n // 60:02}:{n % 60:02},000 INFO mover: copied /store/{n}.root for "
    f"wf_gamma_{n:04} at site_{n % 7} in {n * 37 % 900} ms\n"
    for n in range(600)
)
SEARCHES = 25


def investigate(
    folder: Path, api: MessagesApi, policy: str = "small-window", model: str = "claude-haiku-4-5"
) -> tuple[Ending, list[Event]]:
    bench = made_workspace(folder)
    (folder / "many.log").write_text(COPIES)
    bench.logbooks["logs"].import_file(folder / "many.log", "many.log")
    options = {"model.name": model, "model.base_url": api.url, "policy": policy}
    settings = load_settings(folder, {}, folder, options)
    workspace = Workspace(settings, {"ANTHROPIC_API_KEY": api.key}, now=lambda: NOW)
    events: list[Event] = []
    return app.run(workspace, ALERT, app.Wishes(observe=events.append)), events


def story() -> MessagesApi:
    """The cause at once, many searches that all find something new, and summaries on request."""
    searches = [calls(("search_logbook", {"text": f"wf_gamma_0{n:02}*"})) for n in range(SEARCHES)]
    script = [calls(SEARCH), calls(FINDING), *searches, calls(SUBMIT)]

    def answer(view: Json) -> Json:
        last = view["messages"][-1]["content"][-1]
        if str(last.get("text", "")).startswith("Summarise this investigation"):
            return says("Searched for copies; R0001 holds what cannot be resolved.")
        return script.pop(0)

    return MessagesApi(responder=answer, options=Options(now=time.monotonic, window=WINDOW))


def test_a_long_investigation_ends_with_its_report(tmp_path: Path) -> None:
    with story() as api:
        ending, events = investigate(tmp_path, api)

    assert api.refusals == []
    assert ending.report.verdict == "action_needed"
    assert not ending.page.limit
    answers = [event for event in events if event.kind == "response"]
    assert len(answers) == SEARCHES + 3
    assert max(int(str(event.data["context"])) for event in answers) + 1000 < WINDOW
    assert {"clear", "compact"} <= {event.kind for event in events}


def test_only_the_tools_that_it_offers_are_defined(tmp_path: Path) -> None:
    with story() as api:
        investigate(tmp_path, api)

    first = next(sent.body for sent in api.requests if "tools" in sent.body)
    assert len(first["tools"]) == 8
    assert first["max_tokens"] == 1000


def test_a_policy_for_large_windows_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    policy = tmp_path / "large.yaml"
    policy.write_text("name: large\nlike: default\nwindow: {limit_tokens: 8000}\n")

    with story() as api, pytest.raises(ConfigError, match=r"the window of .* is 8000; use policy"):
        investigate(tmp_path, api, policy=str(policy))

    assert api.requests == []


def test_rules_are_offered_every_tool_and_any_window(tmp_path: Path) -> None:
    with story() as api:
        ending, _ = investigate(tmp_path, api, model="offline")

    assert api.requests == []
    assert ending.report.verdict == "action_needed"

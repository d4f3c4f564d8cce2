"""The same investigation on Claude through the official SDK, against the strict double."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from copilot import app, assembly
from copilot.config import load_settings
from copilot.errors import ConfigError, CredentialsError, ModelError
from copilot.models.claude import Claude
from copilot.notebook import Ending
from copilot.workspace import Workspace
from tests.bench import ALERT, FINDING, NOW, SEARCH, SUBMIT, made_workspace
from tests.doubles.messages_api import (
    Cut,
    MessagesApi,
    Reset,
    Status,
    calls,
    says,
    thinks,
)

MODEL = "claude-sonnet-5-5"
KEY = {"ANTHROPIC_API_KEY": MessagesApi.key}
STORY = (calls(SEARCH), calls(FINDING), calls(SUBMIT))


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries wait for no clock here."""
    monkeypatch.setattr("time.sleep", lambda _: None)


def investigate(
    folder: Path, api: MessagesApi, environ: dict[str, str] | None = None, turns: int = 20
) -> tuple[Workspace, Ending]:
    """Run the app on Claude at the double's address."""
    made_workspace(folder)
    settings = load_settings(
        folder, {}, folder, {"model.name": MODEL, "model.base_url": api.url, "budgets.turns": turns}
    )
    workspace = Workspace(settings, KEY if environ is None else environ, now=lambda: NOW)
    return workspace, app.run(workspace, ALERT, app.Wishes())


def asked(api: MessagesApi) -> list[Any]:
    """The bodies of the requests for an answer, without the questions about the model."""
    return [request.body for request in api.requests if request.method == "POST"]


def test_an_investigation_on_claude_ends_in_the_same_report(tmp_path: Path) -> None:
    with MessagesApi(*STORY) as api:
        workspace, ending = investigate(tmp_path, api)

    assert api.refusals == []
    assert ending.report.verdict == "action_needed"
    report = workspace.notes.show_file(ending.incident, "report.md")
    assert report is not None
    assert "app.log:4" in report


def test_thinking_is_sent_back_as_it_came(tmp_path: Path) -> None:
    script = (thinks("where is it?", calls(SEARCH)), thinks("", calls(FINDING)), calls(SUBMIT))
    with MessagesApi(*script) as api:
        _, ending = investigate(tmp_path, api)

    assert api.refusals == []
    assert ending.report.cause is not None


def test_the_second_request_reads_the_prefix_from_the_cache(tmp_path: Path) -> None:
    with MessagesApi(*STORY) as api:
        workspace, ending = investigate(tmp_path, api)

    usage = workspace.notes.show_file(ending.incident, "usage.csv")
    assert usage is not None
    header, _, second, *_ = usage.splitlines()
    read = dict(zip(header.split(","), second.split(","), strict=True))["cache_read"]
    assert int(read) > 1000


def test_every_answer_is_paid_for_in_usage_csv(tmp_path: Path) -> None:
    with MessagesApi(*STORY) as api:
        workspace, ending = investigate(tmp_path, api)

    usage = workspace.notes.show_file(ending.incident, "usage.csv")
    assert usage is not None
    assert "n/a" not in usage
    assert ending.page.cost.usd is not None
    assert ending.page.cost.usd > 0


@pytest.mark.parametrize(
    "faults",
    [
        [Status(429, "rate_limit_error", headers={"retry-after": "1"})],
        [Status(529, "overloaded_error"), Status(529, "overloaded_error")],
        [Status(500, "api_error")],
        [Reset()],
        [Cut(after=2)],
    ],
    ids=["429", "529 twice", "500", "reset", "cut stream"],
)
def test_a_passing_fault_changes_nothing(tmp_path: Path, faults: Sequence[Any]) -> None:
    with MessagesApi(STORY[0], *faults, *STORY[1:]) as api:
        _, ending = investigate(tmp_path, api)

    assert ending.report.verdict == "action_needed"


def test_a_pause_is_answered_by_sending_the_same_content_back(tmp_path: Path) -> None:
    with MessagesApi(STORY[0], says("looking", stop_reason="pause_turn"), *STORY[1:]) as api:
        _, ending = investigate(tmp_path, api)

    assert api.refusals == []
    assert ending.report.verdict == "action_needed"


def test_no_more_tools_is_a_request_that_the_service_takes(tmp_path: Path) -> None:
    script = [calls(SEARCH), calls(FINDING), says("nothing to add")]
    with MessagesApi(*script) as api:
        _, ending = investigate(tmp_path, api, turns=3)

    assert api.refusals == []
    assert ending.page.limit == "turns"


def without_a_key(folder: Path, **model: str) -> Workspace:
    """A workspace with these settings of its model, and an empty environment."""
    made_workspace(folder)
    options: dict[str, Any] = {f"model.{name}": value for name, value in model.items()}
    return Workspace(load_settings(folder, {}, folder, options), {}, now=lambda: NOW)


@pytest.mark.parametrize("url", ["https://api.anthropic.com", "https://api.anthropic.com/"])
def test_without_a_key_the_public_service_is_refused_with_the_way_out(
    tmp_path: Path, url: str
) -> None:
    workspace = without_a_key(tmp_path, name=MODEL, base_url=url)

    with pytest.raises(CredentialsError, match=r"ANTHROPIC_API_KEY.*--model offline"):
        app.run(workspace, ALERT, app.Wishes())


def test_an_endpoint_of_ones_own_is_asked_without_a_key_when_its_model_is_named(
    tmp_path: Path,
) -> None:
    api = MessagesApi(*STORY)
    api.key = assembly.NO_KEY
    with api:
        workspace = without_a_key(tmp_path, name=MODEL, base_url=api.url)
        ending = app.run(workspace, ALERT, app.Wishes())

    assert api.refusals == []
    assert ending.report.verdict == "action_needed"
    assert assembly.unnamed_endpoint(workspace) == ""


def test_an_endpoint_without_key_and_name_is_not_asked_and_that_is_said(tmp_path: Path) -> None:
    with MessagesApi() as api:
        workspace = without_a_key(tmp_path, name="auto", base_url=api.url)
        app.run(workspace, ALERT, app.Wishes())

    assert api.requests == []
    assert assembly.model_name(workspace) == assembly.OFFLINE
    assert "name a model that it serves" in assembly.unnamed_endpoint(workspace)


def test_rules_on_purpose_and_the_public_service_need_no_name(tmp_path: Path) -> None:
    assert not assembly.unnamed_endpoint(without_a_key(tmp_path / "a", name="auto"))
    by_rules = without_a_key(tmp_path / "b", name="offline", base_url="http://127.0.0.1:9")
    assert not assembly.unnamed_endpoint(by_rules)


def test_what_the_endpoint_tells_of_its_window_counts_and_is_refused_when_it_is_too_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Claude.describe

    def small(model: Claude) -> dict[str, Any]:
        return {**(said(model) or {}), "max_input_tokens": 6000}

    monkeypatch.setattr(Claude, "describe", small)
    with (
        MessagesApi(*STORY) as api,
        pytest.raises(ConfigError, match=f"the window of {MODEL} is 6000; use policy small"),
    ):
        investigate(tmp_path, api)

    assert asked(api) == []


def test_a_refused_key_stops_at_once_and_the_same_call_resumes(tmp_path: Path) -> None:
    with MessagesApi(STORY[0], Status(401, "authentication_error"), *STORY[1:]) as api:
        with pytest.raises(ModelError) as refusal:
            investigate(tmp_path, api)
        _, ending = investigate(tmp_path, api)

    assert refusal.value.kind == "auth"
    assert ending.report.verdict == "action_needed"
    assert len(asked(api)) == 4


def test_a_resumed_run_sends_the_bytes_that_the_whole_run_sends(tmp_path: Path) -> None:
    with MessagesApi(*STORY) as whole:
        workspace, _ = investigate(tmp_path / "whole", whole)
    with MessagesApi(STORY[0], Status(401, "authentication_error"), *STORY[1:]) as cut:
        key = tmp_path / "cut" / "state" / "redaction.key"  # the fence is made of it
        key.parent.mkdir(parents=True)
        key.write_bytes((workspace.settings.state / key.name).read_bytes())
        with pytest.raises(ModelError):
            investigate(tmp_path / "cut", cut)
        investigate(tmp_path / "cut", cut)

    first, refused, *rest = asked(cut)
    assert refused == rest[0]
    assert [first, *rest] == asked(whole)

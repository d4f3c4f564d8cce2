"""Sub-investigations: their own window, their parent's scratch and purse, one short text back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from copilot import app, prompt, surface
from copilot.config import load_settings
from copilot.context.usage_rows import rows
from copilot.errors import ModelError
from copilot.investigation import investigate
from copilot.journal import Event, read_events
from copilot.models.model import Request, Response
from copilot.notebook import Ending
from copilot.steps import Budgets, Work
from copilot.subtask import with_tasks
from copilot.tools.catalogue import TOOLS
from copilot.tools.registry import Registry
from copilot.workspace import Workspace
from tests.bench import ALERT, FINDING, NOW, SEARCH, SUBMIT, Bench, made_workspace
from tests.doubles.messages_api import MessagesApi, calls, says
from tests.doubles.scripted_model import Call, ScriptedModel, Turn

FOUND = """\
FINDINGS
- se01.example.org does not resolve, first at 10:30 (R0001:1)
UNCERTAIN
- whether other hosts are hit; R0099:7 was not read
"""
GIVE_UP: Turn = [("submit_report", {"verdict": "inconclusive", "summary": "x"})]


def task(brief: str, **more: Any) -> Call:
    """A call of `task` with a brief that is long enough."""
    return "task", {
        "brief": f"{brief}: what stopped the copies of wf_alpha_001 on 2026-11-30?",
        **more,
    }


@dataclass
class Team:
    """A model that plays the parent's script, or that of the task whose brief begins so."""

    parent: Sequence[Turn]
    tasks: Mapping[str, Sequence[Turn]]
    name: str = "scripted"
    requests: list[Request] = field(default_factory=list)

    def count_tokens(self, request: Request) -> int | None:
        """Return nothing: nobody counts here."""
        return None

    def respond(self, request: Request) -> Response:
        """Return the scripted answer of whoever asks."""
        self.requests.append(request)
        script = self.parent
        if request.system[0]["text"] == prompt.TASK:
            brief = str(request.messages[0]["content"][0]["text"])
            script = next(turns for name, turns in self.tasks.items() if brief.startswith(name))
        return ScriptedModel(script).respond(request)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh workspace."""
    return Bench(made_workspace(tmp_path / "ws"))


@contextmanager
def working(bench: Bench, model: Team) -> Iterator[tuple[Work, Any]]:
    """The bench's work with every tool and with somebody who takes tasks."""
    with bench.work(model) as (work, notebook):  # type: ignore[arg-type]  # a model like the other
        registry = Registry(TOOLS, bench.workspace.redactor)
        frame = replace(work.frame, tools=registry.definitions())
        yield with_tasks(replace(work, registry=registry, frame=frame)), notebook


def run(bench: Bench, parent: Sequence[Turn], **tasks: Sequence[Turn]) -> tuple[Ending, Team]:
    """Investigate with these scripts."""
    model = Team(parent, tasks)
    with working(bench, model) as (work, notebook):
        return investigate(work, notebook), model


def told(bench: Bench) -> list[dict[str, Any]]:
    """What the parent was told by its tasks."""
    return [json.loads(str(e.data["text"])) for e in bench.results() if e.data["tool"] == "task"]


def journals(bench: Bench) -> list[Path]:
    """The journals of the tasks."""
    folder = bench.workspace.journal_path(bench.alert_incident(), 1).parent
    return sorted(folder.glob("0001.task-*.jsonl"))


def test_a_task_answers_findings_and_uncertain_inline(bench: Bench) -> None:
    run(bench, [[task("one")], GIVE_UP], one=[[SEARCH], FOUND])

    [answer] = told(bench)
    assert answer["facts"]["findings"] == [
        "se01.example.org does not resolve, first at 10:30 (R0001:1)"
    ]
    assert answer["facts"]["uncertain"][0].startswith("whether other hosts")
    assert answer["complete"] is True


def test_a_task_sees_its_brief_and_its_tools_and_nothing_else(bench: Bench) -> None:
    _, model = run(bench, [[task("one", tools=["tracker"])], GIVE_UP], one=[FOUND])

    [request] = [item for item in model.requests if item.system[0]["text"] == prompt.TASK]
    assert "WorkflowStalled" not in str(request.messages)
    assert [tool["name"] for tool in request.tools] == [
        "get_ticket", "query_scratch", "read_scratch", "search_scratch", "search_tickets",
    ]  # fmt: skip


def test_a_tasks_results_are_citable_by_its_parent(bench: Bench) -> None:
    ending, _ = run(bench, [[task("one")], [FINDING], [SUBMIT]], one=[[SEARCH], FOUND])

    assert ending.report.verdict == "action_needed"


def test_an_empty_complete_result_of_a_task_shows_absence_to_its_parent(bench: Bench) -> None:
    nowhere: Call = ("search_logbook", {"text": "nowhere"})
    absent: Call = (
        "record_finding",
        {"claim": "no such word", "status": "possible", "evidence": [{"reference": "R0001"}]},
    )

    run(bench, [[task("one")], [absent], GIVE_UP], one=[[nowhere], FOUND])

    assert bench.results()[1].data["ok"] is True


def test_what_a_task_found_keeps_its_line_in_the_parents_ledger(bench: Bench) -> None:
    run(bench, [[task("one")], GIVE_UP], one=[[SEARCH], FOUND])

    [event] = [event for event in bench.results() if event.data["tool"] == "task"]
    assert ["host", "se01.example.org", "R0001:1"] in event.data["artifacts"]  # type: ignore[operator]


def test_a_reference_that_a_task_made_up_is_named(bench: Bench) -> None:
    run(bench, [[task("one")], GIVE_UP], one=["FINDINGS\n- all is well (R0042:3)\nUNCERTAIN\n- no"])

    assert "R0042:3 does not exist" in told(bench)[0]["facts"]["uncertain"]


def test_what_a_task_costs_is_paid_by_its_parent(bench: Bench) -> None:
    ending, model = run(bench, [[task("one")], GIVE_UP], one=[[SEARCH], FOUND])

    assert len(model.requests) == 4
    assert ending.page.cost.tokens == 4 * 120
    assert ending.page.cost.usd == Decimal("0.004")


def test_a_task_is_one_row_of_the_usage_and_the_rows_add_up_to_what_was_spent(bench: Bench) -> None:
    ending, _ = run(bench, [[task("one")], GIVE_UP], one=[[SEARCH], FOUND])

    found = rows(bench.events)
    assert [row.kind for row in found] == ["turn", "task", "turn"]
    assert sum(row.usd or Decimal(0) for row in found) == ending.page.cost.usd


def test_three_tasks_of_a_turn_run_and_the_fourth_is_asked_to_wait(bench: Bench) -> None:
    names = ("one", "two", "three", "four")
    scripts = {name: [FOUND] for name in names}

    run(bench, [[task(name) for name in names], GIVE_UP], **scripts)

    assert [answer["ok"] for answer in told(bench)] == [True, True, True, False]
    assert "at most 3 calls of task a turn" in told(bench)[3]["hint"]
    assert len(journals(bench)) == 3


@pytest.mark.parametrize("kind", ["network", "invalid", "refused", "too_long", "auth"])
def test_a_failure_of_a_task_is_a_text_and_the_parent_goes_on(bench: Bench, kind: str) -> None:
    ending, _ = run(
        bench, [[task("one")], GIVE_UP], one=[[SEARCH], ModelError("down today", kind=kind)]
    )

    [answer] = told(bench)
    assert answer["ok"] is False
    assert "the task came to no answer" in answer["hint"]
    assert answer["facts"]["results"][0].startswith("R0001: search_logbook")
    assert ending.report.summary == "x"


def test_a_failed_task_goes_on_where_it_stopped_and_is_paid_for_once(bench: Bench) -> None:
    broken: Sequence[Turn] = [[SEARCH], ModelError("down", kind="network")]
    model = Team([[task("one")], [task("one")], GIVE_UP], {"one": broken})

    def mend(event: Event) -> None:
        if event.data.get("tool") == "task":
            model.tasks = {"one": [[SEARCH], FOUND]}

    bench.observe = mend
    with working(bench, model) as (work, notebook):
        ending = investigate(work, notebook)

    assert [answer["ok"] for answer in told(bench)] == [False, True]
    assert len(journals(bench)) == 1
    assert ending.page.cost.tokens == 5 * 120


def test_the_limit_of_turns_ends_a_task_in_an_answer_without_tools(bench: Bench) -> None:
    class Stubborn(Team):
        def respond(self, request: Request) -> Response:
            if request.tool_choice == {"type": "none"}:
                self.requests.append(request)
                return ScriptedModel([FOUND]).respond(replace(request, messages=()))
            return super().respond(request)

    look: Turn = [("logbook_overview", {"bucket": "5m"})]
    other: Turn = [SEARCH]
    model = Stubborn([[task("one", max_turns=3)], GIVE_UP], {"one": [look, other, look]})
    with working(bench, model) as (work, notebook):
        investigate(work, notebook)

    [answer] = told(bench)
    assert answer["why_incomplete"] == "stopped early: turns"
    assert answer["facts"]["findings"]
    assert "Reply now with FINDINGS" in str(model.requests[3].messages[-1])


def test_a_task_stays_inside_what_its_parent_has_left(bench: Bench) -> None:
    bench.budgets = Budgets(20, 8120, Decimal("0.801"), timedelta(hours=1))

    run(bench, [[task("one")], GIVE_UP], one=[FOUND])

    [path] = journals(bench)
    budgets = read_events(path)[0].data["budgets"]
    assert budgets == {"turns": 8, "tokens": 2000, "usd": "0.200", "wall_time_s": 3600}


def test_a_task_that_loops_is_ended_by_the_guard(bench: Bench) -> None:
    run(bench, [[task("one", max_turns=15)], GIVE_UP], one=[[SEARCH]])

    assert told(bench)[0]["ok"] is False
    assert told(bench)[0]["facts"]["turns"] <= 13


def test_a_task_cannot_give_tasks(bench: Bench) -> None:
    run(bench, [[task("one")], GIVE_UP], one=[[task("two")], FOUND], two=[FOUND])

    [path] = journals(bench)
    [result] = [event for event in read_events(path) if event.kind == "result"]
    assert "there is no tool 'task'" in str(result.data["text"])


def test_the_record_of_a_task_is_not_taken_for_an_investigation(bench: Bench) -> None:
    ending, _ = run(bench, [[task("one")], GIVE_UP], one=[FOUND])

    assert [path.name for path in bench.workspace.journals(ending.incident)] == ["0001.jsonl"]
    assert bench.workspace.events(ending.incident)[-1].kind == "ended"


class Killed(BaseException):
    """What a kill is to the code that runs: nothing after it happens."""


@pytest.mark.parametrize("requests", [1, 2, 3, 4])
def test_killed_anywhere_a_task_resumes_and_nothing_is_paid_twice(
    bench: Bench, requests: int
) -> None:
    class Dying(Team):
        def respond(self, request: Request) -> Response:
            if len(self.requests) == requests:
                raise Killed
            return super().respond(request)

    scripts: dict[str, Sequence[Turn]] = {"one": [[SEARCH], [("logbook_fields", {})], FOUND]}
    parent: Sequence[Turn] = [[task("one")], GIVE_UP]
    dying = Dying(parent, scripts)
    with pytest.raises(Killed), working(bench, dying) as (work, notebook):
        investigate(work, notebook)

    ending, model = run(bench, parent, **scripts)

    assert len(dying.requests) + len(model.requests) == 5
    assert ending.page.cost.tokens == 5 * 120
    assert told(bench)[0]["facts"]["findings"]


def test_rules_are_given_no_task_tool(bench: Bench) -> None:
    tools = surface.registry_for(bench.workspace).definitions()

    assert "task" not in [tool["name"] for tool in tools]


def test_on_the_strict_double_a_task_is_a_conversation_that_the_service_takes(
    tmp_path: Path,
) -> None:
    def reply(body: dict[str, Any]) -> Any:
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        if body["system"][0]["text"] == prompt.TASK:
            return (calls(SEARCH), says(FOUND))[turn]
        return (calls(task("one"), task("two")), calls(FINDING), calls(SUBMIT))[turn]

    made_workspace(tmp_path)
    with MessagesApi(*[reply] * 7) as api:
        options = {"model.name": "claude-sonnet-4-6", "model.base_url": api.url}
        settings = load_settings(tmp_path, {}, tmp_path, options)
        key = {"ANTHROPIC_API_KEY": MessagesApi.key}
        workspace = Workspace(settings, key, now=lambda: NOW)
        ending = app.run(workspace, ALERT, app.Wishes())

    assert api.refusals == []
    assert ending.report.verdict == "action_needed"
    assert sum(request.method == "POST" for request in api.requests) == 7


def test_the_system_prompt_speaks_of_tasks_only_where_there_are_any() -> None:
    assert prompt.system(["task"]) == prompt.SYSTEM
    assert "task looks into" not in prompt.system(["search_logbook"])
    assert "\n\n\n" not in prompt.system([])

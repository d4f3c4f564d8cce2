"""The loop: every kind of answer, every limit, and a resume from any moment."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from copilot import app
from copilot.errors import ModelError
from copilot.investigation import investigate
from copilot.models.model import Request
from copilot.notes.sections import Citation, Finding, Question
from copilot.notes.state import State
from copilot.settings import Source
from copilot.workspace import Workspace
from tests.bench import ALERT, FINDING, NOW, REPORT, SEARCH, STORY, SUBMIT, Bench, made_workspace
from tests.doubles.scripted_model import ScriptedModel, Turn, message


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh workspace."""
    return Bench(made_workspace(tmp_path / "ws"))


def texts(bench: Bench) -> list[str]:
    """What the model was told by each tool."""
    return [str(event.data["text"]) for event in bench.results()]


def test_an_alert_becomes_a_report_whose_lines_exist(bench: Bench) -> None:
    ending = bench.run(STORY)

    report = bench.workspace.notes.show_file(ending.incident, "report.md")
    assert report is not None
    assert "app.log:4" in report
    assert "ACTION NEEDED" in report


def test_the_report_and_its_notes_are_one_commit_with_trailers(bench: Bench) -> None:
    ending = bench.run(STORY)

    newest = bench.workspace.notes.history(ending.incident)[0]
    assert newest.trailers["Incident"] == ending.incident
    assert {"Turn", "Model", "Tokens", "Cost"} <= newest.trailers.keys()
    usage = bench.workspace.notes.show_file(ending.incident, "usage.csv")
    assert usage is not None
    assert usage.count("\n") == 4


@pytest.mark.bad_input("B87")
def test_a_clock_in_1970_keeps_no_investigation_from_its_report(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path / "ws")
    early = Workspace(workspace.settings, {}, now=lambda: datetime(1970, 1, 1, 0, 5, tzinfo=UTC))

    ending = Bench(early).run(STORY)

    report = early.notes.show_file(ending.incident, "report.md")
    assert report is not None
    assert "app.log:4" in report
    assert workspace.notes.history(ending.incident)


def test_an_unknown_tool_gets_a_text_with_the_nearest_name(bench: Bench) -> None:
    bench.run([[("search_logbok", {"text": "x"})], *STORY])

    assert "did you mean search_logbook?" in texts(bench)[0]


@pytest.mark.parametrize(
    "arguments",
    [
        {"txt": "a"},
        {"limit": "abc"},
        {"limit": -1},
        {"since": "1732693003E+3"},
        {"levels": "ERROR"},
    ],
)
def test_arguments_that_do_not_fit_get_a_text_and_the_turn_goes_on(
    bench: Bench, arguments: dict[str, object]
) -> None:
    ending = bench.run([[("search_logbook", arguments)], *STORY])

    assert bench.results()[0].data["ok"] is False
    assert ending.report.verdict == "action_needed"


def test_a_tool_that_fails_inside_never_ends_the_run(bench: Bench) -> None:
    [tracker] = bench.workspace.settings.trackers
    assert isinstance(tracker, Source)
    tracker.path.write_bytes(b"not a database" * 100)

    ending = bench.run([[("search_tickets", {"text": "x"})], *STORY])

    assert bench.results()[0].data["ok"] is False
    assert ending.report.cause is not None


def test_two_hundred_calls_in_a_turn_are_answered_and_eight_are_run(bench: Bench) -> None:
    many = [
        ("logbook_context", {"source": "app.log", "line": 1 + n % 9, "before": n % 5})
        for n in range(200)
    ]

    bench.run([many, [SEARCH], [("submit_report", {"verdict": "inconclusive", "summary": "x"})]])

    first = [event for event in bench.results() if event.turn == 1]
    assert len(first) == 200
    assert sum(event.data["ok"] is True for event in first) == 8


def test_the_same_call_ten_times_is_served_from_scratch_and_says_so(bench: Bench) -> None:
    bench.run([*[[SEARCH]] * 10, [FINDING], [SUBMIT]])

    repeats = [text for text in texts(bench) if text.startswith('{"repeat"')]
    assert len(repeats) == 9
    assert len(bench.workspace.scratch(bench.alert_incident()).handles()) == 1


def test_an_empty_result_is_an_answer_with_total_zero(bench: Bench) -> None:
    bench.run([[("search_logbook", {"text": "no_such_word_anywhere"})], *STORY])

    assert '"total":0' in texts(bench)[0]


def test_text_without_a_report_is_asked_for_one_twice_then_ended(bench: Bench) -> None:
    ending = bench.run(["I think it is fine."])

    assert [event.kind for event in bench.events].count("nudge") == 2
    assert ending.report.verdict == "inconclusive"
    assert ending.page.author == "code"


@pytest.mark.parametrize(
    ("limit", "budgets"),
    [
        ("turns", {"turns": 4}),
        ("tokens", {"tokens": 500}),
        ("usd", {"usd": Decimal("0.004")}),
        ("wall_time", {"wall_time": timedelta(seconds=-1)}),
    ],
)
def test_every_budget_ends_in_a_last_turn_without_tools_and_a_report_that_names_it(
    bench: Bench, limit: str, budgets: dict[str, object]
) -> None:
    bench.budgets = replace(bench.budgets, **budgets)  # type: ignore[arg-type]  # one field each

    ending = bench.run([*[[SEARCH]] * 99])

    assert ending.page.limit == limit
    report = bench.workspace.notes.show_file(ending.incident, "report.md")
    assert report is not None
    assert f"limit: {limit}" in report
    assert ending.page.cost.turns <= 5


def test_the_last_turn_may_hand_in_its_report_as_text(bench: Bench) -> None:
    bench.budgets = replace(bench.budgets, turns=3)
    import json

    ending = bench.run([[SEARCH], [FINDING], f"Here it is: {json.dumps(REPORT)}"])

    assert ending.page.author == "model"
    assert ending.report.verdict == "action_needed"


def test_a_report_built_by_code_keeps_the_findings_with_their_lines(bench: Bench) -> None:
    bench.budgets = replace(bench.budgets, turns=3)

    ending = bench.run([[SEARCH], [FINDING], "I would rather not."])

    assert ending.page.author == "code"
    assert ending.report.evidence[0].evidence[0].reference == "R0001:1"


def test_an_operator_who_asks_for_the_report_gets_it_after_the_turn(bench: Bench) -> None:
    bench.stop = "operator"

    ending = bench.run(STORY)

    assert ending.page.limit == "operator"


def test_a_refusal_ends_in_a_report_and_is_not_asked_again(bench: Bench) -> None:
    refusal = message([{"type": "text", "text": "no"}], "refusal")

    ending = bench.run([[SEARCH], refusal])

    assert ending.page.author == "code"
    assert [event.kind for event in bench.events].count("response") == 2


def test_an_answer_cut_inside_a_call_is_never_run_and_asked_for_again(bench: Bench) -> None:
    cut = message(
        [{"type": "tool_use", "id": "t", "name": "submit_report", "input": {}}], "max_tokens"
    )

    ending = bench.run([[SEARCH], cut])

    assert [event.data["tool"] for event in bench.results()] == ["search_logbook"]
    assert ending.page.author == "code"
    assert sum(event.kind == "response" for event in bench.events) == 4


def test_the_error_of_a_gateway_is_not_taken_for_an_answer(bench: Bench) -> None:
    ending = bench.run([[SEARCH], "Prompt is too long"])

    assert ending.page.limit == "window"
    assert "Prompt is too long" not in ending.report.summary


@pytest.mark.parametrize(
    "kind", ["auth", "billing", "spend_cap", "network", "overloaded", "failed"]
)
def test_a_service_that_cannot_be_had_raises_and_the_same_call_resumes(
    bench: Bench, kind: str
) -> None:
    with pytest.raises(ModelError):
        bench.run([[SEARCH], ModelError("down", kind=kind)])

    ending = bench.run(STORY)

    assert ending.report.verdict == "action_needed"
    assert sum(event.kind == "response" for event in bench.events) == 3


def test_a_pause_between_two_sessions_is_not_time_at_work(bench: Bench, tmp_path: Path) -> None:
    bench.budgets = replace(bench.budgets, wall_time=timedelta(minutes=30))
    killed_after(bench, STORY, 5)
    later = NOW + timedelta(hours=5)
    bench.workspace = replace(bench.workspace, now=lambda: later)

    ending = bench.run(STORY)

    assert ending.page.limit == ""


def test_one_turn_is_the_report_alone(bench: Bench) -> None:
    bench.budgets = replace(bench.budgets, turns=1)

    ending = bench.run(["nothing to say"])

    assert sum(event.kind == "response" for event in bench.events) == 1
    assert ending.page.limit == "turns"


def test_what_an_operator_wrote_never_keeps_a_report_from_being_built(bench: Bench) -> None:
    def longer(state: State) -> State:
        return replace(
            state, findings=(Finding("x" * 1900, "likely", (Citation("R0001:1", "y" * 600),)),)
        )

    bench.workspace.notes.update(bench.alert_incident(), longer, subject="by hand", trailers={})
    bench.budgets = replace(bench.budgets, turns=2)

    ending = bench.run([[SEARCH], "no"])

    assert ending.page.author == "code"


def test_a_secret_in_the_question_or_in_an_operators_note_reaches_no_request_and_no_journal(
    tmp_path: Path,
) -> None:
    secret = "ghp_" + "a1B2" * 9
    workspace = made_workspace(tmp_path / "ws")
    ending = app.run(workspace, ALERT, app.Wishes(question=f"is {secret} used?"))

    [journal] = workspace.journals(ending.incident)
    assert secret not in journal.read_text()


def test_another_question_is_another_investigation(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path / "ws")
    first = app.run(workspace, ALERT, app.Wishes(question="why?"))

    app.resume(workspace, first.incident, app.Wishes(question="since when?"))

    assert len(workspace.journals(first.incident)) == 2


class CountedModel(ScriptedModel):
    """A scripted model whose service counts tokens when it is asked."""

    counted = 150_000

    def count_tokens(self, request: Request) -> int | None:
        """Return the service's count."""
        return self.counted


@pytest.mark.parametrize(("counted", "limit"), [(150_000, ""), (239_000, "window")])
def test_near_the_window_the_services_own_count_decides(
    bench: Bench, counted: int, limit: str
) -> None:
    model = CountedModel(STORY)
    model.counted = counted
    with bench.work(model) as (work, notebook):
        size = sum(work.view.sizes.values()) + work.frame.bytes
        work.ledger.per_byte = 200_000 / size
        ending = investigate(replace(work, window=240_000), notebook)

    assert ending.page.limit == limit


def test_what_left_the_view_is_said_once_more_when_a_budget_nears_its_end(bench: Bench) -> None:
    def asked(state: State) -> State:
        return replace(state, open_questions=(Question("who changed the name server?"),))

    bench.workspace.notes.update(bench.alert_incident(), asked, subject="by hand", trailers={})
    bench.budgets = replace(bench.budgets, turns=9)

    bench.run([[SEARCH]] * 20)

    [state] = [event for event in bench.events if event.kind == "state"]
    assert state.turn == 8
    assert "who changed the name server?" in str(state.data["text"])


class Killed(BaseException):
    """What a kill is to the code that runs: nothing after it happens."""


def killed_after(bench: Bench, script: Sequence[Turn], count: int) -> None:
    """Run until *count* events are recorded, then stop dead."""
    from copilot.investigation import investigate
    from tests.doubles.scripted_model import ScriptedModel

    with bench.work(ScriptedModel(script)) as (work, notebook):
        append = work.journal.append

        def dying(*args: object) -> object:
            if len(work.journal.events) >= count:
                raise Killed
            return append(*args)  # type: ignore[arg-type]  # passed through

        work.journal.append = dying  # type: ignore[method-assign, assignment]  # the kill
        with pytest.raises(Killed):
            investigate(work, notebook)


STORY_EVENTS = 13


@pytest.mark.parametrize("count", range(1, STORY_EVENTS))
def test_killed_after_any_event_it_resumes_to_the_same_report_and_pays_nothing_twice(
    bench: Bench, tmp_path: Path, count: int
) -> None:
    whole = Bench(made_workspace(tmp_path / "whole"))
    expected = whole.run(STORY)
    assert len(whole.events) == STORY_EVENTS

    killed_after(bench, STORY, count)
    ending = bench.run(STORY)

    assert ending.report == expected.report
    for name in ("STATE.md", "report.md", "report.json"):
        ours = bench.workspace.notes.show_file(ending.incident, name)
        assert ours == whole.workspace.notes.show_file(expected.incident, name), name
    assert sum(event.kind == "response" for event in bench.events) == 3

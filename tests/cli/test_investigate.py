"""`copilot investigate`: targets, outputs, exit codes, Ctrl-C."""

import json
import signal
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import get_args

import pytest

from copilot.cli.follow import Follower
from copilot.cli.session import Session
from copilot.cli.targets import with_words
from copilot.cli.ui import Progress, Screen, Style
from copilot.errors import UsageError
from copilot.journal import Event, Kind
from copilot.notes.git import Git
from copilot.window import ALWAYS, Window, parse_iso
from tests.cli.conftest import ALERT, HOSTILE, Run, in_process_of_its_own
from tests.doubles.messages_api import MessagesApi, calls

Act = Callable[[str], None]


class Watched(Progress):
    """A progress on which somebody acts: at each event, *act* sees what is printed."""

    def __init__(self, screen: Screen, act: Act) -> None:
        super().__init__(screen)
        self._act = act

    def event(self, time: datetime, text: str, style: Style = "") -> None:
        super().event(time, text, style)
        self._act(text)


class WatchedScreen(Screen):
    """A screen before which somebody sits."""

    def __init__(self, act: Act) -> None:
        super().__init__("never")
        self._act = act

    def progress(self) -> Progress:
        return Watched(self, self._act)


def watched(act: Act) -> Session:
    """Return a session whose progress is watched."""
    return Session(WatchedScreen(act))


def at(words: str, number: int, times: int = 1) -> Act:
    """Return who raises a signal, at most so often, each time when *words* are printed."""
    left = [times]

    def act(text: str) -> None:
        if words in text and left[0]:
            left[0] -= 1
            signal.raise_signal(number)

    return act


def test_an_alert_file_becomes_a_report_with_a_card(filled: Path, run: Run) -> None:
    said = run("investigate", "alert.json")

    assert said.code == 0
    assert "investigator: offline rules, not a language model" in said.err
    assert "Investigator: offline rules, not a language model" in said.out
    incident = run("incidents", "list", "-q").out.strip()
    for line in (
        f"Report: {filled / 'notes' / incident / 'report.md'}",
        f"Notes: {filled / 'notes' / incident / 'STATE.md'}",
        f"Evidence: {filled / 'scratch' / incident}",
        f"  copilot scratch ls {incident}",
    ):
        assert line in said.out.splitlines()
    for path in ("report.md", "STATE.md"):
        assert (filled / "notes" / incident / path).is_file()


def test_on_a_pipe_each_event_is_one_line_with_its_time(filled: Path, run: Run) -> None:
    said = run("investigate", "alert.json")

    events = [line for line in said.err.splitlines() if "turn" in line]
    assert events
    for line in events:
        assert parse_iso(line.split()[0])


def test_stdin_is_an_alert_too(filled: Path, run: Run) -> None:
    assert run("investigate", "-", stdin=ALERT).code == 0


@pytest.mark.parametrize(
    "body", ["", "null", "[]", "{}", '{"a":', b"\xff\xfe", "[" * 10_000, '{"title": NaN}']
)
def test_what_is_no_alert_is_refused_in_one_line(filled: Path, body: str | bytes, run: Run) -> None:
    said = run("investigate", "-", stdin=body)

    assert said.code == 2
    assert len(said.err.splitlines()) == 1
    assert run("incidents", "list", "-q").out == ""


def test_the_key_of_a_ticket_is_a_target(filled: Path, run: Run) -> None:
    said = run("investigate", "OPS-7", "--json")

    assert said.code == 0
    assert json.loads(said.out)["title"] == "wf_alpha_20260131 does not move"
    assert "ghp_" not in said.out + said.err


def test_a_workflow_needs_a_question(filled: Path, run: Run) -> None:
    without = run("investigate", "wf_beta_20260131")
    asked = run("investigate", "wf_beta_20260131", "--question", "Is it done?", "--json")

    assert without.code == 2
    assert "--question" in without.err
    assert asked.code == 0
    assert json.loads(asked.out)["title"] == "wf_beta_20260131"


def test_a_missing_file_is_not_taken_for_a_workflow(filled: Path, run: Run) -> None:
    said = run("investigate", "nowhere/alert.json", "--question", "why?")

    assert said.code == 4
    assert "there is no file" in said.err


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("inc-20260101-000000", 4, "`copilot incidents list`"),
        ("OPS-1", 4, "no ticket OPS-1 was imported; `copilot tickets import FILE...`"),
        ("wf a'b", 2, """investigate 'wf a'"'"'b' --question"""),
        ("folder", 2, "folder is a folder; name a JSON file"),
    ],
)
def test_a_target_that_is_nothing_here_is_told_what_it_could_have_been(
    filled: Path, target: str, code: int, words: str, run: Run
) -> None:
    (filled / "folder").mkdir()
    said = run("investigate", target)

    assert said.code == code
    assert words in said.err
    assert len(said.err.splitlines()) == 1


def test_a_resolved_alert_is_not_investigated_unless_one_asks(filled: Path, run: Run) -> None:
    resolved = json.dumps(json.loads(ALERT) | {"status": "resolved"})
    said = run("investigate", "-", stdin=resolved)

    assert said.code == 0
    assert "the alert is resolved" in said.err
    assert run("incidents", "list", "-q").out == ""
    asked = run("investigate", "-", "--question", "What was it?", "--json", stdin=resolved)
    assert json.loads(asked.out)["incident"]


def test_a_resolved_alert_of_an_open_incident_belongs_to_it(investigated: str, run: Run) -> None:
    resolved = json.dumps(json.loads(ALERT) | {"status": "resolved"})
    said = run("investigate", "-", "--json", stdin=resolved)

    assert json.loads(said.out)["incident"] == investigated


def test_a_title_of_two_lines_is_printed_on_one(filled: Path, run: Run) -> None:
    alert = json.dumps(json.loads(ALERT) | {"title": "x\nReport: /etc/passwd"})
    said = run("investigate", "-", stdin=alert)

    assert "x Report: /etc/passwd" in said.out.splitlines()
    assert "Report: /etc/passwd" not in said.out.splitlines() + said.err.splitlines()


def test_an_incident_is_investigated_anew_by_its_id(investigated: str, run: Run) -> None:
    said = run("investigate", investigated, "--json")

    assert said.code == 0
    assert json.loads(said.out)["incident"] == investigated
    assert run("incidents", "list", "-q").out.split() == [investigated]


def test_json_is_the_report_and_nothing_else(filled: Path, run: Run) -> None:
    report = json.loads(run("investigate", "alert.json", "--json").out)

    assert report["schema"] == "copilot.report/1"
    assert report["model"] == "offline"
    assert (filled / "notes" / report["incident"] / "report.json").is_file()


def test_jsonl_is_one_event_a_line_and_the_report_last(filled: Path, run: Run) -> None:
    lines = [
        json.loads(line) for line in run("investigate", "alert.json", "--jsonl").out.splitlines()
    ]

    assert [line["schema"] for line in lines[:-1]] == ["copilot.event/1"] * (len(lines) - 1)
    assert [line["seq"] for line in lines[:-1]] == list(range(1, len(lines)))
    assert lines[0]["kind"] == "started"
    assert lines[-1]["schema"] == "copilot.report/1"


def test_both_json_forms_at_once_are_refused(filled: Path, run: Run) -> None:
    assert run("investigate", "alert.json", "--json", "--jsonl").code == 2


def test_the_window_is_said_and_goes_into_the_question(filled: Path, run: Run) -> None:
    said = run(
        "investigate", "wf_beta_20260131", "--question", "Is it done?",
        "--since", "2026-01-31T12:00:00Z", "--until", "2026-01-31T13:00:00+00:00", "--show-request",
    )  # fmt: skip

    assert "window: [2026-01-31T12:00:00Z, 2026-01-31T13:00:00Z) UTC" in said.err
    first = json.loads(said.out)["messages"][0]["content"][0]["text"]
    assert "Window: [2026-01-31T12:00:00Z, 2026-01-31T13:00:00Z) UTC" in first
    assert '"starts_at":"2026-01-31T12:00:00Z"' in first


def test_the_words_of_a_window_are_absolute() -> None:
    window = Window(parse_iso("2026-01-31T12:00:00Z"), None)

    assert with_words("Why?", window) == "Why?\nWindow: [2026-01-31T12:00:00Z, …) UTC"
    assert with_words("Why?", ALWAYS) == "Why?"
    with pytest.raises(UsageError):
        Window(window.start, window.start)


def test_a_request_is_shown_without_opening_an_incident(filled: Path, run: Run) -> None:
    said = run("investigate", "alert.json", "--show-request", "--model", "offline")

    body = json.loads(said.out)
    assert body["messages"][0]["role"] == "user"
    assert body["tools"]
    assert run("incidents", "list", "-q").out == ""


def test_a_past_turn_is_shown_with_its_exact_request(
    investigated: str, filled: Path, run: Run
) -> None:
    shown = run("incidents", "show", investigated, "--turn", "2")
    body = json.loads(run("incidents", "show", investigated, "--turn", "2", "--request").out)
    events = json.loads(run("incidents", "show", investigated, "--turn", "2", "--json").out)[
        "events"
    ]

    assert "request" in shown.out
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert {event["turn"] for event in events} == {2}
    assert run("incidents", "show", investigated, "--turn", "999").code == 4
    assert run("incidents", "show", investigated, "--request").code == 2


def test_a_report_is_shown_again_as_it_was_printed(filled: Path, run: Run) -> None:
    printed = run("investigate", "alert.json").out
    incident = run("incidents", "list", "-q").out.strip()

    shown = run("incidents", "show", incident).out

    card = printed[: printed.index("Report: ")]
    assert card in shown


def test_a_budget_that_ends_it_is_exit_code_five_and_there_is_a_report(
    filled: Path, run: Run
) -> None:
    said = run("investigate", "alert.json", "--max-turns", "2")

    assert said.code == 5
    assert "Ended by a limit: turns" in said.out


def test_an_inconclusive_report_is_exit_code_three_on_wish(filled: Path, run: Run) -> None:
    words = ("investigate", "wf_nobody_knows_20260131", "--question", "Why has it stalled?")

    assert run(*words).code == 0
    assert run(*words, "--exit-code").code == 3


def test_claude_without_a_key_is_exit_code_four(filled: Path, run: Run) -> None:
    said = run("investigate", "alert.json", "--model", "claude-sonnet-5-5")

    assert said.code == 4
    assert "ANTHROPIC_API_KEY" in said.err
    assert "copilot doctor" in said.err


def test_a_local_server_whose_model_nobody_named_is_a_warning(
    filled: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_MODEL__BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("COPILOT_MODEL__NAME", "auto")

    said = run("investigate", "alert.json")

    assert said.code == 0
    assert "http://127.0.0.1:9 is not asked: name a model that it serves" in said.err


def test_a_wrong_option_names_itself(filled: Path, run: Run) -> None:
    said = run("investigate", "alert.json", "--policy", "nope")

    assert said.code == 2
    assert "there is no 'nope'" in said.err


def test_the_first_ctrl_c_finishes_the_turn_and_reports(filled: Path, run: Run) -> None:
    said = run("investigate", "alert.json", obj=watched(at("turn 2: asking", signal.SIGINT)))

    assert said.code == 0
    assert "finishing this turn, then the report" in said.err
    assert "Ended by a limit: operator" in said.out


def test_the_second_ctrl_c_stops_and_the_same_command_resumes(filled: Path, run: Run) -> None:
    act = at("turn 2:", signal.SIGINT, times=2)

    stopped = run("investigate", "alert.json", obj=watched(act))

    assert stopped.code == 130
    assert stopped.out == ""
    incident = run("incidents", "list", "-q").out.strip()
    assert f"resume with: copilot investigate {incident}" in stopped.err
    resumed = run("investigate", incident, "--jsonl")
    assert resumed.code == 0
    assert json.loads(resumed.out.splitlines()[0])["seq"] > 1


def test_git_finishes_what_it_began_although_ctrl_c_reaches_it_too(tmp_path: Path) -> None:
    git = Git(tmp_path)
    git.begin()

    said = git.line("-c", "alias.slow=!kill -INT $PPID && echo finished", "slow")

    assert said == "finished"


def test_sigterm_stops_like_the_second_ctrl_c(filled: Path, run: Run) -> None:
    said = run("investigate", "alert.json", obj=watched(at("turn 2: asking", signal.SIGTERM)))

    assert said.code == 143
    assert "nothing is lost" in said.err


def test_a_timeout_is_exit_code_124_and_resumable(filled: Path, run: Run) -> None:
    armed = []

    def act(text: str) -> None:
        if "turn 2: asking" in text:
            armed.append(signal.getitimer(signal.ITIMER_REAL)[0])
            signal.raise_signal(signal.SIGALRM)

    said = run("investigate", "alert.json", "--timeout", "90s", obj=watched(act))

    assert said.code == 124
    assert 0 < armed[0] <= 90
    assert "resume with: copilot investigate" in said.err


def test_signals_mean_what_they_meant_before_once_it_is_over(filled: Path, run: Run) -> None:
    before = [
        signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    ]

    run("investigate", "alert.json", "--timeout", "90s")

    after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    assert after == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_hostile_alert_reaches_the_screen_harmless(filled: Path, run: Run) -> None:
    alert = {
        "title": HOSTILE,
        "description": f"wf_alpha_20260131 {HOSTILE}",
        "labels": {"a": HOSTILE},
    }

    said = run("investigate", "-", stdin=json.dumps(alert))

    assert said.code == 0
    assert not set("\x1b\x07\x9b\u202e") & set(said.out + said.err)


def test_another_process_on_the_same_incident_is_refused(filled: Path, run: Run) -> None:
    others = []

    def act(text: str) -> None:
        if "turn 1: asking" in text:
            others.append(in_process_of_its_own("investigate", "alert.json"))

    said = run("investigate", "alert.json", obj=watched(act))

    assert said.code == 0
    assert others[0].returncode == 1
    assert b"another process is writing" in others[0].stderr


CAUSE = {
    "claim": "The name of the storage host does not resolve",
    "status": "confirmed",
    "evidence": [{"reference": "R0001:1", "quote": "Name or service not known"}],
}
REPORT = {"verdict": "action_needed", "summary": "Name resolution fails.", "cause": CAUSE}


def test_the_same_command_runs_on_claude(
    filled: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = calls(("search_logbook", {"text": "resolve"}))
    with MessagesApi(search, calls(("submit_report", REPORT))) as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", api.key)
        monkeypatch.setenv("COPILOT_MODEL__BASE_URL", api.url)
        said = run("investigate", "alert.json", "--model", "claude-sonnet-5-5")

    assert said.code == 0, said.err
    assert "investigator: the language model claude-sonnet-5-5" in said.err
    assert "ACTION NEEDED  cause confirmed" in said.out
    assert "    app.log:6  R0001:1  2026-01-31T12:01:00Z" in said.out
    assert "Cost: 2 turns" in said.out
    assert not api.refusals
    assert api.key not in said.out + said.err


def test_a_key_that_is_refused_is_exit_code_four_and_resumable(
    filled: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MessagesApi() as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong-key")
        monkeypatch.setenv("COPILOT_MODEL__BASE_URL", api.url)
        said = run("investigate", "alert.json", "--model", "claude-sonnet-5-5")

    assert said.code == 4
    assert [refusal.status for refusal in api.refusals][-1] == 401
    assert "resume with: copilot investigate inc-" in said.err
    assert "copilot doctor" in said.err
    assert "sk-ant-wrong-key" not in said.err


def test_there_is_a_line_for_every_kind_of_event() -> None:
    noon = parse_iso("2026-01-31T12:00:00Z")
    follower = Follower(lambda: noon)

    for kind in get_args(Kind):
        said, _ = follower.take_in(Event(1, noon, kind, 2, {}))
        assert said.startswith("turn 2: "), kind

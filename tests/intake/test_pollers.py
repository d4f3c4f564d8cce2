"""The scheduler under the polls: late runs once, overruns counted, hung ones alone (B052-B055)."""

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from copilot.errors import ConnectorError
from copilot.intake.cursors import CursorFile
from copilot.intake.pollers import Pollers
from copilot.intake.polls import Accept, Asked, Poll, PollState
from copilot.values import Alert, JsonObject

HOUR = timedelta(hours=1)
LONG = timedelta(hours=10)
LIMIT = 10.0
"""Seconds after which a test gives up; none of them sleeps."""


class Rounds:
    """A question that says when it was asked, and can be held."""

    def __init__(self, *, holds: bool = False, error: Exception | None = None) -> None:
        self.asked: list[tuple[datetime, JsonObject]] = []
        self.begun, self.go = Event(), Event()
        self.error = error
        if not holds:
            self.go.set()

    def __call__(self, now: datetime, cursor: JsonObject, accept: Accept) -> Asked:
        """Ask."""
        self.asked.append((now, cursor))
        self.begun.set()
        self.go.wait()
        if self.error:
            raise self.error
        accept([Alert(source="test", title="t", text="")])
        return Asked({"until": now.isoformat()})

    def again(self) -> None:
        """Wait until it was asked, and be ready for the next time."""
        assert self.begun.wait(LIMIT)
        self.begun.clear()


@pytest.fixture
def taken() -> list[str]:
    """Return the sources of the alerts that were taken in."""
    return []


@pytest.fixture
def pollers(tmp_path: Path, taken: list[str]) -> Iterator[Pollers]:
    """Return pollers that are stopped at the end."""
    made = Pollers(tmp_path, lambda alerts, source: taken.extend([source] * len(alerts)))
    yield made
    made.stop(LIMIT)


def poll(name: str, ask: Rounds, every: timedelta = LONG, patience: float = 60) -> Poll:
    return Poll(name, every, ask, timedelta(seconds=patience))


def until(pollers: Pollers, name: str, holds: Callable[[PollState], bool]) -> PollState:
    """Return the state of a poll as soon as it is so."""
    pause = Event()
    for _ in range(int(LIMIT / 0.005)):
        state = next(one for one in pollers.states() if one.name == name)
        if holds(state):
            return state
        pause.wait(0.005)
    raise AssertionError(f"{name} never got there: {state}")


def job_of(pollers: Pollers, name: str) -> Any:
    """Return what the scheduler knows of a poll."""
    return next(job for job in pollers._scheduler.get_jobs() if job.name == name)


def due_since(pollers: Pollers, name: str, ago: timedelta) -> None:
    """Let the next run of a poll have been due so long ago, as after a suspend."""
    job_of(pollers, name).modify(next_run_time=datetime.now(UTC) - ago)


def test_a_poll_runs_at_the_start_and_its_alert_names_it(
    pollers: Pollers, taken: list[str]
) -> None:
    pollers.start([poll("news", Rounds())])

    state = until(pollers, "news", lambda one: one.standing == "ok")

    assert state.counts.alerts == 1
    assert taken == ["poller:news"]


@pytest.mark.bad_input("B053")
def test_two_hours_down_with_a_poll_each_minute_are_one_poll_over_the_gap(
    pollers: Pollers, tmp_path: Path
) -> None:
    CursorFile(tmp_path, "news").write({"until": "two hours ago"})
    ask = Rounds()

    pollers.start([poll("news", ask, timedelta(minutes=1))])
    until(pollers, "news", lambda one: one.standing == "ok")

    assert [cursor for _, cursor in ask.asked] == [{"until": "two hours ago"}]


@pytest.mark.bad_input("B052", "B053")
def test_a_process_that_slept_polls_once_and_counts_what_it_slept_through(
    pollers: Pollers,
) -> None:
    """Late is not dropped, many are one."""
    ask = Rounds()
    pollers.start([poll("news", ask, timedelta(minutes=1))])
    until(pollers, "news", lambda one: one.standing == "ok")
    ask.begun.clear()
    pollers._last_due[job_of(pollers, "news").id] -= timedelta(hours=2)

    due_since(pollers, "news", timedelta(hours=2))
    ask.again()
    state = until(pollers, "news", lambda one: one.counts.skipped > 0)

    assert len(ask.asked) == 2
    assert state.counts.skipped == 119


@pytest.mark.bad_input("B055")
def test_a_run_that_is_due_during_the_one_before_is_counted_and_logged(
    pollers: Pollers, caplog: pytest.LogCaptureFixture
) -> None:
    ask = Rounds(holds=True)
    pollers.start([poll("news", ask)])
    ask.again()
    due_since(pollers, "news", timedelta(0))

    state = until(pollers, "news", lambda one: one.counts.skipped == 1)

    assert state.standing == "running"
    assert "the run before is still under way" in caplog.text
    ask.go.set()
    assert until(pollers, "news", lambda one: one.standing == "ok").counts.alerts == 1


@pytest.mark.bad_input("B054")
def test_a_hung_poll_stops_no_other_and_is_seen(pollers: Pollers) -> None:
    hung, fine = Rounds(holds=True), Rounds()
    pollers.start([poll("hung", hung, patience=0.02), poll("fine", fine)])

    assert until(pollers, "hung", lambda one: one.standing == "timed out").counts.timed_out == 1
    assert until(pollers, "fine", lambda one: one.standing == "ok").counts.runs == 1
    hung.go.set()


def test_an_error_of_ours_is_counted_and_the_poll_goes_on(pollers: Pollers) -> None:
    ask = Rounds(error=IndexError("a bug"))
    pollers.start([poll("news", ask)])

    assert until(pollers, "news", lambda one: one.counts.broken == 1).standing == "failing"


def test_a_source_that_fails_leaves_its_problem_to_be_read(pollers: Pollers) -> None:
    pollers.start([poll("news", Rounds(error=ConnectorError("no route to the tracker")))])

    state = until(pollers, "news", lambda one: one.standing == "failing")

    assert state.problem == "no route to the tracker"
    assert state.counts.broken == 0


def test_a_clock_set_back_makes_polls_due(pollers: Pollers) -> None:
    ask = Rounds()
    pollers.start([poll("news", ask)])
    until(pollers, "news", lambda one: one.standing == "ok")
    ask.begun.clear()

    pollers.set_right(datetime.now(UTC) - HOUR)

    ask.again()


def test_a_clock_that_is_right_changes_nothing(pollers: Pollers) -> None:
    pollers.start([poll("news", Rounds())])
    until(pollers, "news", lambda one: one.standing == "ok")
    planned = job_of(pollers, "news").next_run_time

    pollers.set_right(datetime.now(UTC))

    assert job_of(pollers, "news").next_run_time == planned


def test_stop_waits_for_a_run_that_ends(pollers: Pollers, taken: list[str]) -> None:
    pollers.start([poll("news", Rounds())])
    until(pollers, "news", lambda one: one.counts.runs == 1)

    assert pollers.stop(LIMIT)
    assert taken == ["poller:news"]


def test_stop_gives_up_a_run_that_does_not_end(
    pollers: Pollers, taken: list[str], tmp_path: Path
) -> None:
    ask = Rounds(holds=True)
    pollers.start([poll("news", ask)])
    ask.again()

    assert not pollers.stop(0.02)

    ask.go.set()
    assert taken == []
    assert CursorFile(tmp_path, "news").read() == {}


def test_stop_before_the_start_is_no_trouble(pollers: Pollers) -> None:
    assert pollers.stop()


def test_other_settings_take_effect_and_counts_go_on(pollers: Pollers) -> None:
    old, new, other = Rounds(), Rounds(), Rounds()
    pollers.start([poll("news", old), poll("gone", Rounds())])
    until(pollers, "news", lambda one: one.standing == "ok")

    pollers.replace([poll("news", new), poll("other", other)])

    assert until(pollers, "news", lambda one: one.standing == "ok").counts.runs == 2
    until(pollers, "other", lambda one: one.standing == "ok")
    assert [state.name for state in pollers.states()] == ["news", "other"]
    assert new.asked[0][1] == {"until": old.asked[0][0].isoformat()}


def test_a_run_of_old_settings_that_hangs_does_not_hold_new_ones_up(pollers: Pollers) -> None:
    old, new = Rounds(holds=True), Rounds()
    pollers.start([poll("news", old)])
    old.again()

    pollers.replace([poll("news", new)])

    until(pollers, "news", lambda one: one.standing == "ok")
    old.go.set()
    assert len(new.asked) == 1


def test_the_log_does_not_tell_of_every_run(
    pollers: Pollers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    pollers.start([poll("news", Rounds())])
    until(pollers, "news", lambda one: one.standing == "ok")

    assert caplog.text == ""

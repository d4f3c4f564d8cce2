"""A run that nobody runs is found: stranded, failed by the engine, of another version, poisoned."""

import logging
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
import sqlalchemy

from copilot.engine.engine import Engine
from copilot.engine.place import Place
from copilot.engine.steps import Steps
from copilot.errors import EngineError, InboxError
from copilot.values import JsonObject
from tests.engine.toys import (
    QUICK,
    paid,
    running,
    toy_body,
    wait_over,
    wait_until,
    waiting_for,
)


def place(folder: Path, *, stranded: float = 0.2, **other: object) -> Place:
    """Return a place that is patient for a moment only."""
    return Place(
        folder / "state",
        poll=QUICK,
        stranded_after=timedelta(seconds=stranded),
        **other,  # type: ignore[arg-type] # of the test
    )


def change(folder: Path, assignment: str, run: str) -> None:
    """Change the row of a run by hand, while no engine has the file."""
    database = sqlalchemy.create_engine(f"sqlite:///{folder / 'state' / 'engine.sqlite'}")
    with database.begin() as connection:
        connection.execute(
            sqlalchemy.text(
                f"UPDATE workflow_status SET {assignment} WHERE workflow_uuid = '{run}'"
            )
        )
    database.dispose()


def queued(folder: Path, run: str) -> None:
    """Leave that run in the queue of an engine that stopped."""
    with running(place(folder, starts_per_hour=1, stranded=3600), toy_body(folder, 1)) as engine:
        engine.submit("other", {"name": "other"})
        wait_over(engine, "other")
        engine.submit(run, {"name": run})


def test_a_run_that_is_marked_as_ours_and_that_nobody_runs_is_queued_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started = Event()
    with running(place(tmp_path), toy_body(tmp_path, 2)) as engine:
        run_body = engine._run

        def lose_once(job: JsonObject) -> JsonObject:
            if not started.is_set():
                started.set()
                # A thread that dies with its row unwritten, as at a full disk.
                raise KeyboardInterrupt
            return run_body(job)

        monkeypatch.setattr(engine, "_run", lose_once)
        engine.submit("a", {"name": "a"}, dedup="x")
        wait_over(engine, "a")

        run = engine.run("a")
        assert run is not None
        assert (run.status, run.attempts) == ("succeeded", 2)
    assert "engine queues again run=a" in caplog.text
    assert paid(tmp_path) == {"a 1": 1, "a 2": 1}


@pytest.mark.parametrize("error", [EngineError, InboxError])
def test_a_run_that_failed_by_what_will_pass_goes_on_by_itself(
    tmp_path: Path, error: type[EngineError | InboxError]
) -> None:
    failed = Event()

    def body(job: JsonObject, steps: Steps) -> JsonObject:
        if not failed.is_set():
            failed.set()
            raise error("the disk is full", retryable=True)
        return toy_body(tmp_path, 2)(job, steps)

    with running(place(tmp_path), body) as engine:
        engine.submit("a", {"name": "a"})
        wait_until(lambda: (run := engine.run("a")) and run.status == "succeeded")

    assert paid(tmp_path) == {"a 1": 1, "a 2": 1}


def test_a_run_that_cannot_be_queued_again_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    retry = Engine.retry
    failed: set[str] = set()

    def refuse_one(engine: Engine, run: str) -> None:
        if run == "a":
            raise EngineError(f"{run} cannot be retried")
        retry(engine, run)

    def body(job: JsonObject, steps: Steps) -> JsonObject:
        if steps.run not in failed:
            failed.add(steps.run)
            raise EngineError("the disk is full", retryable=True)
        return toy_body(tmp_path, 1)(job, steps)

    monkeypatch.setattr(Engine, "retry", refuse_one)
    with running(place(tmp_path), body) as engine:
        for run in ("a", "b"):
            engine.submit(run, {"name": run})
        wait_until(lambda: (run := engine.run("b")) and run.status == "succeeded")

    assert "engine could not queue again run=a" in caplog.text


def test_a_step_that_cannot_be_recorded_is_no_vendors_error_and_is_paid_for_once(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    def fill(engine: Engine) -> Callable[[str, int], None]:
        def before(_run: str, step: int) -> None:
            assert engine._database is not None
            if step == 2 and not seen:
                with engine._database.begin() as connection:
                    connection.execute(sqlalchemy.text("PRAGMA max_page_count = 1"))
                seen.append("full")

        return before

    def body(job: JsonObject, steps: Steps) -> JsonObject:
        try:
            return toy_body(tmp_path, 60, before=fill(engine))(job, steps)
        except EngineError as error:
            seen.append(str(error))
            assert engine._database is not None
            with engine._database.begin() as connection:
                connection.execute(sqlalchemy.text("PRAGMA max_page_count = 1000000"))
            raise

    with running(place(tmp_path), body) as engine:
        engine.submit("a", {"name": "a"})
        wait_until(lambda: (run := engine.run("a")) and run.status == "succeeded")

    assert "could not be recorded (database or disk is full)" in seen[1]
    assert set(paid(tmp_path).values()) == {1}
    assert len(paid(tmp_path)) == 60


def test_a_run_of_another_version_is_reported_and_runs_when_it_is_retried(tmp_path: Path) -> None:
    queued(tmp_path, "a")
    change(tmp_path, "application_version = 'loop-0'", "a")

    with running(place(tmp_path), toy_body(tmp_path, 2)) as engine:
        assert [(run.id, run.version) for run in engine.of_other_versions()] == [("a", "loop-0")]
        engine.retry("a")
        wait_over(engine, "a")

        assert engine.of_other_versions() == []
    assert paid(tmp_path) == {"other 1": 1, "a 1": 1, "a 2": 1}


def test_a_run_that_was_started_too_often_is_given_up_and_may_be_retried(tmp_path: Path) -> None:
    queued(tmp_path, "a")
    change(tmp_path, "recovery_attempts = 9", "a")

    with running(place(tmp_path, attempts=3), toy_body(tmp_path, 1)) as engine:
        wait_over(engine, "a")
        run = engine.run("a")
        assert run is not None
        assert run.status == "given_up"
        assert paid(tmp_path) == {"other 1": 1}

        engine.retry("a")
        wait_until(lambda: (run := engine.run("a")) and run.status == "succeeded")


def test_the_vendor_says_nothing_but_warnings_and_those_through_our_logging(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "copilot")
    with running(place(tmp_path, stranded=3600), toy_body(tmp_path, 1)) as engine:
        engine.submit("a", {"name": "a"})
        wait_over(engine, "a")

    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_the_connection_keeps_no_more_than_half_a_mebibyte_of_the_file(tmp_path: Path) -> None:
    with running(place(tmp_path), toy_body(tmp_path, 1)) as engine:
        assert engine._database is not None
        with engine._database.begin() as connection:
            kept = connection.execute(sqlalchemy.text("PRAGMA cache_size")).scalar()

    assert kept == -512


def test_nothing_but_the_engine_brings_the_vendor() -> None:
    code = "import copilot.cli, copilot.engine, copilot.app, sys; print('dbos' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_two_hundred_runs_go_on_side_by_side(tmp_path: Path) -> None:
    go_on = Event()
    body = toy_body(tmp_path, 2, before=waiting_for(go_on))
    with running(place(tmp_path, workers=200, stranded=3600), body) as engine:
        runs = [engine.submit(f"run-{number}", {"name": "a"}) for number in range(200)]
        wait_until(lambda: all(engine.is_running(run) for run in runs))
        go_on.set()
        wait_until(lambda: not any(engine.is_running(run) for run in runs), 60)
        wait_over(engine, *runs)

    assert set(paid(tmp_path).values()) == {1}
    assert len(paid(tmp_path)) == 400


def test_who_lost_a_run_pays_for_nothing_more(tmp_path: Path) -> None:
    def body(job: JsonObject, steps: Steps) -> JsonObject:
        steps.step("model", dict)
        assert engine._database is not None
        with engine._database.begin() as connection:
            connection.execute(sqlalchemy.text("UPDATE workflow_status SET owner_xid = 'other'"))
        return toy_body(tmp_path, 1)(job, steps)

    with running(place(tmp_path, stranded=3600), body) as engine:
        engine.submit("a", {})
        wait_until(lambda: engine.steps("a"))
        wait_until(lambda: not engine.is_running("a"))

        assert paid(tmp_path) == {}
        assert engine.steps("a") == ["model"]
        engine.cancel("a")

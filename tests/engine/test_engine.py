"""Runs are queued once, run to their end, and what is recorded is not run again."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from copilot.engine.engine import Engine
from copilot.engine.place import FolderLock, Place
from copilot.engine.steps import Steps
from copilot.errors import EngineError, EngineHeldError, NotFoundError
from copilot.values import JsonObject
from tests.engine.toys import (
    QUICK,
    ToyError,
    paid,
    running,
    toy_body,
    wait_over,
    wait_until,
    waiting_for,
)  # fmt: skip


def place(folder: Path, **other: object) -> Place:
    """Return a place whose queue is looked at often."""
    return Place(folder / "state", poll=QUICK, **other)  # type: ignore[arg-type] # of the test


def test_a_run_ends_with_its_result_and_its_steps_recorded_in_order(tmp_path: Path) -> None:
    with running(place(tmp_path), toy_body(tmp_path, 3)) as engine:
        engine.submit("inv:a:1", {"name": "a"})
        wait_over(engine, "inv:a:1")

        run = engine.run("inv:a:1")
        assert run is not None
        assert (run.status, run.result) == ("succeeded", {"steps": 3, "job": "a"})
        assert run.started is not None
        assert run.ended is not None
        assert (run.attempts, run.executor, run.version) == (1, "local", "loop-1")
        assert engine.steps("inv:a:1") == ["model", "tools", "model"]


def test_a_run_id_is_used_once_also_after_the_run_is_over(tmp_path: Path) -> None:
    with running(place(tmp_path), toy_body(tmp_path, 1)) as engine:
        engine.submit("a", {"name": "a"})
        wait_over(engine, "a")

        assert engine.submit("a", {"name": "other"}) == "a"

        assert len(engine.runs()) == 1
        assert paid(tmp_path) == {"a 1": 1}


def test_while_a_run_goes_on_its_dedup_key_adds_nothing_and_afterwards_it_is_free(
    tmp_path: Path,
) -> None:
    go_on = Event()
    body = toy_body(tmp_path, 1, before=waiting_for(go_on))
    with running(place(tmp_path), body) as engine:
        assert engine.submit("inv:x:1", {"name": "a"}, dedup="x") == "inv:x:1"
        assert engine.submit("inv:x:2", {"name": "b"}, dedup="x") == "inv:x:1"
        go_on.set()
        wait_over(engine, "inv:x:1")

        assert engine.submit("inv:x:2", {"name": "b"}, dedup="x") == "inv:x:2"
        wait_over(engine, "inv:x:2")


def test_the_highest_priority_runs_first(tmp_path: Path) -> None:
    order: list[str] = []
    held, go_on = Event(), Event()

    def body(job: JsonObject, steps: Steps) -> JsonObject:
        order.append(steps.run)
        held.set()
        go_on.wait(20)
        return {}

    with running(place(tmp_path, workers=1), body) as engine:
        engine.submit("first", {})
        held.wait(20)
        engine.submit("low", {}, priority=4)
        engine.submit("high", {}, priority=1)
        engine.submit("normal", {}, priority=3)
        go_on.set()
        wait_over(engine, "low", "high", "normal")

    assert order == ["first", "high", "normal", "low"]


@pytest.mark.parametrize("limit", [{"workers": 2}, {"workers": 9, "workers_everywhere": 2}])
def test_no_more_runs_go_on_side_by_side_than_allowed(
    tmp_path: Path, limit: dict[str, int]
) -> None:
    inside, most = 0, 0
    go_on = Event()

    def body(job: JsonObject, steps: Steps) -> JsonObject:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        go_on.wait(20)
        inside -= 1
        return {}

    with running(place(tmp_path, **limit), body) as engine:
        runs = [engine.submit(f"run-{number}", {}) for number in range(5)]
        wait_until(lambda: inside == 2)
        go_on.set()
        wait_over(engine, *runs)

    assert most == 2


def test_no_more_runs_begin_within_an_hour_than_allowed(tmp_path: Path) -> None:
    with running(place(tmp_path, starts_per_hour=2), toy_body(tmp_path, 1)) as engine:
        for name in ("a", "b", "c"):
            engine.submit(name, {"name": name})
        wait_over(engine, "a", "b")
        wait_until(lambda: (known := engine.run("c")) and known.status == "queued")

        assert sorted(paid(tmp_path)) == ["a 1", "b 1"]


@pytest.mark.bad_input("B054")
def test_a_run_past_its_time_limit_ends_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    over = Event()

    def body(job: JsonObject, steps: Steps) -> JsonObject:
        over.wait(20)
        return steps.step("model", dict)

    with running(place(tmp_path, time_limit=timedelta(milliseconds=300)), body) as engine:
        engine.submit("a", {})
        wait_over(engine, "a")
        over.set()

        run = engine.run("a")
        assert run is not None
        assert run.status == "timed_out"
        wait_until(lambda: not engine.is_running("a"))
        wait_until(lambda: "outcome" in caplog.text)  # it waits to see it on record
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_cancelled_run_stops_at_its_next_step_and_a_retry_goes_on_from_there(
    tmp_path: Path,
) -> None:
    inside, go_on = Event(), Event()

    def before(run: str, step: int) -> None:
        inside.set()
        go_on.wait(20)

    with running(place(tmp_path), toy_body(tmp_path, 3, before=before)) as engine:
        engine.submit("a", {"name": "a"})
        inside.wait(20)
        engine.cancel("a")
        go_on.set()
        wait_until(lambda: not engine.is_running("a"))

        run = engine.run("a")
        assert run is not None
        assert run.status == "cancelled"
        assert paid(tmp_path) == {"a 1": 1}

        engine.retry("a")
        wait_over(engine, "a")
        assert paid(tmp_path) == {"a 1": 1, "a 2": 1, "a 3": 1}


def test_a_failed_run_says_why_and_its_retry_pays_nothing_twice(tmp_path: Path) -> None:
    broken = [True]

    def before(run: str, step: int) -> None:
        if step == 3 and broken[0]:
            raise ToyError("the logbook is away; bring it back")

    with running(place(tmp_path), toy_body(tmp_path, 4, before=before)) as engine:
        engine.submit("a", {"name": "a"})
        wait_over(engine, "a")
        run = engine.run("a")
        assert run is not None
        assert (run.status, run.error) == (
            "failed",
            "ToyError: the logbook is away; bring it back",
        )

        broken[0] = False
        engine.retry("a")
        wait_over(engine, "a")

        run = engine.run("a")
        assert run is not None
        assert (run.status, run.error) == ("succeeded", "")
        assert paid(tmp_path) == {f"a {step}": 1 for step in range(1, 5)}
        assert engine.steps("a") == ["model", "tools", "model", "model", "tools"]


def test_a_run_that_goes_on_or_has_succeeded_is_not_retried(tmp_path: Path) -> None:
    go_on = Event()
    body = toy_body(tmp_path, 1, before=waiting_for(go_on))
    with running(place(tmp_path), body) as engine:
        engine.submit("a", {"name": "a"})
        with pytest.raises(EngineError, match="wait for it, or cancel it"):
            engine.retry("a")
        go_on.set()
        wait_over(engine, "a")
        with pytest.raises(EngineError, match="has succeeded"):
            engine.retry("a")
        with pytest.raises(NotFoundError, match="no run b"):
            engine.cancel("b")


def test_an_engine_that_starts_again_goes_on_with_what_was_queued(tmp_path: Path) -> None:
    with running(place(tmp_path, starts_per_hour=1), toy_body(tmp_path, 2)) as engine:
        engine.submit("a", {"name": "a"})
        wait_over(engine, "a")
        engine.submit("b", {"name": "b"})

    with running(place(tmp_path), toy_body(tmp_path, 2)) as engine:
        wait_over(engine, "b")

    assert paid(tmp_path) == {"a 1": 1, "a 2": 1, "b 1": 1, "b 2": 1}


def test_old_runs_are_forgotten_and_their_ids_are_free(tmp_path: Path) -> None:
    with running(place(tmp_path), toy_body(tmp_path, 1)) as engine:
        engine.submit("a", {"name": "a"})
        wait_over(engine, "a")

        assert engine.forget(datetime.now(UTC) - timedelta(hours=1)) == 0
        assert engine.forget(datetime.now(UTC) + timedelta(seconds=1)) == 1

        assert engine.run("a") is None


def test_a_second_daemon_on_the_same_folder_is_refused_with_the_first_ones_number(
    tmp_path: Path,
) -> None:
    code = (
        "import sys; from pathlib import Path; from copilot.engine.place import FolderLock;"
        "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.readline()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as first:  # fmt: skip
        assert first.stdout is not None
        first.stdout.readline()
        engine = Engine(Place(tmp_path), lambda job, steps: {})

        with pytest.raises(EngineHeldError, match=rf"process {first.pid}.*stop that one") as raised:
            engine.start()

        first.communicate("go\n")
    assert raised.value.exit_code == 3
    FolderLock(tmp_path).close()


def test_a_database_that_is_no_database_is_named_and_the_folder_is_let_go(tmp_path: Path) -> None:
    (tmp_path / "engine.sqlite").write_bytes(b"this is no database" * 100)

    with pytest.raises(EngineError, match="cannot be opened: file is not a database"):
        Engine(Place(tmp_path), lambda job, steps: {}).start()

    FolderLock(tmp_path).close()


@pytest.fixture(autouse=True)
def _no_engine_is_left() -> Iterator[None]:
    yield
    from dbos._dbos import _dbos_global_instance

    assert _dbos_global_instance is None

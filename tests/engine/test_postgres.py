"""Several processes share the work: the dead are replaced, the frozen lose, the server may leave."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text

from copilot.engine.engine import Engine
from copilot.engine.leases import Lease
from copilot.engine.place import Place
from copilot.errors import EngineError
from copilot.values import JsonObject
from tests import postgres
from tests.engine.crash import Crashes, killed
from tests.engine.toys import QUICK, paid, running, toy_body, wait_over, wait_until

LEASE = 2.0
WORKERS = 4
STEPS = 30
TOLD = {"runs": 6, "steps": STEPS, "workers": WORKERS, "latency": 0.05, "lease": LEASE}
CALLS = {f"run-{run} {step}" for run in range(6) for step in range(1, STEPS + 1)}


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Cluster]:
    with postgres.cluster() as cluster:
        yield cluster


def settled(server: postgres.Cluster, url: str) -> Callable[[], bool]:
    """Return a claim: the server is up for longer than a lease, so that the dead may be called."""
    database = sqlalchemy.create_engine(
        sqlalchemy.make_url(url).set(drivername="postgresql+psycopg"), poolclass=sqlalchemy.NullPool
    )
    question = text("SELECT clock_timestamp() - pg_postmaster_start_time() > :lease")

    def claim() -> bool:
        with database.connect() as connection:
            lease = timedelta(seconds=LEASE)
            return bool(connection.execute(question, {"lease": lease}).scalar())

    return claim


def two(folder: Path, url: str, **other: Any) -> tuple[Crashes, Crashes]:
    """Return two series of processes over one database and one folder."""
    told = {**TOLD, "database": url, **other}
    return Crashes(folder, told), Crashes(folder, told)


def test_a_run_goes_its_way_over_postgresql_as_over_a_file(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    place = Place(tmp_path, database=server.new_database(), poll=QUICK)
    with running(place, toy_body(tmp_path, 3)) as engine:
        engine.submit("a", {"name": "a"}, dedup="x", priority=2)
        wait_over(engine, "a")

        run = engine.run("a")
        assert run is not None
        assert (run.status, run.result) == ("succeeded", {"steps": 3, "job": "a"})
        assert engine.steps("a") == ["model", "tools", "model"]
        assert run.executor.endswith(run.executor.partition(f"-{os.getpid()}-")[2])
    assert paid(tmp_path) == {"a 1": 1, "a 2": 1, "a 3": 1}


def test_when_one_of_two_is_killed_for_good_the_other_finishes_within_the_lease(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.new_database()
    wait_until(settled(server, url))
    dies, lives = two(tmp_path, url, together=2)
    with dies.process() as first, lives.process() as second:
        wait_until(lambda: len(paid(tmp_path)) > WORKERS)
        wait_until(lambda: holders(url) == 2)
        first.kill()
        first.wait()
        recorded, counts, killed_at = dies.recorded(), paid(tmp_path), monotonic()
        _said, errors = second.communicate(timeout=40)

    assert second.returncode == 0, errors
    at_end = paid(tmp_path)
    assert at_end.keys() == CALLS
    assert all(at_end[call] == counts[call] for call in recorded)
    assert monotonic() - killed_at < LEASE + 10
    assert lives.repeats <= WORKERS


def test_when_the_one_that_takes_over_dies_in_the_middle_of_it_a_third_finishes(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.new_database()
    wait_until(settled(server, url))
    dies, follows = two(tmp_path, url, together=2)
    with dies.process() as first, follows.process() as second:
        wait_until(lambda: len(paid(tmp_path)) > WORKERS)
        wait_until(lambda: holders(url) == 2)
        first.kill()
        recorded, counts = dies.recorded(), paid(tmp_path)
        said = second.stderr
        assert said
        wait_until(lambda: "takes over" in said.readline())
        second.kill()
    third = Crashes(tmp_path, dies.told)

    third.finish()

    at_end = paid(tmp_path)
    assert at_end.keys() == CALLS
    assert all(at_end[call] == counts[call] for call in recorded)
    assert third.repeats <= 2 * WORKERS


def test_a_process_frozen_past_its_lease_loses_its_runs_and_pays_for_nothing_recorded(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.new_database()
    wait_until(settled(server, url))
    freezes, lives = two(tmp_path, url, runs=4, workers=4)
    with freezes.process() as first:
        wait_until(lambda: len(paid(tmp_path)) > WORKERS)
        first.send_signal(signal.SIGSTOP)
        recorded, counts = freezes.recorded(), paid(tmp_path)
        with lives.process() as second:
            # The other takes over, and is in the middle of it when the first wakes up.
            wait_until(lambda: paid(tmp_path).total() > counts.total() + 4)
            first.send_signal(signal.SIGCONT)
            second.communicate(timeout=40)
            first.communicate(timeout=40)

    at_end = paid(tmp_path)
    assert (first.returncode, second.returncode) == (0, 0)
    assert at_end.keys() == {call for call in CALLS if call < "run-4"}
    assert all(at_end[call] == counts[call] for call in recorded)


def test_kills_over_postgresql_run_no_recorded_step_again(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.new_database()
    wait_until(settled(server, url))

    crashes = killed(tmp_path, {**TOLD, "database": url}, kills=2, seed=1)

    assert paid(tmp_path).keys() == CALLS
    assert crashes.redone == 0
    assert crashes.repeats <= crashes.kills * WORKERS


def test_after_a_clean_stop_the_others_go_on_at_once(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.new_database()
    leaves, stays = two(tmp_path, url, lease=60, together=2)
    with leaves.process() as first, stays.process() as second:
        wait_until(lambda: len(paid(tmp_path)) > WORKERS)
        wait_until(lambda: holders(url) == 2)
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=20)
        second.communicate(timeout=40)

    assert (first.returncode, second.returncode) == (0, 0)
    assert set(paid(tmp_path).values()) == {1}
    assert paid(tmp_path).keys() == CALLS


def test_a_server_that_is_restarted_in_the_middle_costs_no_recorded_step(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.new_database()
    one, other = two(tmp_path, url, together=2)
    with ExitStack() as stack:
        processes = [stack.enter_context(each.process()) for each in (one, other)]
        wait_until(lambda: len(paid(tmp_path)) > WORKERS)
        wait_until(lambda: holders(url) == 2)
        server.stop("immediate")
        counts = paid(tmp_path)
        server.start()
        recorded = one.recorded()
        errors = [process.communicate(timeout=60)[1] for process in processes]

    assert [process.returncode for process in processes] == [0, 0], errors
    at_end = paid(tmp_path)
    assert at_end.keys() == CALLS
    assert all(at_end[call] <= max(1, counts[call]) for call in recorded)


def test_a_database_that_is_away_is_said_in_one_line_without_the_password(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.url("nothing_here").replace("@", ":secret@")
    engine = Engine(Place(tmp_path, database=url), toy_body(tmp_path, 1))

    with pytest.raises(EngineError) as raised:
        engine.start()

    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert 'database "nothing_here" does not exist' in str(raised.value)


def test_who_missed_a_beat_calls_nobody_dead_for_one_lease(server: postgres.Cluster) -> None:
    url = server.new_database()
    wait_until(settled(server, url))
    lease = Lease(url, "me", timedelta(seconds=LEASE))
    lease.begin()
    try:
        assert lease.dead({"me", "gone"}) == {"gone"}
        server.stop("immediate")
        wait_until(lambda: not lease.is_held)
        server.start()
        wait_until(lambda: lease.is_held)

        assert lease.dead({"me", "gone"}) == set()
        wait_until(lambda: lease.dead({"me", "gone"}) == {"gone"})
    finally:
        lease.end()


def test_a_new_process_calls_nobody_dead_right_after_the_server_came_back(
    server: postgres.Cluster,
) -> None:
    server.stop()
    server.start()
    lease = Lease(server.new_database(), "me", timedelta(seconds=LEASE))
    lease.begin()
    try:
        assert lease.dead({"gone"}) == set()
    finally:
        lease.end()


def test_each_process_takes_its_own_number_of_runs(
    tmp_path: Path, server: postgres.Cluster
) -> None:
    url = server.new_database()
    few, many = (
        Crashes(tmp_path, {**TOLD, "database": url, "workers": workers, "runs": 20})
        for workers in (1, 3)
    )
    most: Counter[str] = Counter()

    def has_looked() -> bool:
        nonlocal most
        most |= held(url)
        return paid(tmp_path).total() > 3 * STEPS

    with few.process():
        wait_until(lambda: paid(tmp_path).total() > 1)
        with many.process():
            wait_until(has_looked)

    assert sorted(most.values()) == [1, 3]


def test_a_run_that_nobody_runs_is_queued_again_within_the_lease(
    tmp_path: Path, server: postgres.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(
        tmp_path, database=server.new_database(), poll=QUICK, lease=timedelta(seconds=LEASE)
    )
    lost: list[float] = []
    with running(place, toy_body(tmp_path, 2)) as engine:
        run_body = engine._run

        def lose_once(job: JsonObject) -> JsonObject:
            if not lost:
                lost.append(monotonic())
                raise KeyboardInterrupt  # a thread that dies with its row unwritten
            return run_body(job)

        monkeypatch.setattr(engine, "_run", lose_once)
        engine.submit("a", {"name": "a"})
        wait_over(engine, "a")

    assert monotonic() - lost[0] < LEASE + 10
    assert paid(tmp_path) == {"a 1": 1, "a 2": 1}


def holders(url: str) -> int:
    """Return how many processes have runs under way."""
    return len(held(url))


def held(url: str) -> Counter[str]:
    """Return how many runs each process has under way."""
    database = sqlalchemy.create_engine(
        sqlalchemy.make_url(url).set(drivername="postgresql+psycopg"), poolclass=sqlalchemy.NullPool
    )
    with database.connect() as connection:
        rows = connection.execute(
            text(
                "SELECT executor_id, count(*) FROM dbos.workflow_status"
                " WHERE status = 'PENDING' GROUP BY 1"
            )
        )
        return Counter({row[0]: row[1] for row in rows})

"""Two daemons share the work: one dies, one freezes, and their database goes away."""

import fcntl
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres
from tests.daemon.forks import Forks
from tests.daemon.on_disk import damaged_notes
from tests.daemon.running import Investigator, RunningDaemon
from tests.daemon.two_daemons import LEASE_S, two_daemons

TURNS = 8
NAMES = [f"wf_{number:03}" for number in range(4)]


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Cluster]:
    with postgres.cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as started:
        yield started


@pytest.fixture
def investigator() -> Investigator:
    return Investigator(turns=TURNS, latency_s=0.4)


def test_when_one_is_killed_for_good_the_other_finishes_all(
    tmp_path: Path, server: postgres.Cluster, investigator: Investigator, forks: Forks
) -> None:
    with two_daemons(tmp_path, server.new_database(), investigator, forks) as two:
        incidents = two.first.send(*NAMES)
        two.first.wait(lambda: investigator.counts.total() >= 6)
        two.first.kill()
        killed_at, recorded = time.monotonic(), two.answers()
        paid = two.paid(recorded)
        two.second.wait_for(incidents, within=LEASE_S + 10 + TURNS)
        took = time.monotonic() - killed_at
        again = two.paid(recorded)

    assert again == paid
    assert took < LEASE_S + 10 + TURNS
    assert {one for one, _ in investigator.counts} == set(incidents)


def freeze(daemon: RunningDaemon, *, while_it_writes: bool) -> None:
    """Freeze it; at a moment when it has the turn to write the notes, if that is wanted."""
    assert daemon.process
    lock = daemon.folder / "notes" / ".git" / "copilot" / "lock"
    daemon.process.send_signal(signal.SIGSTOP)
    while while_it_writes and not is_held(lock):
        daemon.process.send_signal(signal.SIGCONT)
        daemon.wait(lambda: is_held(lock))
        daemon.process.send_signal(signal.SIGSTOP)


def is_held(lock: Path) -> bool:
    """Whether a process has that lock."""
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize("while_it_writes", [False, True])
def test_one_that_was_frozen_past_its_lease_spoils_nothing_when_it_is_revived(
    tmp_path: Path,
    server: postgres.Cluster,
    investigator: Investigator,
    forks: Forks,
    while_it_writes: bool,
) -> None:
    with two_daemons(tmp_path, server.new_database(), investigator, forks) as two:
        incidents = two.first.send(*NAMES)
        two.first.wait(lambda: investigator.counts.total() >= 6)
        freeze(two.first, while_it_writes=while_it_writes)
        recorded = two.answers()
        paid = two.paid(recorded)
        two.second.wait_for(incidents, within=100)
        assert two.first.process
        two.first.process.send_signal(signal.SIGCONT)
        two.first.wait_for(incidents, within=60)
        again = two.paid(recorded)
        reports = {two.first.text(one, "report.md").count("se01.example.org") for one in incidents}

    assert again == paid
    assert len(reports) == 1
    assert damaged_notes(two.first.folder) == []


def test_one_that_wakes_up_while_another_has_its_investigations_spoils_nothing(
    tmp_path: Path, server: postgres.Cluster, investigator: Investigator, forks: Forks
) -> None:
    with two_daemons(tmp_path, server.new_database(), investigator, forks) as two:
        incidents = two.first.send(*NAMES)
        two.first.wait(lambda: investigator.counts.total() >= 6)
        freeze(two.first, while_it_writes=True)
        recorded, before = two.answers(), investigator.counts.total()
        paid = two.paid(recorded)
        two.second.wait(lambda: investigator.counts.total() > before + 4)
        assert two.first.process
        two.first.process.send_signal(signal.SIGCONT)
        two.second.wait_for(incidents, within=100)
        again = two.paid(recorded)

    assert again == paid
    assert two.statuses() == {f"inv:{one}:1": "SUCCESS" for one in incidents}


def test_a_database_that_is_restarted_twice_holds_nothing_up(
    tmp_path: Path, server: postgres.Cluster, investigator: Investigator, forks: Forks
) -> None:
    with two_daemons(tmp_path, server.new_database(), investigator, forks) as two:
        incidents = two.first.send(*NAMES)
        for calls in (4, 10):
            two.first.wait(lambda calls=calls: investigator.counts.total() >= calls)  # type: ignore[misc]
            server.stop("immediate")
            server.start()
        recorded = two.answers()
        paid = two.paid(recorded)
        two.first.wait_for(incidents, within=90)
        again = two.paid(recorded)

    assert again == paid

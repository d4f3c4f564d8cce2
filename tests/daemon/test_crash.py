"""Claims about a daemon that is killed again and again. benchmarks/crash.py does more of the same."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.crash import crashed, undisturbed
from tests.daemon.forks import Forks
from tests.daemon.series import Plan


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as started:
        yield started


@pytest.mark.timeout(400)
def test_thirty_kills_lose_nothing_and_pay_nothing_twice(tmp_path: Path, forks: Forks) -> None:
    plan = Plan(kills=30, incidents=20)

    pages = undisturbed(tmp_path / "undisturbed", plan, forks)
    outcome = crashed(tmp_path / "killed", plan, pages, forks)

    assert outcome.faults == []
    assert outcome.during_calls >= 20
    assert outcome.acknowledged == 20


@pytest.mark.timeout(200)
def test_sigterm_in_the_middle_of_work_repeats_no_call(tmp_path: Path, forks: Forks) -> None:
    plan = Plan(kills=5, incidents=8, turns=6, number=signal.SIGTERM)

    assert crashed(tmp_path, plan, forks=forks).faults == []


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("mutant", "fault"), [("start_over", "recorded and paid again"), ("promise_early", "is lost")]
)
def test_a_daemon_with_one_promise_broken_is_found_out(
    tmp_path: Path, mutant: str, fault: str
) -> None:
    with Forks(mutant) as forks:
        outcome = crashed(tmp_path, Plan(kills=3, incidents=6), forks=forks)

    assert any(fault in found for found in outcome.faults)

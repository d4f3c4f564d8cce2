"""Claims about a daemon that is killed again and again. benchmarks/crash.py does more of the same."""

import signal
from pathlib import Path

import pytest

from tests.daemon.crash import Plan, deaths


@pytest.mark.timeout(400)
def test_thirty_kills_lose_nothing_and_pay_nothing_twice(tmp_path: Path) -> None:
    outcome = deaths(tmp_path, Plan(kills=30, incidents=20, turns=12, latency_s=0.3))

    assert outcome.kills == 30
    assert outcome.while_running >= 20
    assert outcome.lost == set()
    assert len(outcome.reported) == 20
    assert outcome.paid_again == []
    assert outcome.repeats <= outcome.in_flight
    assert outcome.unequal == []
    assert outcome.damaged == []


@pytest.mark.timeout(200)
def test_sigterm_in_the_middle_of_work_repeats_no_call(tmp_path: Path) -> None:
    plan = Plan(kills=5, incidents=8, turns=6, latency_s=0.3, number=signal.SIGTERM)

    outcome = deaths(tmp_path, plan)

    assert dict(outcome.codes) == {0: 5}
    assert max(outcome.left_s) < 20
    assert outcome.repeats == 0
    assert outcome.lost == set()


@pytest.mark.timeout(200)
def test_a_daemon_that_does_not_record_its_answers_is_found_out(tmp_path: Path) -> None:
    plan = Plan(
        kills=4,
        incidents=3,
        turns=8,
        latency_s=0.5,
        sure_s=2.0,
        program=("-m", "tests.daemon.forgetful"),
    )

    outcome = deaths(tmp_path, plan)

    assert outcome.paid_again

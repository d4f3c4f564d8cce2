"""kill -9 at any moment: every run ends, and nothing that is recorded is paid for again."""

import json
from pathlib import Path

import pytest

from tests.engine.crash import TERMINATE, Crashes, killed
from tests.engine.toys import paid, wait_until

WORKERS = 4
TOLD = {"runs": 6, "steps": 10, "workers": WORKERS, "latency": 0.01}
CALLS = {f"run-{run} {step}" for run in range(6) for step in range(1, 11)}


def test_after_kills_every_run_has_ended_and_no_recorded_step_was_run_again(
    tmp_path: Path,
) -> None:
    crashes = killed(tmp_path, TOLD, kills=5, seed=1)

    assert crashes.result == {"drained": True, "runs": {"succeeded": 6}}
    assert paid(tmp_path).keys() == CALLS
    assert crashes.redone == 0
    assert crashes.repeats <= crashes.kills * WORKERS
    assert crashes.integrity() == "ok"


def test_a_step_that_is_not_kept_in_a_journal_is_found_to_be_paid_for_twice(
    tmp_path: Path,
) -> None:
    crashes = Crashes(tmp_path, {**TOLD, "journals": False})

    crashes.kill_after(5 * WORKERS)  # some were recorded by then
    crashes.finish()

    assert crashes.redone > 0


@pytest.mark.parametrize("nested", [False, True])
def test_sigterm_in_the_middle_of_work_repeats_nothing(tmp_path: Path, nested: bool) -> None:
    crashes = Crashes(tmp_path, {**TOLD, "nested": nested})

    for _ in range(1 if nested else 2):
        before = paid(tmp_path).total()
        with crashes.process() as process:
            wait_until(lambda before=before: paid(tmp_path).total() >= before + 5)  # type: ignore[misc]
            process.send_signal(TERMINATE)
            said, _ = process.communicate(timeout=20)
        assert json.loads(said.splitlines()[-1])["drained"]

    if nested:
        counts = paid(tmp_path)
        calls = {call for call in counts if "recorded" not in call}
        assert {call.replace(" ", " recorded ") for call in calls} == counts.keys() - calls
    else:
        crashes.finish()
        assert crashes.repeats == 0
        assert paid(tmp_path).keys() == CALLS

"""Commands that are given nonsense say so in one line; none shows a traceback or a control."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.intake.test_bounds import BAD


@pytest.mark.bad_input("B01", "B05", "B06", "B07", "B10", "B12", "B13", "B14", "B15", "B16")
@pytest.mark.parametrize("words", [("alerts", "test"), ("alerts", "submit"), ("investigate",)])
@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_alert_is_refused_and_waits_nowhere(
    workspace: Path, words: tuple[str, ...], name: str, run: Run
) -> None:
    (workspace / "bad.json").write_bytes(BAD[name])

    said = run(*words, "bad.json")

    assert said.code == 2
    assert said.err.count("\n") == 1
    assert said.err.startswith("copilot: the alert ")
    assert not [*(workspace / "state").rglob("*.json")]

"""Claims about the systemd unit."""

import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from copilot.settings.daemon import DaemonSettings

UNIT = Path(__file__).resolve().parents[2] / "deploy" / "copilot.service"


@pytest.fixture
def analyze() -> str:
    """Return the path of systemd-analyze."""
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not installed (Debian: systemd)")
    return found


def test_its_exposure_is_small(analyze: str) -> None:
    said = subprocess.run(
        [analyze, "security", "--offline=true", "--no-pager", str(UNIT)],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip

    level = re.search(r"exposure level for copilot\.service: ([\d.]+)", said)
    assert level
    assert float(level[1]) <= 2.0


def test_systemd_understands_every_line(analyze: str) -> None:
    said = subprocess.run(
        [analyze, "verify", str(UNIT)], capture_output=True, text=True, check=False
    ).stderr

    ours = [line for line in said.splitlines() if "copilot.service" in line]
    assert [line for line in ours if "is not executable" not in line] == []


def test_it_may_take_longer_to_stop_than_the_daemon_drains() -> None:
    seconds = re.search(r"TimeoutStopSec=(\d+)", UNIT.read_text())

    assert seconds
    assert timedelta(seconds=int(seconds[1])) > DaemonSettings().drain + timedelta(seconds=5)

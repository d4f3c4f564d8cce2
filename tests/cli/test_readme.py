"""The README's two minutes are typed as they stand, on small files of our own."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ALERT, LINES, TICKETS

ROOT = Path(__file__).resolve().parents[2]
INTERPRETER = Path(sys.prefix) / "bin"


def block_under(heading: str) -> list[str]:
    """Return the lines of the first fenced block below *heading* of the README."""
    found = re.search(
        rf"^## {heading}\n\n```\n(.*?)```",
        (ROOT / "README.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    assert found
    return found[1].splitlines()


def typed(lines: list[str], home: Path) -> "subprocess.CompletedProcess[str]":
    """Run *lines* in one shell that stops at the first failure, as a person at home there."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=home,
        env={"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home with logs, and beside them what a person would have in her workspace."""
    logs = tmp_path / "logs"
    logs.mkdir()
    with gzip.open(logs / "app.log.gz", "wt") as file:
        file.write(LINES)
    given = tmp_path / "given"
    (given / "wiki").mkdir(parents=True)
    (given / "export.json").write_text(TICKETS)
    (given / "alert.json").write_text(ALERT)
    (given / "wiki" / "stalled.md").write_text("# A workflow stalls\n\nLook at DNS first.\n")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


@pytest.mark.skipif(not (INTERPRETER / "copilot").exists(), reason="the package is not installed")
def test_the_two_minutes_of_the_readme_work_as_typed(home: Path) -> None:
    lines = "\n".join(block_under("Two minutes on your own files"))
    lines = lines.replace("/var/log/myapp", str(home / "logs"))
    lines = lines.replace("cd ~/ops\n", 'cd ~/ops\ncp -R "$HOME"/given/. .\n')
    before, _, after = lines.partition("copilot incidents list\n")
    begun = typed(before.splitlines(), home)
    assert begun.returncode == 0, begun.stderr

    report = json.loads(next((home / "ops" / "notes").glob("inc-*/report.json")).read_text())
    cited = report["cause"]["evidence"][0]["reference"]
    after = after.replace("INCIDENT", report["incident"]).replace("R0007:41", cited)
    export = block_under("Two minutes on your own files")[0]
    said = typed([export, "cd ~/ops", "copilot incidents list", *after.splitlines()], home)

    assert said.returncode == 0, said.stderr
    assert report["cause"]["evidence"][0]["text"] in said.stdout

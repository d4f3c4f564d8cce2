"""A small workspace, and two ways to type a command: in this process, and in one of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from copilot.cli.root import root

HOSTILE = (
    "\x1b]0;owned\x07\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\ "
    "\x1b]52;c;ZWNobyBoYWNrZWQ=\x07 \x1b[2J\x1b[H \x9b31m [link=http://evil.example]x[/link] "
    "[/foo] [bold red]loud[/] \u202egnp.exe :warning: end"
)
"""A log message that tries each way to make a terminal obey."""
LINES = (
    "2026-01-31 12:00:00,100 INFO  scheduler: workflow wf_alpha_20260131 was submitted\n"
    "2026-01-31 12:00:05,200 INFO  scheduler: workflow wf_beta_20260131 was submitted\n"
    "2026-01-31 12:01:00,000 ERROR transfer: wf_alpha_20260131 cannot resolve host se01.example.org\n"
    "Traceback (most recent call last):\n"
    '  File "transfer.py", line 7, in run\n'
    "socket.gaierror: [Errno -2] Name or service not known\n"
    "2026-01-31 12:02:00,000 WARN  transfer: retry 1 of 3, password=hunter2secret\n"
    f"2026-01-31 12:03:00,000 INFO  door: {HOSTILE}\n"
)
TICKETS = """[
 {"key": "OPS-7", "summary": "wf_alpha_20260131 does not move", "status": "Open",
  "created": "2026-01-31T13:00:00Z", "updated": "2026-01-31T14:00:00Z",
  "description": "No file has arrived since noon. token=ghp_0123456789abcdefghijABCDEFGHIJ012345",
  "comments": [{"at": "2026-01-31T13:30:00Z", "by": "ops-a", "body": "DNS looks odd \\u001b[31m"}]},
 {"key": "OPS-8", "summary": "Disk of node-3 is full", "status": "Closed",
  "created": "2026-01-30T13:00:00Z", "updated": "2026-01-30T14:00:00Z", "description": "cleaned"}
]"""
ALERT = """{"title": "WorkflowStalled: wf_alpha_20260131", "startsAt": "2026-01-31T12:00:00Z",
 "labels": {"alertname": "WorkflowStalled", "workflow": "wf_alpha_20260131"},
 "description": "wf_alpha_20260131 has not moved since 12:00 UTC. Why?"}"""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and what it left with."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty workspace, the folder that we are in, with files to import beside it."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "copilot.yaml").write_text("model:\n  name: offline\n")
    (folder / "app.log").write_text(LINES)
    (folder / "tickets.json").write_text(TICKETS)
    (folder / "alert.json").write_text(ALERT)
    monkeypatch.chdir(folder)
    for name in [
        name for name in os.environ if name.startswith(("COPILOT_", "NO_COLOR", "FORCE_"))
    ]:
        monkeypatch.delenv(name)
    return folder


@pytest.fixture
def run() -> Run:
    """Return a function that runs one command in this process."""

    def call(*arguments: str, stdin: str | bytes | None = None, obj: Any = None) -> Said:
        done = CliRunner().invoke(root, arguments, input=stdin, obj=obj)
        assert "Traceback" not in done.stderr
        return Said(done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture
def filled(workspace: Path, run: Run) -> Path:
    """Return the workspace with its log and tickets imported."""
    assert run("logbook", "import", "app.log").code == 0
    assert run("tickets", "import", "tickets.json").code == 0
    return workspace


@pytest.fixture
def investigated(filled: Path, run: Run) -> str:
    """Return the id of an incident that was investigated to its report."""
    done = run("investigate", "alert.json")
    assert done.code == 0, done.err
    return run("incidents", "list", "-q").out.split()[0]


def in_process_of_its_own(
    *arguments: str, environ: dict[str, str] | None = None, **options: Any
) -> "subprocess.CompletedProcess[bytes]":
    """Run the command as a person does; bytes come back."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "copilot", *arguments],
        env=kept | (environ or {}),
        capture_output=options.pop("capture_output", True),
        check=False,
        timeout=60,
        **options,
    )

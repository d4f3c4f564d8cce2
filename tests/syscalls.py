"""Programs run under strace with one system call made to fail, or to kill."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def tracer() -> str:
    """Return the path of strace; skip the test where it may not trace a process of ours."""
    path = shutil.which("strace")
    if not path:
        pytest.skip("strace is not installed")
    tried = subprocess.run(
        [path, "-qq", "-o", "/dev/null", "true"], check=False, capture_output=True
    )
    if tried.returncode:
        pytest.skip("strace may not trace processes here (ptrace is refused)")
    return path


def run_with(fault: str, program: str, folder: Path) -> list[str]:
    """Return the lines that *program* printed over *folder* while *fault* was in force.

    Its children are traced too, and *fault* is in strace's words, such as
    `fsync:error=EIO:when=3`. The count is that of each process.
    """
    done = subprocess.run(
        [
            tracer(), "-f", "-qq", "-o", "/dev/null",
            "-e", f"trace={fault.partition(':')[0]}", "-e", f"inject={fault}",
            sys.executable, "-c", program, str(folder),
        ],
        cwd=ROOT, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.splitlines()

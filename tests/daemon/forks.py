"""Daemons at once: a process that has loaded all libraries, and forks one when it is told.

Two thirds of a start are spent on reading Python's modules, which no kill has anything to do with.
The child is a process like any other: its own memory, its own files, killed by its own number.
"""

import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from copilot.cli import main

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("copilot.daemon.daemon", "copilot.models.claude")


class Fork:
    """A child of the process with the libraries, to be used like a Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def poll(self) -> int | None:
        """Its exit code, or None while it lives."""
        return self.returncode if self._ended.is_set() else None

    def send_signal(self, number: int) -> None:
        """Signal it."""
        os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended."""
        assert self._ended.wait(timeout), f"process {self.pid} does not end"
        assert self.returncode is not None
        return self.returncode

    def ended(self, code: int) -> None:
        """Take in how it ended."""
        self.returncode = code
        self._ended.set()


class Forks:
    """The process with the libraries. One child at a time."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.daemon.forks"], cwd=ROOT, env=dict(environ),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self._said()  # it is ready

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def start(self, folder: Path, log: Path) -> Fork:
        """A daemon over *folder*."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps([str(folder), str(log)]) + "\n")
        child = Fork(self._said())
        threading.Thread(target=lambda: child.ended(self._said()), daemon=True).start()
        return child

    def _said(self) -> int:
        assert self._process.stdout
        return int(self._process.stdout.readline() or -1)


def serve() -> None:
    """Fork a daemon for each line that is read; say its number, and then its exit code."""
    for name in LIBRARIES:
        importlib.import_module(name)
    if mutant := os.environ.get("COPILOT_TEST_MUTANT"):
        importlib.import_module("tests.daemon.mutants").MUTANTS[mutant]()
    _say(os.getpid())
    for line in sys.stdin:
        folder, log = json.loads(line)
        if pid := os.fork():
            _say(pid)
            _say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        else:
            _become(folder, log)


def _become(folder: str, log: str) -> None:
    """Be the daemon of *folder*; never comes back."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDWR)
    for target, source in ((0, null), (1, null), (2, file)):
        os.dup2(source, target)
    os.chdir(folder)
    sys.argv = ["copilot", "--config", folder, "serve"]
    try:
        main()
    finally:
        os._exit(70)


def _say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve()

"""Daemons at once: a process that has loaded all libraries, and forks one when it is told.

Two thirds of a start are spent on reading Python's modules, which no kill has anything to do with.
The child is a process like any other: its own memory, its own files, killed by its own number.
"""

import importlib
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from copilot.cli import main

ROOT = Path(__file__).resolve().parents[2]
LOOK_S = 0.01
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
    """The process with the libraries, and its children."""

    def __init__(self, mutant: str = "") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.daemon.forks", mutant], cwd=ROOT,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self._children: dict[int, Fork] = {}
        self._born: SimpleQueue[Fork] = SimpleQueue()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._thread.join()
        self._process.stdout.close()

    def start(self, folder: Path, log: Path, environ: Mapping[str, str]) -> Fork:
        """A daemon over *folder*."""
        assert self._process.stdin
        told = {"folder": str(folder), "log": str(log), "environ": dict(environ)}
        self._process.stdin.write(json.dumps(told) + "\n")
        return self._born.get(timeout=30)

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            what, pid, code = line.split()
            if what == "born":
                child = self._children[int(pid)] = Fork(int(pid))
                self._born.put(child)
            else:
                self._children.pop(int(pid)).ended(int(code))


def serve(mutant: str) -> None:
    """Fork a daemon for each line that is read, and say who was born and who has ended."""
    for name in LIBRARIES:
        importlib.import_module(name)
    if mutant:
        importlib.import_module("tests.daemon.mutants").MUTANTS[mutant]()
    children: set[int] = set()
    line = "-"
    while line or children:
        if line and select.select([sys.stdin], [], [], LOOK_S)[0]:
            line = sys.stdin.readline()
            if line:
                children.add(_born(json.loads(line)))
        if children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                children.discard(pid)
                _say(f"ended {pid} {os.waitstatus_to_exitcode(status)}")


def _born(told: dict[str, Any]) -> int:
    """The number of a new daemon."""
    if pid := os.fork():
        _say(f"born {pid} 0")
        return pid
    try:
        _become(told)
    finally:
        os._exit(70)


def _become(told: dict[str, Any]) -> None:
    """Be the daemon that is wanted."""
    file = os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDWR)
    for target, source in ((0, null), (1, null), (2, file)):
        os.dup2(source, target)
    os.environ.clear()
    os.environ.update(told["environ"])
    os.chdir(told["folder"])
    sys.argv = ["copilot", "--config", told["folder"], "serve"]
    main()


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])

"""The real daemon as a process of its own, with the strict double as its model.

What it did is seen from outside: calls that reached the double, files, HTTP, exit codes.
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from copilot.daemon import doorplate
from copilot.journal import Event, read_events
from tests.bench import made_workspace
from tests.daemon.forks import Fork, Forks
from tests.doubles.line import Reached
from tests.doubles.messages_api import calls
from tests.doubles.messages_api.script import Reply

INCIDENT = re.compile(r'"incident":"(inc-[0-9]{8}-[0-9a-f]{6})"')
QUOTE = "cannot resolve host se01.example.org"
CLAIM = {
    "claim": "the name `se01.example.org` does not resolve",
    "status": "confirmed",
    "evidence": [{"reference": "R0001:1", "quote": QUOTE}],
}
REPORT = {
    "verdict": "action_needed",
    "summary": "Copies fail because a name does not resolve.",
    "cause": CLAIM,
}
WORDS = ("cannot resolve", "copied", "accepted", "failed", "waits", "broker", "mover", "exit code")
SETTINGS = """\
model:
  name: claude-sonnet-4-6
  base_url: {url}
daemon:
  listen: {listen}
  workers: {workers}
{daemon}
intake:
  debounce: 0s
{intake}
{rest}
"""


@dataclass
class Investigator:
    """Plays the model for any number of incidents: each gets the same story of some turns.

    The story of a conversation is told by what stands in it, so a repeated call gets the same
    answer. Every call is counted by incident and turn.
    """

    turns: int = 5
    latency_s: float = 0.0
    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    answered: dict[tuple[str, int], float] = field(default_factory=dict)
    """When each call was answered for the first time, by the monotonic clock."""
    latest: float = 0.0
    """When the last call came, by the monotonic clock."""
    under_way: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: dict[str, Any]) -> Reply:
        """The next answer of the conversation in *body*."""
        found = INCIDENT.search(
            json.dumps(body["messages"][0], separators=(",", ":")).replace('\\"', '"')
        )
        incident = found[1] if found else "?"
        turn = 1 + sum(message["role"] == "assistant" for message in body["messages"])
        with self._lock:
            self.counts[incident, turn] += 1
            self.latest = time.monotonic()
            self.under_way += 1
        try:
            time.sleep(self.latency_s)
        finally:
            with self._lock:
                self.under_way -= 1
                self.answered.setdefault((incident, turn), time.monotonic())
        if turn >= self.turns:
            return calls(("submit_report", REPORT))
        if turn == 2:
            return calls(("record_finding", CLAIM))
        words = WORDS[(turn - 1) % len(WORDS)]
        return calls(("search_logbook", {"text": words, "order": "oldest", "limit": 10 + turn}))


def alert(name: str, **more: Any) -> dict[str, Any]:
    """One member of an Alertmanager group about the workflow *name*."""
    return {
        "status": "firing",
        "labels": {"alertname": "WorkflowStalled", "workflow": name, "severity": "warning"},
        "annotations": {"summary": f"{name} makes no progress"},
        "startsAt": "2026-11-30T10:45:00Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": hashlib.sha256(name.encode()).hexdigest()[:16],
        **more,
    }


def payload(*alerts: Mapping[str, Any]) -> dict[str, Any]:
    """A notification of Alertmanager, version 4."""
    return {
        "version": "4",
        "groupKey": '{}:{alertname="WorkflowStalled"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "copilot",
        "groupLabels": {"alertname": "WorkflowStalled"},
        "commonLabels": {"alertname": "WorkflowStalled"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager",
        "alerts": list(alerts),
    }


class RunningDaemon:
    """A daemon over *folder*; it may be killed and started again as often as one likes."""

    def __init__(
        self, folder: Path, api: Reached, *, workers: int = 4, daemon: str = "",
        intake: str = "", rest: str = "", environ: Mapping[str, str] | None = None,
        program: Sequence[str] = ("-m", "copilot"), listen: str = "127.0.0.1:0", forks: Forks | None = None,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.state = folder / "state"
        if not (folder / "copilot.yaml").exists():
            made_workspace(folder)
        (folder / "copilot.yaml").write_text(
            SETTINGS.format(
                listen=listen, url=api.url, workers=workers, daemon=daemon, intake=intake, rest=rest
            )
        )
        self.environ = {**os.environ, "ANTHROPIC_API_KEY": api.key, **(environ or {})}
        self.program = program
        self.forks = forks
        self.process: subprocess.Popen[bytes] | Fork | None = None
        self.plate: doorplate.Doorplate | None = None
        self.log = folder / "daemon.log"

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.kill()  # nobody else would
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def start(self, within: float = 60.0) -> float:
        """Start it; the seconds until it serves."""
        begun = time.monotonic()
        self.spawn()
        self.wait(self.is_up, within)
        return time.monotonic() - begun

    def spawn(self) -> None:
        """Start it, and wait for nothing."""
        if self.forks:
            self.process = self.forks.start(self.folder, self.log, self.environ)
            return
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.program, "--config", str(self.folder), "serve"],
                stdout=subprocess.DEVNULL, stderr=log, env=self.environ, cwd=self.folder,
            )  # fmt: skip

    def is_up(self) -> bool:
        """Whether it serves by now."""
        pid = self.process.pid if self.process else 0
        self.plate = next((one for one in doorplate.alive(self.state) if one.pid == pid), None)
        return self.plate is not None

    def kill(self, number: int = signal.SIGKILL) -> int:
        """Send it a signal and wait for its end; its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)

    def copilot(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What a command says that is given beside the daemon."""
        return subprocess.run(
            [sys.executable, "-m", "copilot", "--config", str(self.folder), *words],
            capture_output=True, text=True, timeout=120, check=False, env=self.environ,
        )  # fmt: skip

    def wait(self, done: Callable[[], object], within: float = 60.0) -> None:
        """Return once *done* says so; fail with the end of the log when it does not in time."""
        end = time.monotonic() + within
        while not done():
            if self.process and self.process.poll() is not None:
                raise AssertionError(
                    f"the daemon left with {self.process.returncode}:\n{self.said()}"
                )
            if time.monotonic() > end:
                raise AssertionError(f"not within {within} s:\n{self.said()}")
            time.sleep(0.02)

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""

    def post(self, path: str, body: Any) -> httpx2.Response:
        """What it answers to a POST of JSON."""
        assert self.plate
        return httpx2.post(f"{self.plate.url}{path}", json=body, timeout=30, trust_env=False)

    def get(self, path: str) -> httpx2.Response:
        """What it answers to a GET."""
        assert self.plate
        return httpx2.get(f"{self.plate.url}{path}", timeout=30, trust_env=False)

    def send(self, *names: str, **more: Any) -> list[str]:
        """Post one alert for each workflow, each in a delivery of its own; the incidents."""
        found = []
        for name in names:
            answer = self.post("/v1/alerts/alertmanager", payload(alert(name, **more)))
            assert answer.status_code == 200, answer.text
            found += [str(one["id"]) for one in answer.json()["incidents"]]
        return found

    def incident(self, incident: str) -> dict[str, Any]:
        """How an incident stands."""
        found: dict[str, Any] = self.get(f"/v1/incidents/{incident}").json()
        return found

    def wait_for(
        self, incidents: Sequence[str], status: str = "reported", within: float = 60.0
    ) -> None:
        """Return once all of them have that status."""
        left = set(incidents)

        def done() -> bool:
            for one in sorted(left):
                if self.incident(one)["status"] != status:
                    return False
                left.discard(one)
            return True

        self.wait(done, within)

    def events(self, incident: str) -> tuple[Event, ...]:
        """The record of the incident's last investigation."""
        journals = sorted((self.state / "journals" / incident).glob("[0-9][0-9][0-9][0-9].jsonl"))
        return read_events(journals[-1]) if journals else ()

    def text(self, incident: str, name: str) -> str:
        """A file of the incident's notes."""
        return (self.folder / "notes" / incident / name).read_text()

"""Claims about Debian's own Alertmanager in front of the real daemon."""

import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi

BINARY = shutil.which("prometheus-alertmanager")
CONFIG = """\
route:
  receiver: copilot
  group_by: [alertname]
  group_wait: 1s
  group_interval: 2s
  repeat_interval: 2s
receivers:
  - name: copilot
    webhook_configs:
      - url: {url}/v1/alerts/alertmanager
        send_resolved: true
"""
FAILED = re.compile(r'alertmanager_notification_requests_failed_total\{.*integration="webhook"')
LABELS = {"alertname": "WorkflowStalled", "workflow": "wf_alpha_001", "severity": "warning"}


@pytest.fixture(autouse=True)
def _needs_the_binary() -> None:
    if BINARY is None:
        pytest.skip("prometheus-alertmanager is not installed (Debian: prometheus-alertmanager)")


def free_port() -> int:
    """Return a port that nobody has now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Sender:
    """A running Alertmanager."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def fire(self, *, ended: bool = False) -> None:
        """Tell it that the alert fires, or that it is over."""
        now = datetime.now(UTC)
        alert = {"labels": LABELS, "startsAt": "2026-11-30T03:00:00Z"}
        if ended:
            alert["endsAt"] = (now - timedelta(seconds=1)).isoformat()
        answer = httpx2.post(f"{self.url}/api/v2/alerts", json=[alert], trust_env=False)
        assert answer.status_code == 200, answer.text

    def failures(self) -> float:
        """How often the daemon was not there, or sent it away, by its own count."""
        text = httpx2.get(f"{self.url}/metrics", trust_env=False).text
        return sum(float(line.split()[-1]) for line in text.splitlines() if FAILED.match(line))

    def is_up(self) -> bool:
        """Whether it answers."""
        try:
            return httpx2.get(f"{self.url}/-/ready", trust_env=False).status_code == 200
        except httpx2.HTTPError:
            return False


@contextmanager
def alertmanager(folder: Path, url: str) -> Iterator[Sender]:
    """Run one that sends to the daemon at *url*."""
    folder.mkdir()
    (folder / "config.yml").write_text(CONFIG.format(url=url))
    port = free_port()
    assert BINARY
    with (folder / "log").open("wb") as log, subprocess.Popen(
        [BINARY, f"--config.file={folder / 'config.yml'}", f"--storage.path={folder / 'data'}",
         f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
        stdout=log, stderr=log,
    ) as process:  # fmt: skip
        sender = Sender(port)
        try:
            end = time.monotonic() + 20
            while not sender.is_up():
                assert time.monotonic() < end, (folder / "log").read_text()
                time.sleep(0.1)
            yield sender
        finally:
            process.kill()


def incidents(daemon: RunningDaemon) -> list[dict[str, object]]:
    """Every incident that the daemon knows."""
    found: list[dict[str, object]] = daemon.get("/v1/incidents").json()["incidents"]
    return found


def received(daemon: RunningDaemon) -> int:
    """How often the alert came in."""
    return sum(int(one["count"]) for one in daemon.get("/v1/alerts").json()["alerts"])


def test_firing_repeats_a_restart_between_them_and_the_end_are_one_incident(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "workspace"
    port = free_port()
    with (
        MessagesApi(responder=Investigator(turns=3)) as api,
        RunningDaemon(folder, api, listen=f"127.0.0.1:{port}") as daemon,
        alertmanager(tmp_path / "sender", f"http://127.0.0.1:{port}") as sender,
    ):
        sender.fire()
        daemon.wait(lambda: received(daemon) >= 2)
        was_open = [not one["resolved"] for one in incidents(daemon)]

        assert daemon.kill(signal.SIGTERM) == 0
        sent_in_vain(sender)
        daemon.start()
        before = received(daemon)
        daemon.wait(lambda: received(daemon) > before)

        sender.fire(ended=True)
        daemon.wait(lambda: incidents(daemon)[0]["resolved"])
        found = incidents(daemon)

    assert was_open == [True]
    assert len(found) == 1
    assert found[0]["alerts"] == 1


def sent_in_vain(sender: Sender) -> None:
    """Return once a notification found no daemon; Alertmanager goes on trying it."""
    end = time.monotonic() + 20
    while sender.failures() == 0:
        assert time.monotonic() < end, "nothing was sent while the daemon was away"
        time.sleep(0.05)

"""Whoever sends alerts to a daemon that dies again and again, and believes each promise it gets."""

import json
import threading
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from types import TracebackType
from typing import Self

import httpx2

from copilot.intake.drop import drop
from tests.daemon.running import RunningDaemon, alert, payload

PAUSE_S = 0.05
AGAIN_S = 0.02


class Sender:
    """Posts each alert until it is acknowledged, and some of them again and again.

    An alert with an even number is never sent once it was acknowledged: if its promise was broken,
    nothing mends that. With nothing new to send, an odd one is repeated, so that any kill meets
    a post under way.
    """

    def __init__(self, daemon: RunningDaemon, random: Random) -> None:
        self.acknowledged: dict[str, str] = {}
        """The incident that was promised for each alert."""
        self.broken: list[str] = []
        """Promises that do not fit together, in words."""
        self.posts = 0
        self.spooled: set[str] = set()
        self._daemon = daemon
        self._random = random
        self._fresh: SimpleQueue[str] = SimpleQueue()
        self._waiting = 0
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave.set()
        self._thread.join()

    @property
    def is_done(self) -> bool:
        """Whether all that was given has been acknowledged."""
        return self._waiting == 0

    def give(self, name: str) -> None:
        """Send the alert of *name*."""
        self._waiting += 1
        self._fresh.put(name)

    def spool(self, name: str) -> None:
        """Put the alert of *name* into the spool folder, where it may be taken from at any time."""
        drop(self._daemon.state / "spool", json.dumps(payload(alert(name))).encode())
        self.spooled.add(name)

    def _send(self) -> None:
        while not self._leave.wait(self._random.uniform(0, PAUSE_S)):
            try:
                name = self._fresh.get_nowait()
            except Empty:
                odd = [name for name in self.acknowledged if int(name[-1]) % 2]
                if odd:
                    self._post(self._random.choice(odd))
                continue
            while not self._post(name) and not self._leave.wait(AGAIN_S):
                pass
            self._waiting -= 1

    def _post(self, name: str) -> bool:
        """Whether the alert was acknowledged."""
        try:
            answer = self._daemon.post("/v1/alerts/alertmanager", payload(alert(name)))
        except (httpx2.HTTPError, AssertionError):  # it is dead, or not up yet
            return False
        if answer.status_code != 200:
            if answer.status_code != 503:
                self.broken.append(f"{name}: answered {answer.status_code} {answer.text}")
            return False
        self.posts += 1
        [said] = answer.json()["incidents"]
        before = self.acknowledged.setdefault(name, said["id"])
        if before != said["id"]:
            self.broken.append(f"{name}: first {before}, then {said['id']}")
        return True


def is_taken(spool: Path, within: float) -> bool:
    """Whether nothing waits in the spool, at the latest after so many seconds."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if not any((spool / "new").iterdir()):
            return True
        time.sleep(AGAIN_S)
    return False

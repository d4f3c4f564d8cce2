"""Takes from the spool in the folder given, and is killed once the inbox has kept what it took."""

import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Arrival, Taken
from copilot.intake.door import Door
from copilot.intake.spool import Spool
from copilot.redact import Redactor
from copilot.settings import SettingsFile

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Deadly:
    """An inbox after whose answer the process is gone."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """Keep the arrivals and die."""
        self._inbox.accept(arrivals)
        os.kill(os.getpid(), signal.SIGKILL)
        return []

    def begin(self, arrivals: Sequence[Arrival]) -> "Future[list[Taken]]":
        """Keep the arrivals and die."""
        answer: Future[list[Taken]] = Future()
        answer.set_result(self.accept(arrivals))
        return answer


def spool(folder: Path, inbox: Inbox | Deadly) -> Spool:
    """Return the spool of that folder, in front of that inbox."""
    door = Door(
        SettingsFile(), inbox, Redactor(b"key"), now=lambda: NOW, count=lambda source, outcome: None
    )
    return Spool(folder / "spool", lambda: door, now=lambda: NOW)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    spool(place, Deadly(Inbox(place / "inbox.sqlite", now=lambda: NOW))).drain_once()

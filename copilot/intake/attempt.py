"""One run of a poll on a thread of its own, which can be given up but not stopped.

A call that never returns (a dead connection without a time limit) keeps its thread for ever; it
must not keep anything else. So whoever waits leaves after a while, and what the thread still
brings after that goes nowhere: its alerts are refused, its cursor is not saved.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from threading import Event, Thread

from copilot.errors import CopilotError
from copilot.intake.polls import Asked, Poll
from copilot.values import Alert, JsonObject


class GivenUpError(CopilotError):
    """Nobody waits for this run any more."""


class Attempt:
    """Asks a poll once. *take* puts alerts into the inbox."""

    def __init__(self, poll: Poll, take: Callable[[Sequence[Alert]], object]) -> None:
        self.alerts = 0
        self._poll = poll
        self._take = take
        self._over = Event()
        self._given_up = False
        self._asked: Asked | None = None
        self._error: BaseException | None = None
        self._thread: Thread | None = None

    @property
    def is_alive(self) -> bool:
        """True while its thread is."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, now: datetime, cursor: JsonObject) -> None:
        """Start asking."""
        self._thread = Thread(
            target=self._run, args=(now, cursor), name=f"poll {self._poll.name}", daemon=True
        )
        self._thread.start()

    def result(self, patience: timedelta) -> Asked:
        """The answer. Raises TimeoutError, GivenUpError, and what the question raised."""
        if not self._over.wait(patience.total_seconds()):
            self._given_up = True
            raise TimeoutError
        if self._error:
            raise self._error
        if self._asked is None:
            raise GivenUpError(f"the poll {self._poll.name} was given up")
        return self._asked

    def give_up(self) -> None:
        """Let whoever waits go at once."""
        self._given_up = True
        self._over.set()

    def _run(self, now: datetime, cursor: JsonObject) -> None:
        try:
            self._asked = self._poll.ask(now, cursor, self._accept)
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is awaited
            self._error = error
        self._over.set()

    def _accept(self, alerts: Sequence[Alert]) -> None:
        if self._given_up:
            raise GivenUpError(f"the poll {self._poll.name} was given up; its alerts come again")
        if alerts:
            self._take(alerts)
            self.alerts += len(alerts)

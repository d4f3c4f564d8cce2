"""Asks a Jira site, waits as it wants, tries again where that makes sense, and says why when not.

A stated wait is never cut short. What is longer than one call may wait becomes an error that names
the time; nothing is asked of that endpoint before then. A refused account is left alone for a
while, and one behind a CAPTCHA for good: each further try would lock it longer.
"""

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from connectors.jira_tracker.replies import Ask, Fault, Json, NoReply, Reply, answer
from connectors.jira_tracker.waits import EVERYWHERE, Pause, Pauses, stated_wait
from copilot.errors import ConnectorError

LOST = {"unavailable", "unreadable"}
"""After these nobody knows whether the request was done."""
REFUSED_S = 600.0
"""How long an account is left alone that was refused on every try."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and chance, so that a test can turn them by hand."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Patience:
    """How often one call tries, and how long it may wait in all."""

    tries: int = 3
    longest_wait_s: float = 30.0


class Opened(Protocol):
    """A door that is open: one request out, one reply in."""

    def send(self, ask: Ask) -> Reply:
        """The reply, whatever its status. Raises NoReply when none came whole."""


class JiraFault(ConnectorError):
    """A call failed. `fault` is None when it was not made, because of a pause."""

    def __init__(self, message: str, fault: Fault | None, *, retryable: bool = False) -> None:
        super().__init__(message, retryable=retryable)
        self.fault = fault


class Calls:
    """The calls to one site. Threads may share it."""

    def __init__(
        self, title: str, connect: Callable[[], Opened], clock: Clock, patience: Patience
    ) -> None:
        self._title = title
        self._connect = connect
        self._clock = clock
        self._patience = patience
        self._pauses = Pauses()
        self._opened: Opened | None = None

    def object(self, ask: Ask) -> Json:
        """The JSON object that answers *ask*. Raises JiraFault."""
        found = self.json(ask)
        if not isinstance(found, dict):
            raise self.failed(ask, Fault("unreadable", "it answered 200 with a list"))
        return found

    def json(self, ask: Ask) -> Json | list[Any]:
        """The JSON that answers *ask*. Raises JiraFault."""
        left = self._patience.longest_wait_s
        tries = 0
        while True:
            left -= self._wait_turn(ask, left)
            tries += 1
            outcome, stated = self._once(ask)
            if not isinstance(outcome, Fault):
                return outcome
            is_last = tries == self._patience.tries or not outcome.again
            self._pause(ask, outcome, stated, tries if not is_last else None)
            if is_last or (outcome.kind in LOST and not ask.repeatable):
                raise self.failed(ask, outcome)

    def _once(self, ask: Ask) -> tuple[Json | list[Any] | Fault, float | None]:
        """What one try gives, and how long the reply asks us to wait."""
        if self._opened is None:
            self._opened = self._connect()
        try:
            reply = self._opened.send(ask)
        except NoReply as failure:
            return Fault("unavailable", str(failure), again=failure.again), None
        return answer(reply), stated_wait(reply, self._clock.now())

    def _wait_turn(self, ask: Ask, left: float) -> float:
        """Wait until the endpoint may be asked, and give the seconds it took. Raises JiraFault."""
        waited = 0.0
        while pause := self._pauses.on(ask.endpoint, self._clock.monotonic()):
            seconds = pause.until - self._clock.monotonic()
            if waited + seconds > left:
                message = f"{self._title} was not asked for {ask.endpoint}: {pause.why}"
                raise JiraFault(
                    message + self._until(seconds), None, retryable=math.isfinite(seconds)
                )
            self._clock.sleep(seconds)
            waited += seconds
        return waited

    def _pause(self, ask: Ask, fault: Fault, stated: float | None, tries: int | None) -> None:
        """Leave alone what the fault is about; *tries* is None after the last one."""
        chance = self._clock.random()
        endpoint = ask.endpoint
        match fault.kind:
            case "captcha":
                endpoint, seconds = EVERYWHERE, math.inf
            case "unauthorised":
                endpoint = EVERYWHERE
                seconds = REFUSED_S if tries is None else 0.5 + chance / 2
                self._opened = None if tries is None else self._opened  # the secret may be new
            case "limited":
                endpoint = EVERYWHERE if "quota" in fault.words else endpoint
                backoff = 5.0 * 2 ** ((tries or self._patience.tries) - 1)
                seconds = (stated or backoff) * (1 + 0.3 * chance)
            case "unavailable" if stated:
                seconds = stated * (1 + 0.3 * chance)
            case _ if fault.again and tries is not None:
                seconds = 0.5 * 2 ** (tries - 1) * (1 + chance)
            case _:
                return
        why = f"{fault.words}{f' ({fault.said})' if fault.said else ''}"
        self._pauses.add(endpoint, Pause(self._clock.monotonic() + seconds, why))

    def failed(self, ask: Ask, fault: Fault) -> JiraFault:
        """The error that says what was asked for, what is wrong and when to ask again."""
        said = f"; it said: {fault.said}" if fault.said else ""
        message = f"{self._title} gave no {ask.endpoint}: {fault.words}{said}"
        pause = self._pauses.on(ask.endpoint, self._clock.monotonic())
        if pause and math.isfinite(pause.until):
            message += self._until(pause.until - self._clock.monotonic())
        retryable = fault.kind in {"limited", "unavailable", "unreadable"}
        return JiraFault(message, fault, retryable=retryable)

    def _until(self, seconds: float) -> str:
        """`; it may be asked again at …`, rounded up to the second."""
        if not math.isfinite(seconds):
            return ""
        at = (self._clock.now() + timedelta(seconds=seconds)).replace(microsecond=0)
        return f"; it may be asked again at {at + timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"

"""Requests with patience: tried again where that makes sense, and not at all while a site is down.

The server's own wait (Retry-After) is a minimum. Everything that sleeps, tells the time or throws
dice is handed in.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from connectors.opensearch.faults import Fault, RefusedError, UnansweredError, fault_of
from connectors.opensearch.replies import Ask, NoReply, Reply
from connectors.opensearch.site import Site
from copilot.errors import CredentialsError
from copilot.values import JsonObject

BACKOFF_S = 1.0
LONGEST_WAIT_S = 30.0
OPENS_AFTER = 5
CLOSED_FOR_S = 30.0


class Sender(Protocol):
    """What carries requests: the door, or a double of it."""

    def send(self, ask: Ask) -> Reply:
        """The reply, whatever its status. Raises NoReply when none came whole."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How time passes for a caller: monotonic seconds, a sleep, and a number from 0 to 1."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]
    dice: Callable[[], float]


class Breaker:
    """Counts failures in a row; after OPENS_AFTER of them, a site is left alone for a while."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0
        self._lock = threading.Lock()

    def wait(self, now: float) -> float:
        """Seconds until the site may be asked again. At 0 after a pause, one asker may probe."""
        with self._lock:
            if self._failures < OPENS_AFTER:
                return 0.0
            left = self._until - now
            if left <= 0:
                self._until = now + CLOSED_FOR_S  # the others wait for what the probe finds
                return 0.0
            return left

    def note(self, now: float, *, failed: bool) -> None:
        """Count one outcome."""
        with self._lock:
            self._failures = self._failures + 1 if failed else 0
            if failed and self._failures >= OPENS_AFTER:
                self._until = now + CLOSED_FOR_S


class Caller:
    """Asks one site; threads may share it."""

    def __init__(self, name: str, site: Site, sender: Sender, pace: Pace) -> None:
        self.name = name
        self.site = site
        self._sender = sender
        self._pace = pace
        self._breaker = Breaker()

    def ask(self, ask: Ask) -> JsonObject:
        """The answer to *ask* as a document.

        Raises RefusedError, UnansweredError, or CredentialsError when the login is not accepted.
        """
        wait = self._breaker.wait(self._pace.clock())
        if wait:
            raise UnansweredError(
                f"{self._what(ask)}: it failed {OPENS_AFTER} times in a row and is left alone for "
                f"another {wait:.0f} s; try again then, or see whether it is up",
                retryable=True,
            )
        tries = self.site.patience.tries
        for attempt in range(1, tries + 1):
            try:
                reply = self._sender.send(ask)
            except NoReply as error:
                self._breaker.note(self._pace.clock(), failed=not error.too_large)
                if attempt < tries and error.again and not error.timed_out:
                    self._pace.sleep(self._wait(attempt))
                    continue
                raise self._unanswered(ask, error) from None
            if 200 <= reply.status < 300:
                self._breaker.note(self._pace.clock(), failed=False)
                return self._document(ask, reply)
            fault = fault_of(reply)
            self._breaker.note(self._pace.clock(), failed=fault.retryable)
            wait = max(self._wait(attempt), _stated(reply))
            if attempt == tries or not fault.retryable or wait > LONGEST_WAIT_S:
                raise self._refusal(ask, fault)
            self._pace.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def refuse(self, ask: Ask, fault: Fault) -> RefusedError:
        """The error for one part of an answer that was refused."""
        return RefusedError(f"{self._what(ask)}: {fault.words()}", fault)

    def _unanswered(self, ask: Ask, error: NoReply) -> UnansweredError:
        heavy = error.timed_out or error.too_large
        advice = "narrow the window" if heavy else "see whether it is up"
        return UnansweredError(
            f"{self._what(ask)}: {error}; {advice}",
            retryable=error.again,
            too_large=error.too_large,
            timed_out=error.timed_out,
        )

    def _refusal(self, ask: Ask, fault: Fault) -> RefusedError | CredentialsError:
        if fault.status == 401:
            return CredentialsError(f"{self._what(ask)}: {fault.words()}")
        return self.refuse(ask, fault)

    def _document(self, ask: Ask, reply: Reply) -> JsonObject:
        try:
            document = reply.document()
        except RecursionError:
            raise UnansweredError(
                f"{self._what(ask)}: an entry of the answer is nested too deep to be read; narrow "
                "the window",
                retryable=False,
                too_large=True,
            ) from None
        if not isinstance(document, dict):
            kind = reply.headers.get("content-type", "") or "no content type"
            raise UnansweredError(
                f"{self._what(ask)}: the answer is no JSON document ({kind}, {len(reply.body)} "
                "bytes); something else than OpenSearch answers at that address",
                retryable=False,
            )
        return document

    def _what(self, ask: Ask) -> str:
        where = ", ".join(self.site.indices)
        return f"logbook {self.name} could not {ask.doing} in {where} at {self.site.url}"

    def _wait(self, attempt: int) -> float:
        """Twice as long each time, spread so that many askers do not come back together."""
        return float(BACKOFF_S * 2 ** (attempt - 1) * (0.5 + self._pace.dice()))


def _stated(reply: Reply) -> float:
    """Seconds that the reply asks us to wait; 0 when it says nothing that can be used."""
    value = reply.headers.get("retry-after", "").strip()
    return float(value) if value.isascii() and value.isdecimal() and len(value) < 9 else 0.0

"""One poll, run again and again: its cursor, its troubles, its rests, its counts.

A source that fails is asked ever more rarely; a poll that hangs is given up and, a few times over,
begun anew beside the thread that still hangs. Knows no scheduler: `run` is called when it is time.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Event, Lock
from typing import TypeAlias

from copilot.errors import CopilotError
from copilot.intake.attempt import Attempt, GivenUpError
from copilot.intake.cursors import CursorFile
from copilot.intake.polls import Asked, Poll, PollCounts, PollState, Standing
from copilot.values import Alert

LOG = logging.getLogger(__name__)
LONGEST_REST = timedelta(minutes=10)
HUNG = 3
"""So many hung threads of one poll are suffered; then it waits until one of them ends."""
Take: TypeAlias = Callable[[Sequence[Alert], str], object]
"""Puts alerts of the source that is named into the inbox; `Door.take_alerts` does."""


class Watch:
    """Runs one poll. `run` comes from one thread at a time, the rest from any."""

    def __init__(
        self, poll: Poll, cursor: CursorFile, take: Take, clock: Callable[[], datetime]
    ) -> None:
        self.poll = poll
        self._cursor = cursor
        self._take = take
        self._clock = clock
        self._lock = Lock()
        self._state = PollState(poll.name, "waiting", None, None, "", "", PollCounts())
        self._attempt: Attempt | None = None
        self._hung: list[Attempt] = []
        self._failures = 0
        self._rests_until: datetime | None = None
        self._closed = False
        self._idle = Event()
        self._idle.set()

    @property
    def state(self) -> PollState:
        """How the poll stands."""
        with self._lock:
            return self._state

    def run(self) -> None:
        """Ask once and save the new cursor. Errors of ours come out, all others are kept in mind.

        Nothing is asked while the poll rests after a failure, or too many of its threads hang.
        """
        now = self._clock()
        if not self._may_run(now):
            return
        attempt = Attempt(self.poll, lambda alerts: self._take(alerts, f"poller:{self.poll.name}"))
        if not self._begun(attempt, now):
            return
        try:
            attempt.begin(now, self._cursor.read())
            asked = attempt.result(self.poll.patience)
            self._cursor.write(asked.cursor)
            self._answered(now, asked)
        except TimeoutError:
            self._timed_out(now, attempt)
        except GivenUpError:
            LOG.info("poll given up name=%s", self.poll.name)
        except CopilotError as error:
            self._failed(now, str(error))
        except Exception as error:
            self._failed(now, f"an error of ours, see the log: {type(error).__name__}")
            raise
        finally:
            self._ended(attempt)

    def skip(self, count: int, why: str) -> None:
        """Count runs that were due and did not take place."""
        if count > 0:
            LOG.warning("poll skipped name=%s runs=%d why=%s", self.poll.name, count, why)
            self._count(skipped=count)

    def broke(self) -> None:
        """Count a run that ended with an error of ours."""
        self._count(broken=1)

    def continues(self, other: "Watch") -> None:
        """Count on from where *other* was."""
        with self._lock:
            self._state = replace(self._state, counts=other.state.counts)

    def close(self, seconds: float) -> bool:
        """Begin no more; whether the run under way ended by itself. If not, it is given up."""
        with self._lock:
            self._closed = True
        ended = self._idle.wait(seconds)
        with self._lock:
            attempt = self._attempt
        if attempt:
            attempt.give_up()
        return ended

    def _may_run(self, now: datetime) -> bool:
        rests = self._rests_until
        if rests and now < rests and rests - now <= 2 * max(LONGEST_REST, self.poll.every):
            self._count(skipped=1)
            return False
        self._hung = [attempt for attempt in self._hung if attempt.is_alive]
        if len(self._hung) >= HUNG:
            self.skip(1, f"{HUNG} earlier runs still hang")
            return False
        return True

    def _begun(self, attempt: Attempt, now: datetime) -> bool:
        with self._lock:
            if self._closed:
                return False
            self._attempt = attempt
            self._idle.clear()
            counts = replace(self._state.counts, runs=self._state.counts.runs + 1)
            standing: Standing = "running"
            if self._state.standing in {"failing", "timed out"}:
                standing = self._state.standing  # until it is known better
            self._state = replace(self._state, standing=standing, since=now, counts=counts)
        return True

    def _ended(self, attempt: Attempt) -> None:
        with self._lock:
            self._attempt = None
        self._count(alerts=attempt.alerts)
        self._idle.set()

    def _answered(self, now: datetime, asked: Asked) -> None:
        if asked.problem:
            self._failed(now, asked.problem, asked.note)
            return
        if self._failures:
            LOG.info("poll works again name=%s", self.poll.name)
        if asked.note and asked.note != self.state.note:
            LOG.warning("poll says name=%s note=%s", self.poll.name, asked.note)
        self._failures, self._rests_until = 0, None
        with self._lock:
            self._state = replace(
                self._state, standing="ok", last_good=now, problem="", note=asked.note
            )

    def _timed_out(self, now: datetime, attempt: Attempt) -> None:
        self._hung.append(attempt)
        waited = int(self.poll.patience.total_seconds())
        self._count(timed_out=1)
        self._rest(now, "timed out", f"no answer within {waited} s; the run was given up")

    def _failed(self, now: datetime, problem: str, note: str = "") -> None:
        self._count(failed=1)
        self._rest(now, "failing", problem, note)

    def _rest(self, now: datetime, standing: Standing, problem: str, note: str = "") -> None:
        """Keep the trouble in mind. The first pause is the usual one, each later one is longer."""
        self._failures += 1
        pause = self.poll.every * 2 ** min(self._failures - 1, 10)
        longest = max(LONGEST_REST, self.poll.every)
        # Half an interval less, so that the run at the end of the pause is not skipped as well.
        self._rests_until = now + min(pause, longest) - self.poll.every / 2
        LOG.warning("poll %s name=%s why=%s", standing, self.poll.name, problem)
        with self._lock:
            self._state = replace(self._state, standing=standing, problem=problem, note=note)

    def _count(self, **more: int) -> None:
        with self._lock:
            counts = self._state.counts
            grown = {name: getattr(counts, name) + number for name, number in more.items()}
            self._state = replace(self._state, counts=replace(counts, **grown))

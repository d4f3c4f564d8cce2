"""The one thread that writes. Whoever waits while it commits shares the next commit.

A commit that failed is not tried again: everybody in it is told, the connection is dropped, and
the next batch, or the next second without one, begins with a new connection.
"""

import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, insert, update
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from copilot.errors import CopilotError, InboxError
from copilot.inbox.accepting import Acceptance, Backlog
from copilot.inbox.database import Database, reason
from copilot.inbox.tables import about
from copilot.inbox.values import Arrival, Rules, Taken
from copilot.window import iso

LOG = logging.getLogger(__name__)
T = TypeVar("T")
ARRIVALS_A_COMMIT = 2_000
ANSWER_S = 10
"""How long anybody waits for a commit; by then the disk hangs."""
HEAL_EVERY_S = 1.0
GATHER_S = 0.02
"""How long a commit waits for more callers when there are many: each costs less among others."""
COLLISIONS = frozenset({"40001", "40P01"})
"""PostgreSQL: two daemons were in each other's way."""


@dataclass(slots=True)
class Job:
    """What one caller wants written: arrivals, or else some work of its own."""

    arrivals: Sequence[Arrival] = ()
    work: Callable[[Connection], Any] | None = None
    answer: "Future[Any]" = field(default_factory=Future)


class Writer:
    """Commits what callers of any thread hand in, and answers when it is synced."""

    def __init__(
        self,
        database: Database,
        rules: Rules,
        now: Callable[[], datetime],
        *,
        heal_every_s: float = HEAL_EVERY_S,
    ) -> None:
        self.trouble = ""
        """Why the last commit failed; empty when it did not."""
        self._database = database
        self._rules = rules
        self._now = now
        self._heal_every_s = heal_every_s
        self._backlog = Backlog(rules.backlog)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._is_shut = False
        self._is_busy = False
        """Whether the last commit was for several callers: then more come while the next waits."""
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._run, name="inbox-writer", daemon=True)
        self._thread.start()

    def begin(self, arrivals: Sequence[Arrival]) -> "Future[list[Taken]]":
        """What became of each arrival: told when that is synced, or an InboxError."""
        return self._hand_in(Job(arrivals=arrivals))

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """The same, waited for. Raises InboxError."""
        return cast("list[Taken]", self._wait(Job(arrivals=arrivals)))

    def write(self, work: Callable[[Connection], T]) -> T:
        """What *work* returned in a transaction that is synced. Raises what it raised."""
        return cast("T", self._wait(Job(work=work)))

    def shut(self) -> None:
        """Finish what was handed in and end the thread. Safe to call twice."""
        with self._lock:
            if not self._is_shut:
                self._is_shut = True
                self._jobs.put(None)
        self._thread.join()

    def _hand_in(self, job: Job) -> "Future[Any]":
        # Whoever goes away while it is written cannot cancel it: the answer would have no taker.
        job.answer.set_running_or_notify_cancel()
        with self._lock:
            if self._is_shut:
                raise InboxError("the inbox is closed; the daemon is stopping", retryable=True)
            self._jobs.put(job)
        return job.answer

    def _wait(self, job: Job) -> object:
        try:
            return self._hand_in(job).result(ANSWER_S)
        except FutureTimeoutError:
            raise InboxError(
                f"{self._database.name} did not answer within {ANSWER_S} s; send it again",
                retryable=True,
            ) from None

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._next()
            self._is_busy = len(batch) > 1
            if batch:
                self._carry_out(batch)
            elif self.trouble and is_open:
                self._heal()
        self._drop()

    def _next(self) -> tuple[list[Job], bool]:
        """The jobs that wait, at least one unless a second went by; and whether more may come."""
        batch: list[Job] = []
        size = 0
        with suppress(queue.Empty):
            job = self._jobs.get(timeout=self._heal_every_s if self.trouble else None)
            if self._is_busy:
                time.sleep(GATHER_S)
            while job and size < ARRIVALS_A_COMMIT:
                batch.append(job)
                size += len(job.arrivals)
                job = self._jobs.get_nowait()
            if job:
                batch.append(job)
            return batch, job is not None
        return batch, True

    def _carry_out(self, batch: Sequence[Job], *, again: bool = True) -> None:
        """Commit the batch and answer everybody in it, one way or the other.

        With *again*, a batch that was refused for what is in it, or for what another daemon did
        meanwhile, is carried out once more, job by job: one must not stop its neighbours.
        """
        try:
            answers = self._commit(batch)
        except Exception as error:  # noqa: BLE001 - this thread must live, and its callers must hear
            self._drop()
            if again and not _is_of_the_place(error):
                for job in batch:
                    self._carry_out([job], again=False)
            else:
                self._refuse(batch, error)
        else:
            if self.trouble:
                LOG.warning("inbox healed")
                self.trouble = ""
            for job, answer in zip(batch, answers, strict=True):
                if isinstance(answer, CopilotError):
                    job.answer.set_exception(answer)
                else:
                    job.answer.set_result(answer)

    def _commit(self, batch: Sequence[Job]) -> list[object]:
        """The answers for the batch, which is synced when this returns."""
        if self._connection is None:
            self._connection = self._database.connect()
        with self._connection.begin():
            answers = self._answers(self._connection, batch)
        self._database.check()
        return answers

    def _answers(self, connection: Connection, batch: Sequence[Job]) -> list[object]:
        """What each job gives; an error of ours counts as an answer and changes nothing else."""
        answers: dict[int, object] = {
            place: _answer(partial(job.work, connection))
            for place, job in enumerate(batch)
            if job.work
        }
        # Arrivals come last: they write back whole rows, which must hold what the others changed.
        arrivals = [arrival for job in batch for arrival in job.arrivals]
        if arrivals:
            self._database.lock(connection, [arrival.identity for arrival in arrivals])
            acceptance = Acceptance(connection, arrivals, self._rules, self._now())
            for place, job in enumerate(batch):
                if not job.work:
                    take = partial(acceptance.take, job.arrivals, self._backlog)
                    answers[place] = _answer(take)
            acceptance.save()
        return [answers.get(place, []) for place in range(len(batch))]

    def _refuse(self, batch: Sequence[Job], error: Exception) -> None:
        """Tell everybody in the batch; what only their own data caused is no trouble of ours."""
        words = reason(error)
        is_trouble = _is_of_the_place(error)
        if not is_trouble:
            LOG.error("inbox refused=%d reason=%r", len(batch), words, exc_info=error)
        elif words != self.trouble:
            LOG.error("inbox trouble=%r refused=%d", words, len(batch))
            self.trouble = words
        for job in batch:
            job.answer.set_exception(
                InboxError(
                    f"{self._database.name} could not be written ({words}); "
                    "nothing of it was promised, send it again",
                    retryable=is_trouble or isinstance(error, DBAPIError),
                )
            )

    def _heal(self) -> None:
        """See whether the disk or the server is back."""
        probe = {"name": "probe", "value": iso(self._now())}

        def write(connection: Connection) -> None:
            found = connection.execute(
                update(about).where(about.c.name == "probe").values(value=probe["value"])
            )
            if not found.rowcount:
                connection.execute(insert(about), probe)

        self._carry_out([Job(work=write)])

    def _drop(self) -> None:
        """Let go of the connection, in whatever state it is."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError, OSError):
                connection.invalidate()
            with suppress(SQLAlchemyError, OSError):
                connection.close()


def _answer(work: Callable[[], object]) -> object:
    """What *work* returns, or the error of ours that it raises."""
    try:
        return work()
    except CopilotError as error:
        return error


def _is_of_the_place(error: Exception) -> bool:
    """Whether the disk or the server failed, so that another try would fail as well."""
    if isinstance(error, DBAPIError):
        state = getattr(error.orig, "sqlstate", None)
        return isinstance(error, OperationalError | InterfaceError) and state not in COLLISIONS
    return isinstance(error, OSError | sqlite3.Error | InboxError)

"""All polls of a daemon on one scheduler. The only importer of apscheduler.

The scheduler only says when. What APScheduler would do in silence is switched off or counted: late
runs take place once (no grace time, coalesced), overrunning ones are skipped and said, nothing of
it is persistent: where a poll got to is in its cursor. Every daemon of several polls for itself;
the same alert has the same key, so the inbox takes it once.
"""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Lock, Thread

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    EVENT_JOB_SUBMITTED,
    JobEvent,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from copilot.intake.cursors import CursorFile
from copilot.intake.polls import Poll, PollState
from copilot.intake.watch import Take, Watch

LOG = logging.getLogger(__name__)
MAX_POLLS = 100
"""Threads that may wait for answers at once."""
CLOCK_CHECK_S = 30.0
SLACK = timedelta(seconds=5)
HEARD = EVENT_JOB_SUBMITTED | EVENT_JOB_MAX_INSTANCES | EVENT_JOB_MISSED | EVENT_JOB_ERROR


def _utc() -> datetime:
    return datetime.now(UTC)


class Pollers:
    """Runs polls; cursors are files in *folder*, alerts go to *take*."""

    def __init__(self, folder: Path, take: Take, *, clock: Callable[[], datetime] = _utc) -> None:
        self._folder = folder
        self._take = take
        self._clock = clock
        self._lock = Lock()
        self._watches: dict[str, Watch] = {}  # by the id of the job
        self._last_due: dict[str, datetime] = {}
        self._generation = 0
        self._stopping = Event()
        self._scheduler = BackgroundScheduler(
            jobstores={"default": MemoryJobStore()},
            executors={"default": ThreadPoolExecutor(MAX_POLLS)},
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
            timezone=UTC,
        )
        self._scheduler.add_listener(self._heard, HEARD)

    def start(self, polls: Sequence[Poll]) -> None:
        """Begin: each poll runs at once, and then in its rhythm."""
        logging.getLogger("apscheduler").setLevel(logging.WARNING)  # it tells of every single run
        self._scheduler.start()
        self.replace(polls)
        Thread(target=self._watch_clock, name="poll clock", daemon=True).start()

    def replace(self, polls: Sequence[Poll]) -> None:
        """Poll these from now on. Runs under way are given up: their cursors stay, they come again.

        Counts go on where a poll keeps its name.
        """
        with self._lock:
            old, self._watches = self._watches, {}
            self._last_due.clear()
        for job, watch in old.items():
            self._scheduler.remove_job(job)
            watch.close(0)
        before = {watch.poll.name: watch for watch in old.values()}
        self._generation += 1
        for poll in polls:
            self._add(poll, before.get(poll.name))

    def stop(self, seconds: float = 5.0) -> bool:
        """Begin no more; whether all under way ended within *seconds*. Others are given up."""
        self._stopping.set()
        if not self._scheduler.running:
            return True
        self._scheduler.shutdown(wait=False)
        end = time.monotonic() + seconds
        with self._lock:
            watches = list(self._watches.values())
        ended = [watch.close(max(0.0, end - time.monotonic())) for watch in watches]
        return all(ended)

    def states(self) -> tuple[PollState, ...]:
        """How each poll stands, in the order of the settings."""
        with self._lock:
            return tuple(watch.state for watch in self._watches.values())

    def set_right(self, now: datetime) -> None:
        """Make polls due that lie further ahead than their interval: the clock was set back.

        APScheduler plans by the wall clock; an hour back would be an hour without polls.
        """
        for job in self._scheduler.get_jobs():
            watch = self._watch(job.id)
            if watch and job.next_run_time > now + watch.poll.every + SLACK:
                LOG.warning("clock was set back poll=%s planned=%s", job.name, job.next_run_time)
                job.modify(next_run_time=now)

    def _add(self, poll: Poll, before: Watch | None) -> None:
        # A new id each time: a given up run of the old job would count as a running one of the new.
        job = f"{poll.name}/{self._generation}"
        watch = Watch(poll, CursorFile(self._folder, poll.name), self._take, self._clock)
        if before:
            watch.continues(before)
        with self._lock:
            self._watches[job] = watch
        self._scheduler.add_job(
            watch.run,
            IntervalTrigger(seconds=max(1, int(poll.every.total_seconds())), timezone=UTC),
            id=job,
            name=poll.name,
            next_run_time=self._clock(),
        )

    def _watch_clock(self) -> None:
        while not self._stopping.wait(CLOCK_CHECK_S):
            self.set_right(self._clock())

    def _watch(self, job: str) -> Watch | None:
        with self._lock:
            return self._watches.get(job)

    def _heard(self, event: JobEvent) -> None:
        watch = self._watch(event.job_id)
        if watch is None:
            return
        match event.code:
            case code if code == EVENT_JOB_ERROR:
                watch.broke()
            case code if code == EVENT_JOB_MISSED and isinstance(event, JobExecutionEvent):
                watch.skip(1, "missed")
            case _ if isinstance(event, JobSubmissionEvent):
                self._due(watch, event)
            case _:
                pass

    def _due(self, watch: Watch, event: JobSubmissionEvent) -> None:
        """Count what a submission says of runs that do not take place."""
        due = max(event.scheduled_run_times)
        with self._lock:
            before = self._last_due.get(event.job_id)
            self._last_due[event.job_id] = due
        if before:
            # Coalesced runs leave no event of their own: they are the intervals in between.
            watch.skip(round((due - before) / watch.poll.every) - 1, "slept through")
        if event.code == EVENT_JOB_MAX_INSTANCES:
            watch.skip(1, "the run before is still under way")

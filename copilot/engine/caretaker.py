"""Nobody's runs: those of dead processes, and those that this process has and does not run.

A full disk or a database that went away can leave a run marked as running with nobody at it, or
ended by an error that says it will not last. Neither is the run's fault: both are queued again.
"""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic

from dbos import DBOS, WorkflowStatus
from dbos import error as vendor_error
from sqlalchemy.exc import SQLAlchemyError

from copilot.engine import vendor
from copilot.engine.leases import BEATS, Lease
from copilot.engine.place import Place
from copilot.engine.serializer import RecordedError
from copilot.errors import EngineError

logger = logging.getLogger(__name__)

LOOK_BACK = timedelta(days=1)
"""Runs that failed longer ago are left to a person."""
MOST_SECONDS = 5.0
LOOKS = 4
"""Looks within the time after which a run counts as stranded."""


class Caretaker:
    """Looks after runs that nobody runs, in a thread of its own."""

    def __init__(
        self,
        place: Place,
        dbos: DBOS,
        lease: Lease | None,
        *,
        executor: str,
        is_running: Callable[[str], bool],
        retry: Callable[[str], None],
    ) -> None:
        self._dbos = dbos
        self._lease = lease
        self._executor = executor
        self._is_running = is_running
        self._retry = retry
        self._patience = place.stranded_after.total_seconds()
        self._every = min(self._patience / LOOKS, MOST_SECONDS)
        if lease:
            self._every = min(self._every, place.lease.total_seconds() / BEATS)
        self._seen: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="engine-care", daemon=True)

    def begin(self) -> None:
        """Start looking."""
        self._thread.start()

    def end(self) -> None:
        """Stop looking."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(MOST_SECONDS)

    def _look_on(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self._take_from_the_dead()
                self._pick_up_the_stranded()
            except (vendor_error.DBOSException, SQLAlchemyError, EngineError) as error:
                logger.warning("engine could not look after its runs error=%s", error)

    def _take_from_the_dead(self) -> None:
        if self._lease is None:
            return
        holders = {row.executor_id for row in _under_way() if row.executor_id}
        dead = self._lease.dead(holders)
        if dead:
            logger.warning("engine takes over runs of=%s", ",".join(sorted(dead)))
            vendor.recover(sorted(dead))

    def _pick_up_the_stranded(self) -> None:
        now = monotonic()
        ours = _under_way(self._executor)
        left = {row.workflow_id for row in ours if not self._is_running(row.workflow_id)}
        since = (datetime.now(UTC) - LOOK_BACK).isoformat()
        failed = {
            row.workflow_id
            for row in DBOS.list_workflows(
                status="ERROR", completed_after=since, app_version=vendor.VERSION, load_input=False
            )
            if _is_passing(row)
        }
        self._seen = {run: self._seen.get(run, now) for run in left | failed}
        for run, first in self._seen.items():
            if now - first < self._patience:
                continue
            logger.warning("engine queues again run=%s", run)
            if run in left:
                vendor.queue_again(self._dbos, run, self._executor)
            else:
                self._retry(run)


def _under_way(executor: str | None = None) -> list[WorkflowStatus]:
    """The rows of runs that are marked as running, by that process or by any."""
    return DBOS.list_workflows(
        status="PENDING", executor_id=executor, load_input=False, load_output=False
    )


def _is_passing(row: WorkflowStatus) -> bool:
    return isinstance(row.error, RecordedError) and row.error.retryable

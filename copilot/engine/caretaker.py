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
from copilot.engine.leases import Lease
from copilot.engine.place import Place
from copilot.engine.serializer import RecordedError
from copilot.engine.vendor import reason
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
        self._patience = place.patience.total_seconds()
        self._every = min(self._patience / LOOKS, MOST_SECONDS)
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
                self._look()
            except (vendor_error.DBOSException, SQLAlchemyError) as error:
                logger.warning("engine could not look after its runs error=%s", reason(error))

    def _look(self) -> None:
        pending, failed = _under_way(), _failed_in_passing()
        dead = self._dead({row.executor_id for row in [*pending, *failed] if row.executor_id})
        if silent := dead & {row.executor_id for row in pending}:
            logger.warning("engine takes over runs of=%s", ",".join(sorted(silent)))
            vendor.recover(sorted(silent))
        left = {
            row.workflow_id
            for row in pending
            if row.executor_id == self._executor and not self._is_running(row.workflow_id)
        }
        # Others look after their own: two that queue a run again would start it twice.
        ended = {row.workflow_id for row in failed if row.executor_id in {self._executor, *dead}}
        for run in self._stranded(left | ended):
            logger.warning("engine queues again run=%s", run)
            if run in left:
                vendor.queue_again(self._dbos, run, self._executor)
            else:
                self._try_again(run)

    def _dead(self, holders: set[str]) -> set[str]:
        return self._lease.dead(holders) if self._lease else set()

    def _stranded(self, runs: set[str]) -> list[str]:
        """Those that were found so at each look since our patience began."""
        now = monotonic()
        self._seen = {run: self._seen.get(run, now) for run in sorted(runs)}
        return [run for run, first in self._seen.items() if now - first >= self._patience]

    def _try_again(self, run: str) -> None:
        try:
            self._retry(run)
        except EngineError as error:  # one that cannot be mended holds up no other
            logger.warning("engine could not queue again run=%s error=%s", run, error)


def _under_way() -> list[WorkflowStatus]:
    """The rows of runs that are marked as running, by any process."""
    return DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)


def _failed_in_passing() -> list[WorkflowStatus]:
    """The rows of runs that ended lately by an error that says it will not last."""
    since = (datetime.now(UTC) - LOOK_BACK).isoformat()
    found = DBOS.list_workflows(
        status="ERROR", completed_after=since, app_version=vendor.VERSION, load_input=False
    )
    return [row for row in found if isinstance(row.error, RecordedError) and row.error.retryable]

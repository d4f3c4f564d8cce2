"""What is known of the runs: the vendor's rows as plain values."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from dbos import WorkflowStatus

from copilot.engine.serializer import RecordedError
from copilot.values import JsonObject

Status = Literal[
    "queued", "running", "succeeded", "failed", "cancelled", "timed_out", "given_up"
]  # fmt: skip
"""`given_up`: started so often, without an end, that it is left alone until it is retried."""
STATUSES: dict[str, Status] = {
    "ENQUEUED": "queued",
    "DELAYED": "queued",
    "PENDING": "running",
    "SUCCESS": "succeeded",
    "ERROR": "failed",
    "CANCELLED": "cancelled",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "given_up",
}
UNFINISHED = ("ENQUEUED", "DELAYED", "PENDING")
CLOCK_MS = 1000
"""SQLite's rows tell the time of an end in whole seconds, rounded down."""
FINISHED = tuple(sorted(STATUSES.keys() - UNFINISHED))


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the queue."""

    id: str
    status: Status
    attempts: int
    """Times it was started, after kills too; a retry counts from 0 again."""
    priority: int
    queued: datetime
    started: datetime | None
    """The last time."""
    ended: datetime | None
    executor: str
    """The process that runs it, or ran it last."""
    version: str
    """The version of the engine that wrote it; another one's rows are never run here unasked."""
    result: JsonObject
    error: str
    """Empty, or the name of the error and its message."""
    retryable: bool
    """True when what failed says that trying again makes sense."""

    @property
    def is_over(self) -> bool:
        """True when nothing more happens without a person."""
        return self.status not in ("queued", "running")


def run_of(row: WorkflowStatus) -> Run:
    """The run that *row* describes."""
    error = row.error
    deadline, completed = row.workflow_deadline_epoch_ms, row.completed_at
    status = STATUSES[row.status]
    if status == "cancelled" and deadline and completed and completed + CLOCK_MS >= deadline:
        status = "timed_out"
    return Run(
        id=row.workflow_id,
        status=status,
        attempts=row.recovery_attempts or 0,
        priority=row.priority or 0,
        queued=_time(row.created_at) or datetime.fromtimestamp(0, UTC),
        started=_time(row.dequeued_at),
        ended=_time(completed),
        executor=row.executor_id or "",
        version=row.app_version or "",
        result=row.output if isinstance(row.output, dict) else {},
        error=f"{error.kind}: {error}" if isinstance(error, RecordedError) else str(error or ""),
        retryable=isinstance(error, RecordedError) and error.retryable,
    )


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)

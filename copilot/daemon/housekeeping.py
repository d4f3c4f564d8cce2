"""What a daemon does beside its work: learn from the notes, forget what is old, tidy up."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from copilot.daemon.caps import day_of
from copilot.daemon.payments import count_again
from copilot.engine.engine import Engine
from copilot.errors import CopilotError
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Known, Status
from copilot.notes.front import Front
from copilot.scratch.sweeping import sweep, usage
from copilot.workspace import Workspace

LOG = logging.getLogger(__name__)
LISTEN_EVERY = timedelta(seconds=30)
SWEEP_EVERY = timedelta(hours=6)
OVER: tuple[Status, ...] = ("reported", "failed", "cancelled", "dismissed")
LOOKED_AT = 10_000
ENDED_UNSEEN: tuple[Status, ...] = ("cancelled", "failed")
COUNTED_FOR = timedelta(minutes=30)
"""How long after its end a run's last answer may still come: longer than any answer takes."""
WRITTEN_FOR_S = 60.0
"""A file may appear in the notes so long after it was written."""


@dataclass
class Housekeeping:
    """The rounds of a daemon's housekeeping."""

    workspace: Callable[[], Workspace]
    inbox: Inbox
    engine: Engine
    unused: Callable[[], Sequence[str]] = tuple
    """Rules of the intake that no alert has met since the start."""
    _listened: datetime | None = None
    _counted: dict[Path, int] = field(default_factory=dict)
    """The sizes of the records whose money is counted."""
    _newest: float = 0.0
    """When the newest notes that were looked at were written."""
    _swept: datetime | None = None

    def adopt(self) -> None:
        """Bring incidents of the notes into the inbox that it does not know.

        So investigations from the command line, and an inbox that had to be begun anew, are known:
        the same trouble joins its incident, and none is investigated a second time.
        """
        if self.inbox.moved_aside:
            LOG.error("the inbox was damaged", extra={"moved_to": str(self.inbox.moved_aside)})
        workspace = self.workspace()
        fronts = workspace.notes.incidents().incidents
        # After a damaged inbox what was not finished was ours; else a person began it.
        unfinished: Status = "waiting" if self.inbox.moved_aside else "failed"
        known = [_known(one, len(workspace.journals(one.incident)), unfinished) for one in fronts]
        if count := self.inbox.adopt([one for one in known if one.identity]):
            LOG.info("incidents adopted from the notes", extra={"count": count})

    def report_stranded(self) -> None:
        """Say which runs another version left, for nobody runs them until they are retried."""
        for run in self.engine.of_other_versions():
            said = {"run": run.id, "version": run.version}
            LOG.warning("a run of another version waits for `incidents retry`", extra=said)

    def round(self) -> None:
        """Do what is due of all this."""
        now = self.workspace().now()
        try:
            if self._listened is None or now - self._listened > LISTEN_EVERY:
                since = now - COUNTED_FOR if self._listened else day_of(now)
                self._listened = now
                self._learn_closed()
                self._count_again(since)
            if self._swept is None or now - self._swept > SWEEP_EVERY:
                first, self._swept = self._swept is None, now
                self._sweep(now)
                if not first:
                    self._say_unused()
        except (CopilotError, OSError) as error:
            LOG.warning("housekeeping failed", extra={"why": str(error)})

    def _say_unused(self) -> None:
        """A rule with a slip in it would be silent for ever."""
        for rule in self.unused():
            LOG.warning("no alert has met this rule since the start", extra={"rule": rule})

    def _learn_closed(self) -> None:
        """What a person has closed or reopened in the notes is so in the inbox too."""
        notes = self.workspace().notes
        fronts, self._newest = notes.changed(self._newest - WRITTEN_FOR_S)
        is_closed = {front.incident: front.status == "closed" for front in fronts}
        for entry in self.inbox.entries(list(is_closed)):
            if is_closed[entry.id] and entry.status in OVER:
                self.inbox.close(entry.id)
            elif entry.status == "closed" and not is_closed[entry.id]:
                self.inbox.reopen(entry.id)

    def _count_again(self, since: datetime) -> None:
        """Count what runs have paid that ended without a worker's word, after *since*.

        A worker counts again what it takes up. Nobody takes up a run that was cancelled while its
        daemon was dead, nor one that was given up.
        """
        known, self._counted = self._counted, {}
        for status in ENDED_UNSEEN:
            for entry in self.inbox.list(status=status, since=since, limit=LOOKED_AT):
                for record in self.workspace().journals(entry.id):
                    size = record.stat().st_size
                    if known.get(record) != size:
                        count_again(self.inbox, entry.id, record)
                    self._counted[record] = size

    def _sweep(self, now: datetime) -> None:
        """Forget old runs and alerts, remove old scratch of closed incidents, pack the notes."""
        workspace = self.workspace()
        settings = workspace.settings
        old = now - settings.daemon.retention
        runs, incidents = self.engine.forget(old), self.inbox.forget(old)
        limit = now - settings.scratch.keep
        closed = workspace.closed_before(limit)
        root = settings.scratch.path
        keep = {one.incident for one in usage(root)} - closed
        swept = sweep(root, older_than=limit, keep=keep)
        workspace.notes.tidy()
        LOG.info(
            "swept",
            extra={"runs": runs, "incidents": incidents, "scratch_bytes": swept.bytes},
        )


def _known(front: Front, runs: int, unfinished: Status) -> Known:
    status: Status = unfinished
    if front.status in ("reported", "closed"):
        status = "closed" if front.status == "closed" else "reported"
    began = front.started or front.updated or datetime.min.replace(tzinfo=UTC)
    return Known(
        id=front.incident,
        identity=front.identity,
        title=front.title,
        status=status,
        previous=front.previous,
        began=began,
        updated=front.updated or began,
        runs=runs,
    )

"""A workspace whose rooms are counted, and whose sources are asked so many questions at once."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from threading import BoundedSemaphore
from typing import Any, TypeVar

from copilot.incidents import Incidents
from copilot.metrics import Metrics
from copilot.notes.repository import NotesRepository
from copilot.redact import Redactor
from copilot.workspace import Workspace

S = TypeVar("S")


def watched(workspace: Workspace, metrics: Metrics) -> Workspace:
    """The workspace with its notes, its redactor and its sources under watch."""
    most = workspace.settings.daemon.calls_per_source

    def each(sources: Mapping[str, S]) -> dict[str, Any]:
        return {
            name: WatchedSource(source, most, metrics, workspace.now)
            for name, source in sources.items()
        }

    notes = TimedNotes(workspace, metrics)
    return workspace.with_rooms(
        notes=notes,
        incidents=Incidents(notes, now=workspace.now),
        redactor=CountingRedactor(workspace.redactor, metrics),
        logbooks=each(workspace.logbooks),
        trackers=each(workspace.trackers),
        libraries=each(workspace.libraries),
        mcp_servers=each(workspace.mcp_servers),
        runbooks=workspace.runbooks,  # read now, so that what is wrong is told at the start
    )


class TimedNotes(NotesRepository):
    """The notes; how long each commit takes is counted."""

    def __init__(self, workspace: Workspace, metrics: Metrics) -> None:
        super().__init__(workspace.settings.notes, now=workspace.now)
        self._metrics = metrics

    def update(self, *args: Any, **options: Any) -> str | None:
        """Commit as ever."""
        begun = time.monotonic()
        commit = super().update(*args, **options)
        if commit:
            self._metrics.commit_took(time.monotonic() - begun)
        return commit


class CountingRedactor(Redactor):
    """A redactor that shares another's rules and key, and counts what it masks."""

    def __init__(self, redactor: Redactor, metrics: Metrics) -> None:
        self.__dict__.update(redactor.__dict__)
        self._metrics = metrics

    def redact_counted(self, text: str) -> tuple[str, Mapping[str, int]]:
        """Redact as ever."""
        masked, counts = super().redact_counted(text)
        if counts:
            self._metrics.redacted(counts)
        return masked, counts


class WatchedSource:
    """A source with at most so many calls under way; whoever comes then waits for its turn."""

    def __init__(
        self, source: Any, most: int, metrics: Metrics, now: Callable[[], datetime]
    ) -> None:
        self._source = source
        self._turns = BoundedSemaphore(most)
        self._metrics = metrics
        self._now = now

    def __getattr__(self, name: str) -> Any:
        """The source's own attribute; one that can be called waits for its turn."""
        found = getattr(self._source, name)
        if not callable(found):
            return found

        def call(*args: Any, **options: Any) -> Any:
            with self._turns:
                answer = found(*args, **options)
            self._metrics.connector_answered(self._source.name, self._now())
            return answer

        return call

"""Daemons with one promise broken, to show that the crash suite can fail."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from copilot.inbox.values import Taken
from copilot.inbox.writer import Job, Writer
from copilot.journal import Journal


def start_over() -> None:
    """Begin each investigation anew that a kill interrupted: its record is thrown away."""
    opened = Journal.__init__

    def mutant(self: Journal, path: Path, **options: Any) -> None:
        path.unlink(missing_ok=True)
        opened(self, path, **options)

    Journal.__init__ = mutant  # type: ignore[method-assign]


def promise_early() -> None:
    """Answer the sender, and never write."""

    def mutant(self: Writer, arrivals: Any) -> list[Taken]:
        with self._lock:
            job = Job(arrivals=arrivals)
        return [Taken(f"inc-20261130-{one.identity[:6]}", "opened") for one in job.arrivals]

    Writer.accept = mutant  # type: ignore[method-assign]


MUTANTS: Mapping[str, Callable[[], None]] = {
    "start_over": start_over,
    "promise_early": promise_early,
}

"""Daemons with one promise broken, to show that the crash suite can fail."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from copilot.inbox.values import Taken
from copilot.inbox.writer import Writer
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

    def mutant(self: Writer, arrivals: Any) -> Future[list[Taken]]:
        answer: Future[list[Taken]] = Future()
        answer.set_result([Taken(f"inc-20261130-{one.identity[:6]}", "opened") for one in arrivals])
        return answer

    Writer.begin = mutant  # type: ignore[method-assign]


MUTANTS: Mapping[str, Callable[[], None]] = {
    "start_over": start_over,
    "promise_early": promise_early,
}

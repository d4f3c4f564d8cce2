"""A flood of senders, told by a clock that stands still: nobody waits for it."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from copilot.daemon.right_of_way import RightOfWay


class Clock:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept = 0

    def __call__(self) -> float:
        """Return what it is."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Go on."""
        self.now += seconds
        self.slept += 1


def come(way: RightOfWay, many: int) -> None:
    """Let so many senders wait at the same moment, and be answered."""
    waiting: Sequence[Future[Any]] = [Future() for _ in range(many)]
    for one in waiting:
        way.comes(one)
    for one in waiting:
        one.set_result(None)

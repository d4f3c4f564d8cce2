"""The gate before every paid call: closed, nothing new begins, and what is under way ends.

A thread that comes to a closed gate waits there. A process that leaves does so by `os._exit`, with
those threads in it: their runs are taken up again at that point by whoever runs them next.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from time import monotonic

LOOK_AGAIN_S = 0.2


class Passage:
    """One step that is under way, and the calls under way inside it."""

    def __init__(self) -> None:
        self.running = 0
        self.parked = 0

    @property
    def is_at_rest(self) -> bool:
        """True when the step waits at the gate, inside itself, and nothing of it is paid for."""
        return self.parked > 0 and self.running == 0


class Gate:
    """Where steps begin. Safe to use from any thread."""

    def __init__(self, *, is_held: Callable[[], bool] = lambda: True) -> None:
        """*is_held* says whether this process still owns what it runs; asked at each step."""
        self._is_held = is_held
        self._changed = Condition()
        self._is_closed = False
        self._under_way: set[Passage] = set()

    @property
    def is_open(self) -> bool:
        """True when a step that comes now begins."""
        return not self._is_closed and self._is_held()

    def wait(self) -> None:
        """Return when the gate is open."""
        with self._changed:
            self._wait()

    @contextmanager
    def step(self) -> Iterator[Passage]:
        """Wait for the gate, then count as under way until the block is left."""
        passage = Passage()
        with self._changed:
            self._wait()
            self._under_way.add(passage)
        try:
            yield passage
        finally:
            with self._changed:
                self._under_way.discard(passage)
                self._changed.notify_all()

    @contextmanager
    def call(self, passage: Passage) -> Iterator[None]:
        """Wait for the gate inside a step that is under way, then count as a call of it."""
        with self._changed:
            passage.parked += 1
            self._changed.notify_all()
            self._wait()
            passage.parked -= 1
            passage.running += 1
        try:
            yield
        finally:
            with self._changed:
                passage.running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Let nothing begin any more."""
        with self._changed:
            self._is_closed = True

    def drain(self, seconds: float) -> bool:
        """Close, wait until all that is under way has ended or rests; False when time ran out."""
        deadline = monotonic() + seconds
        with self._changed:
            self._is_closed = True
            while any(not passage.is_at_rest for passage in self._under_way):
                left = deadline - monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def _wait(self) -> None:
        while not self.is_open:
            self._changed.wait(None if self._is_closed else LOOK_AGAIN_S)

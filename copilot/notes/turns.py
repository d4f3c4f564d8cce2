"""Threads that want to write the notes, in the order in which they came.

The lock between processes is asked for again and again, and whoever has just let it go is the first
to ask: among many investigations some would not get it for minutes.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock

from copilot.errors import NotesError

PATIENCE_S = 60.0
"""How long a thread waits for those before it: a few hundred commits."""


class Turns:
    """One at a time, first come first served, among the threads of a process."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._line: deque[Event] = deque()

    @property
    def length(self) -> int:
        """How many are in the line, the one whose turn it is included."""
        return len(self._line)

    @contextmanager
    def turn(self, seconds: float = PATIENCE_S) -> Iterator[None]:
        """Wait for those before, then have the turn. Raises NotesError when it takes too long."""
        mine = Event()
        with self._guard:
            self._line.append(mine)
            self._line[0].set()
        try:
            if not mine.wait(seconds):
                raise NotesError(
                    f"{self.length} threads wait to write the notes and one had no turn in "
                    f"{seconds:.0f} s; look for a disk that is slow, the work goes on by itself",
                    retryable=True,
                )
            yield
        finally:
            with self._guard:
                self._line.remove(mine)
                if self._line:
                    self._line[0].set()

"""What the outside asks of a running daemon by signal: to leave, to read its settings again.

A handler runs between two steps of the main thread wherever that is, also while it holds a lock.
So a handler of ours takes none: `threading.Event.set` does, and would wait for its own thread for
ever. `SimpleQueue.put` is made to be called there.
"""

import os
import signal
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType

LEFT_AT_ONCE = 143


class Signals:
    """SIGTERM and SIGINT once ask to leave, twice leave at once; SIGHUP asks for a reload."""

    def __init__(self) -> None:
        self.is_leaving = False
        self._is_reload_wanted = False
        self._rings: SimpleQueue[int] = SimpleQueue()

    def listen(self) -> None:
        """Take the signals of this process from now on."""
        signal.signal(signal.SIGTERM, self.terminate)
        signal.signal(signal.SIGINT, self.terminate)
        signal.signal(signal.SIGHUP, self.hang_up)

    def terminate(self, number: int, _frame: FrameType | None) -> None:
        """Ask to leave; whoever has asked before ends the process."""
        if self.is_leaving:
            os._exit(LEFT_AT_ONCE)
        self.is_leaving = True
        self._rings.put(number)

    def hang_up(self, number: int, _frame: FrameType | None) -> None:
        """Ask for a reload."""
        self._is_reload_wanted = True
        self._rings.put(number)

    def take_reload(self) -> bool:
        """Whether a reload was asked for since the last time."""
        if not self._is_reload_wanted:
            return False
        self._is_reload_wanted = False
        return True

    def wait(self, seconds: float) -> None:
        """Return after so long, or at once when a signal comes."""
        with suppress(Empty):
            self._rings.get(timeout=seconds)

"""Senders go first: work that can wait stands aside while their answers are late.

Door and investigations share one interpreter. In a flood the door needs nearly all of it, and a
sender gives up after seconds, while an investigation may take minutes.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

LATE_S = 0.05
"""An answer that took longer is late. A synced commit with those that it waits for takes 30 ms."""
MANY = 4
"""One or two late answers come of a slow disk, for which nobody need stand aside."""
AFTER_S = 0.25
"""How long it counts that an answer was late."""
LOOK_EVERY_S = 0.02


@dataclass
class RightOfWay:
    """Knows how late senders are answered, and holds others up for them. Safe for many threads."""

    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    stood: Callable[[float], None] = lambda _: None
    """Told for how many seconds somebody stood aside."""
    _under_way: int = 0
    _late_at: float | None = None
    _lock: Lock = field(default_factory=Lock)
    _first: Lock = field(default_factory=Lock)
    """Of those who stand aside, one looks whether it is over: hundreds would be a flood too."""

    @property
    def is_pressed(self) -> bool:
        """Whether many senders wait, and were just answered late."""
        return self._late_at is not None and self.monotonic() - self._late_at < AFTER_S

    def comes(self, answer: "Future[Any]") -> None:
        """A sender waits for this answer from now on."""
        since = self.monotonic()
        with self._lock:
            self._under_way += 1
        answer.add_done_callback(lambda _: self._goes(since))

    def stand_aside(self, most_s: float) -> None:
        """Return once no sender is pressed, and after *most_s* seconds in any case."""
        if not self.is_pressed:
            return
        begun = self.monotonic()
        if self._first.acquire(timeout=most_s):
            try:
                while self.is_pressed and self.monotonic() - begun < most_s:
                    self.sleep(LOOK_EVERY_S)
            finally:
                self._first.release()
        self.stood(self.monotonic() - begun)

    def _goes(self, since: float) -> None:
        now = self.monotonic()
        with self._lock:
            if self._under_way >= MANY and now - since > LATE_S:
                self._late_at = now
            self._under_way -= 1

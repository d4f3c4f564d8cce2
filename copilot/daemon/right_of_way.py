"""Senders go first: work that can wait stands aside while many of them wait for their answers.

Door and investigations share one interpreter. In a flood the door needs nearly all of it, and a
sender gives up after seconds, while an investigation may take minutes.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

MANY = 8
"""So many who wait at the same moment are a flood: a synced commit takes 30 ms, so that these are
some 250 alerts a second. Fewer may be a slow disk's doing, for which nobody need stand aside."""
AFTER_S = 0.25
"""How long it counts that there were many."""
APART_S = 2.0
"""In a flood that goes on, this is between one who goes on and the next. If several did together,
each sender who came meanwhile would wait for all of them."""
LOOK_EVERY_S = 0.02


@dataclass
class RightOfWay:
    """Knows how many senders wait, and holds others up for them. Safe for many threads."""

    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    stood: Callable[[float], None] = lambda _: None
    """Told for how many seconds somebody stood aside."""
    _under_way: int = 0
    _pressed_at: float | None = None
    _lock: Lock = field(default_factory=Lock)
    _first: Lock = field(default_factory=Lock)
    """Of those who stand aside, one looks whether it is over: hundreds would be a flood too."""

    @property
    def is_pressed(self) -> bool:
        """Whether many senders wait, or did a moment ago."""
        return self._pressed_at is not None and self.monotonic() - self._pressed_at < AFTER_S

    def comes(self, answer: "Future[Any]") -> None:
        """A sender waits for this answer from now on."""
        with self._lock:
            self._under_way += 1
            if self._under_way >= MANY:
                self._pressed_at = self.monotonic()
        answer.add_done_callback(self._goes)

    def stand_aside(self, most_s: float) -> None:
        """Return once the flood is over, or in it when it is one's turn, or after *most_s*."""
        if not self.is_pressed:
            return
        begun = self.monotonic()
        if self._first.acquire(timeout=most_s):
            until = min(begun + most_s, self.monotonic() + APART_S)
            try:
                while self.is_pressed and self.monotonic() < until:
                    self.sleep(LOOK_EVERY_S)
            finally:
                self._first.release()
        self.stood(self.monotonic() - begun)

    def _goes(self, _: "Future[Any]") -> None:
        with self._lock:
            self._under_way -= 1

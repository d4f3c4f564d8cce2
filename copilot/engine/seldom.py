"""A vendor that retries for ever says the same for ever: one line a minute of a kind is enough."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

BETWEEN_S = 60.0


@dataclass
class Seldom:
    """A filter: of each place in the code that logs, the first line, then one a minute.

    That one has `held_back`, the number of lines that were not written since the one before it.
    """

    monotonic: Callable[[], float] = time.monotonic
    _said: dict[tuple[str, int], tuple[float, int]] = field(default_factory=dict)
    """When each place was let through last, and how many were held back since."""
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        place, now = (record.pathname, record.lineno), self.monotonic()
        with self._lock:
            at, held = self._said.get(place, (now - BETWEEN_S, 0))
            if now - at < BETWEEN_S:
                self._said[place] = at, held + 1
                return False
            self._said[place] = now, 0
        if held:
            record.held_back = held
        return True

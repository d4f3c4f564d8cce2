"""Investigations whose request the service fails each time while it answers everybody else's.

Failing costs nothing, so one failure cannot be told from a service that is down; several in a row,
each with somebody else's answer since the one before, can.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

MOST = 5
"""Runs in a row, each with its own retries."""


@dataclass
class Strikes:
    """How often each investigation alone was failed. Safe to share between threads."""

    monotonic: Callable[[], float]
    _counts: dict[str, int] = field(default_factory=dict)
    _failed: dict[str, float] = field(default_factory=dict)
    """When each was failed last."""
    _lock: Lock = field(default_factory=Lock)

    def failed(self, incident: str, answered: float) -> bool:
        """Take in that its run was failed; whether it is out.

        *answered* is when its model answered anybody last, by the same clock: of two models of one
        service, one may be away.
        """
        with self._lock:
            alone = incident in self._failed and answered > self._failed[incident]
            self._counts[incident] = self._counts.get(incident, 0) + alone
            self._failed[incident] = self.monotonic()
            return self._counts[incident] >= MOST

    def forget(self, incident: str) -> None:
        """Begin anew: it was answered, or it is over."""
        with self._lock:
            self._counts.pop(incident, None)
            self._failed.pop(incident, None)

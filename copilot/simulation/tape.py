"""A journal that is kept nowhere: a simulation's events, with the times of the recorded ones."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from copilot.journal import Event, Journal, Kind
from copilot.values import JsonObject


class Tape(Journal):
    """Takes events like a journal. Opens no file, so that nothing of the record can change."""

    def __init__(self, begun: datetime, observe: Callable[[Event], None]) -> None:
        self.path = Path("simulation")
        self.time = begun
        """Of the recorded event that is being told."""
        self._events = []
        self._observe = observe

    def close(self) -> None:
        """There is nothing to let go."""

    def append(self, kind: Kind, turn: int, data: JsonObject) -> Event:
        """Take in one event and return it."""
        event = Event(len(self._events) + 1, self.time, kind, turn, data)
        self._events.append(event)
        self._observe(event)
        return event

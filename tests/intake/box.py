"""An inbox that keeps arrivals in a list, and refuses while it is told to."""

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime

from copilot.errors import InboxError
from copilot.inbox.values import Arrival, Outcome, Taken
from copilot.intake.door import Door
from copilot.redact import Redactor
from copilot.settings import SettingsFile
from copilot.values import canonical

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Box:
    """One incident per identity; the same key again is a repeat."""

    def __init__(self) -> None:
        self.kept: list[Arrival] = []
        self.batches: list[int] = []
        self.is_full = False
        self._keys: set[str] = set()
        self._identities: set[str] = set()

    def accept(self, arrivals: Sequence[Arrival]) -> list[Taken]:
        """Keep the arrivals, or none of them when full."""
        if self.is_full:
            raise InboxError("the inbox is full; try again later", retryable=True)
        self.batches.append(len(arrivals))
        return [self._take(one) for one in arrivals]

    def begin(self, arrivals: Sequence[Arrival]) -> "Future[list[Taken]]":
        """Do it at once, and answer it or why not."""
        answer: Future[list[Taken]] = Future()
        try:
            answer.set_result(self.accept(arrivals))
        except InboxError as error:
            answer.set_exception(error)
        return answer

    def _take(self, arrival: Arrival) -> Taken:
        canonical(arrival.alert)
        seen, known = arrival.key in self._keys, arrival.identity in self._identities
        self.kept.append(arrival)
        self._keys.add(arrival.key)
        self._identities.add(arrival.identity)
        outcome: Outcome = "repeated" if seen else "joined" if known else "opened"
        return Taken(f"inc-{arrival.identity}", outcome)

    @property
    def incidents(self) -> set[str]:
        """The identities that were kept and are not ignored."""
        return {one.identity for one in self.kept if not one.ignored}


def door(
    box: Box,
    settings: SettingsFile | None = None,
    counts: list[str] | None = None,
    now: datetime = NOW,
) -> Door:
    """Return a door into *box*, with a clock that stands still."""
    kept = counts if counts is not None else []
    return Door(
        settings or SettingsFile(),
        box,
        Redactor(b"key of the tests"),
        now=lambda: now,
        count=lambda source, outcome: kept.append(f"{source} {outcome}"),
    )

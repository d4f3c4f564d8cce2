"""What a poll is: a question asked again and again, whose answers are alerts.

A poll keeps nothing itself. It is given the cursor that its last answer left, hands its alerts to
`accept`, and returns the next cursor, which is saved only then: killed in between, it asks the same
again, and the inbox knows the alerts by their keys. At least once, and told once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol, TypeAlias

from copilot.values import Alert, JsonObject

PATIENCE = timedelta(minutes=5)
Accept: TypeAlias = Callable[[Sequence[Alert]], object]
"""Returns once the alerts are on the disk. Raises InboxError when they are not."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one poll leaves."""

    cursor: JsonObject
    problem: str = ""
    """Why the source could not be asked in full; the poll then counts as failed."""
    note: str = ""
    """What an operator should know although nothing failed."""


class Ask(Protocol):
    """The question itself."""

    def __call__(self, now: datetime, cursor: JsonObject, accept: Accept) -> Asked:
        """Ask once. Raises CopilotError when it could not; the old cursor then stays.

        *cursor* is empty at the first time. It must cover all the time since the last one.
        """


@dataclass(frozen=True, slots=True)
class Poll:
    """A question, how often it is asked, and how long an answer is awaited."""

    name: str
    every: timedelta
    ask: Ask
    patience: timedelta = PATIENCE


Standing = Literal["waiting", "running", "ok", "failing", "timed out"]
"""`waiting`: it has not run yet."""


@dataclass(frozen=True, slots=True)
class PollCounts:
    """What became of a poll's runs since the start, each a number that only grows."""

    runs: int = 0
    """Runs that were begun."""
    alerts: int = 0
    """Alerts that were accepted."""
    failed: int = 0
    """Runs whose source or inbox had trouble."""
    timed_out: int = 0
    """Runs that were given up."""
    broken: int = 0
    """Runs that ended with an error of ours, with a traceback in the log."""
    skipped: int = 0
    """Runs that were due and did not take place: overrun, slept through, resting or hung."""


@dataclass(frozen=True, slots=True)
class PollState:
    """How a poll stands, for people and for metrics."""

    name: str
    standing: Standing
    since: datetime | None
    """When its last run began; None before the first."""
    last_good: datetime | None
    """When a run that ended well began."""
    problem: str
    note: str
    counts: PollCounts

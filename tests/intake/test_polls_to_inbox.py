"""What polls tell, through the real door into the real inbox: each trouble is one incident."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Rules
from copilot.intake.door import Door
from copilot.intake.polls import Asked
from copilot.intake.stall import StallPoll
from copilot.redact import Redactor
from copilot.settings import SettingsFile
from copilot.settings.daemon import StallDetector
from copilot.values import JsonObject
from tests.connectors.logbooks import NOON, Event, after_noon, embedded, of

HOUR = 3600
DETECTOR = StallDetector(
    name="flows",
    logbook="local",
    field="workflow",
    progress="step",
    threshold=timedelta(hours=1),
    severity="high",
)


@dataclass
class House:
    """One inbox, its door, and what became of each alert."""

    folder: Path
    now: datetime = NOON
    outcomes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open them."""
        self.inbox = Inbox(self.folder / "inbox.sqlite", Rules(), now=lambda: self.now)
        self.door = Door(
            SettingsFile(), self.inbox, Redactor(b"key"), now=lambda: self.now,
            count=lambda _, outcome: self.outcomes.append(outcome),
        )  # fmt: skip

    def poll(self, poll: StallPoll, hours: float, cursor: JsonObject) -> Asked:
        """Poll at that hour."""
        self.now = after_noon(hours * HOUR)
        return poll(self.now, cursor, lambda alerts: self.door.take_alerts(alerts, "poller:flows"))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.inbox.shut()


@pytest.fixture
def detector(tmp_path: Path) -> Callable[..., StallPoll]:
    """Return a function that makes a detector over workflows that stall, and a living logbook."""

    def make(*stalling: str) -> StallPoll:
        alive = [of("fine", 300 * place) for place in range(60)]
        events = [*alive, *(of(name, 0) for name in stalling), Event(5 * HOUR, "chatter")]
        return StallPoll(embedded(tmp_path, events), DETECTOR)

    return make


def test_two_daemons_and_a_lost_record_make_one_incident(
    house: House, detector: Callable[..., StallPoll]
) -> None:
    poll = detector("slow")

    for hours in (2, 2.01, 3):
        house.poll(poll, hours, {})

    assert house.outcomes == ["opened", "repeated", "repeated"]
    [entry] = house.inbox.list()
    assert entry.severity == "high"


def test_each_stalled_workflow_is_an_incident_of_its_own(
    house: House, detector: Callable[..., StallPoll]
) -> None:
    house.poll(detector("slow-1", "slow-2"), 2, {})

    assert len(house.inbox.list()) == 2


def test_a_wave_of_stalls_is_one_incident(house: House, detector: Callable[..., StallPoll]) -> None:
    house.poll(detector(*(f"slow-{place}" for place in range(40))), 2, {})

    [entry] = house.inbox.list()
    assert entry.alerts == 40


def test_progress_resolves_the_incident(
    house: House, detector: Callable[..., StallPoll], tmp_path: Path
) -> None:
    poll = detector("slow")
    left = house.poll(poll, 2, {})
    (tmp_path / "late").mkdir()
    embedded(tmp_path / "late", [of("slow", 2.5 * HOUR)])
    poll.logbook.import_file(tmp_path / "late" / "events.jsonl", "late")  # type: ignore[attr-defined] # an embedded one

    house.poll(poll, 3, left.cursor)

    assert house.outcomes == ["opened", "resolved"]
    assert house.inbox.list()[0].resolved

"""The ticket poller: each changed ticket once, none lost to equal times, pages or outages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from connectors.embedded_tracker import EmbeddedTracker
from connectors.logbook import Coverage
from connectors.tracker import Ticket, TicketSearch, TicketsFound, Tracker
from copilot.errors import ConnectorError, InboxError
from copilot.intake import ticket_poll
from copilot.intake.ticket_poll import TicketPoll
from copilot.settings.daemon import TicketPoller
from copilot.values import Alert, Json, JsonObject
from copilot.window import iso
from tests.intake.told import Told

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SETTINGS = TicketPoller(name="tickets", tracker="local", every=timedelta(minutes=2))


@dataclass
class World:
    """A tracker whose tickets change, and the poller over it."""

    folder: Path
    settings: TicketPoller = SETTINGS
    tracker: EmbeddedTracker = field(init=False)
    told: Told = field(init=False)

    def __post_init__(self) -> None:
        """Make an empty tracker, and a ticket long before."""
        self.tracker = EmbeddedTracker(self.folder / "tickets.sqlite")
        self.told = Told(TicketPoll(self.tracker, self.settings))
        self.change("OLD-1", NOON - timedelta(days=90))

    def change(self, key: str, time: datetime, **more: Json) -> None:
        """Change a ticket at that time."""
        fields: JsonObject = {
            "summary": f"about {key}", "created": iso(time), "updated": iso(time), **more,
        }  # fmt: skip
        path = self.folder / "export.json"
        path.write_text(json.dumps({"key": key, "fields": fields}))
        self.tracker.import_file(path, "export.json")

    def poll(self, now: datetime) -> list[str]:
        """Return the tickets that one poll told."""
        return [line.rpartition(" ")[2] for line in self.told.poll(now)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_first_poll_tells_what_is_new_and_not_the_whole_history(world: World) -> None:
    world.change("OPS-1", NOON - MINUTE)

    assert world.poll(NOON) == ["OPS-1"]


def test_a_ticket_is_told_once_for_each_of_its_changes(world: World) -> None:
    world.change("OPS-1", NOON - MINUTE)

    assert world.poll(NOON) == ["OPS-1"]
    assert world.poll(NOON + 2 * MINUTE) == []
    world.change("OPS-1", NOON + 3 * MINUTE)
    assert world.poll(NOON + 4 * MINUTE) == ["OPS-1"]
    assert world.poll(NOON + 6 * MINUTE) == []


def test_tickets_of_the_very_same_time_are_all_told(world: World) -> None:
    world.change("OPS-1", NOON)
    assert world.poll(NOON) == ["OPS-1"]
    world.change("OPS-2", NOON)

    assert world.poll(NOON + MINUTE) == ["OPS-2"]


def test_a_ticket_that_the_index_shows_late_is_told(world: World) -> None:
    world.change("OPS-2", NOON + 3 * MINUTE)
    assert world.poll(NOON + 4 * MINUTE) == ["OPS-2"]
    world.change("OPS-1", NOON + MINUTE)

    assert world.poll(NOON + 6 * MINUTE) == ["OPS-1"]


@pytest.mark.bad_input("B053")
def test_two_hours_down_are_covered_by_one_poll(world: World) -> None:
    world.poll(NOON)
    for place in range(1, 13):
        world.change(f"OPS-{place}", NOON + place * 10 * MINUTE)

    assert sorted(world.poll(NOON + 121 * MINUTE)) == sorted(f"OPS-{n}" for n in range(1, 13))


def test_more_tickets_than_a_page_are_all_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket_poll, "PAGE", 3)
    for place in range(11):
        world.change(f"OPS-{place}", NOON)

    assert len(set(world.poll(NOON))) == 11


def test_each_ticket_is_accepted_by_itself(world: World) -> None:
    """What came in one poll is not one storm."""
    world.change("OPS-1", NOON)
    world.change("OPS-2", NOON)
    batches: list[int] = []

    TicketPoll(world.tracker, SETTINGS)(NOON, {}, lambda alerts: batches.append(len(alerts)))

    assert batches == [1, 1]


def test_filters_are_those_of_the_settings(tmp_path: Path) -> None:
    settings = TicketPoller(
        name="t", tracker="local", text="workflow stalled", status=("Open",), project="OPS"
    )
    world = World(tmp_path, settings)
    project: Json = {"key": "OPS"}
    is_open: Json = {"name": "Open"}
    whole: dict[str, Json] = {"project": project, "status": is_open}
    world.change("OPS-1", NOON, summary="the workflow has stalled OPS-1", **whole)
    world.change("OPS-2", NOON, summary="only a workflow", **whole)
    world.change(
        "OPS-3", NOON, summary="workflow stalled", project=project, status={"name": "Done"}
    )

    assert world.poll(NOON) == ["OPS-1"]


def test_no_ticket_with_only_some_of_the_words_stands_in(tmp_path: Path) -> None:
    settings = TicketPoller(name="t", tracker="local", text="workflow stalled")
    world = World(tmp_path, settings)
    world.change("OPS-2", NOON, summary="only a workflow")

    assert world.poll(NOON) == []


def test_a_ticket_with_a_resolution_is_a_resolved_alert(world: World) -> None:
    world.change("OPS-1", NOON, resolution={"name": "Fixed"})

    world.poll(NOON)

    [alert] = world.told.alerts
    assert (alert.status, alert.ends_at) == ("resolved", NOON)


def test_comments_come_with_the_alert(world: World) -> None:
    said: Json = {"id": "1", "author": {"displayName": "Ann"}, "body": "disk is full"}
    world.change("OPS-1", NOON, comment={"comments": [said]})

    world.poll(NOON)

    assert "disk is full" in world.told.alerts[0].text


def test_a_time_ahead_does_not_move_the_cursor_past_the_tickets_of_now(world: World) -> None:
    world.change("OPS-1", NOON + timedelta(days=900))
    assert world.poll(NOON) == ["OPS-1"]
    world.change("OPS-2", NOON + MINUTE)

    assert world.poll(NOON + 2 * MINUTE) == ["OPS-2"]


def test_our_clock_ahead_and_then_right_again_loses_no_ticket(world: World) -> None:
    world.poll(NOON + timedelta(days=900))
    world.change("OPS-1", NOON)

    assert world.poll(NOON + MINUTE) == ["OPS-1"]


def test_an_inbox_that_is_full_gets_the_ticket_again(world: World) -> None:
    world.change("OPS-1", NOON)

    def full(alerts: Sequence[Alert]) -> None:
        raise InboxError("full", retryable=True)

    with pytest.raises(InboxError):
        TicketPoll(world.tracker, SETTINGS)(NOON, {}, full)
    assert world.poll(NOON) == ["OPS-1"]


def test_nothing_imported_is_a_problem_and_not_no_tickets(tmp_path: Path) -> None:
    told = Told(TicketPoll(EmbeddedTracker(tmp_path / "t.sqlite"), SETTINGS))

    with pytest.raises(ConnectorError, match="nothing was imported"):
        told.poll(NOON)


@dataclass
class Partial:
    """A tracker that gives less than it has."""

    tracker: Tracker
    missing: int = 0
    why: str = ""
    name: str = "partial"

    def search(self, search: TicketSearch) -> TicketsFound:
        """Return the page without its last tickets."""
        found = self.tracker.search(search)
        tickets = found.tickets[: len(found.tickets) - self.missing]
        return replace(found, tickets=tickets, coverage=Coverage(self.why))

    def ticket(self, key: str, parts: frozenset[str]) -> Ticket | None:
        """Return nothing: it may not be read."""
        return None


def test_tickets_that_pages_missed_are_asked_for_again(world: World) -> None:
    world.change("OPS-1", NOON)
    world.change("OPS-2", NOON)
    told = Told(TicketPoll(Partial(world.tracker, missing=1), SETTINGS))

    with pytest.raises(ConnectorError, match="gave 1"):
        told.poll(NOON)

    assert len(told.alerts) == 1
    assert told.cursor == {}


def test_an_answer_in_part_keeps_the_cursor(world: World) -> None:
    world.change("OPS-1", NOON)
    told = Told(TicketPoll(Partial(world.tracker, why="rate limited"), SETTINGS))

    with pytest.raises(ConnectorError, match="rate limited"):
        told.poll(NOON)

    assert [alert.labels["ticket"] for alert in told.alerts] == ["OPS-1"]
    assert told.cursor == {}

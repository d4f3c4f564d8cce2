"""In whatever order and however often senders say it, the inbox ends with the same incidents."""

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Entry, Rules
from copilot.intake.door import Door
from copilot.redact import Redactor
from copilot.settings import SettingsFile
from copilot.values import JsonObject

from .box import NOW
from .test_alertmanager import alert, group
from .test_door import labels, stalled


class House:
    """An inbox on a disk and the door in front of it."""

    def __init__(self, folder: Path) -> None:
        self.inbox = Inbox(folder / "inbox.sqlite", Rules(), now=lambda: NOW)
        self._door = Door(
            SettingsFile(),
            self.inbox,
            Redactor(b"key"),
            now=lambda: NOW,
            count=lambda source, outcome: None,
        )

    def post(self, payload: JsonObject) -> set[str]:
        """Return the incidents of what Alertmanager posts."""
        taken = self._door.take(json.dumps(payload).encode(), "alertmanager")
        return {one.incident for one in taken}

    def incidents(self) -> list[Entry]:
        """Return the incidents that somebody will look at, or has."""
        return [one for one in self.inbox.list() if one.status != "dismissed"]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Return an empty inbox behind a door."""
    found = House(tmp_path)
    yield found
    found.inbox.shut()


def over(payload: JsonObject) -> JsonObject:
    """Return the same group, all resolved."""
    alerts = payload["alerts"]
    assert isinstance(alerts, list)
    ended: JsonObject = {"status": "resolved", "endsAt": "2026-11-30T09:00:00Z"}
    members = [{**one, **ended} for one in alerts if isinstance(one, dict)]
    return {**payload, "status": "resolved", "alerts": [*members]}


@pytest.mark.bad_input("B23")
def test_a_thousand_posts_at_once_are_one_incident(house: House) -> None:
    with ThreadPoolExecutor(16) as senders:
        found = set().union(*senders.map(house.post, [group(alert())] * 1000))

    assert len(found) == 1
    [stored] = house.inbox.alerts(found.pop())
    assert stored.count == 1000


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.bad_input("B24", "B25")
def test_two_peers_that_repeat_in_any_order_make_one_incident_a_workflow(
    house: House, seed: int
) -> None:
    """Firing, repeated and resolved, by two peers, shuffled."""
    firing = [
        group(alert(labels=labels(workflow=f"wf_{n}", replica=peer), fingerprint=f"{n}{peer}"))
        for n in range(3)
        for peer in "ab"
    ]
    posts = [*firing, *firing, *map(over, firing)]
    random.Random(seed).shuffle(posts)
    for payload in posts:
        house.post(payload)

    everything = house.inbox.list()
    assert len(everything) == 3
    assert [(one.alerts, one.resolved) for one in everything] == [(1, True)] * 3


def test_what_is_left_of_a_storm_opens_nothing_new(house: House) -> None:
    payload = stalled(12)
    members = payload["alerts"]
    assert isinstance(members, list)

    [storm] = house.post(payload)
    left = house.post({**payload, "alerts": members[8:]})

    assert left == {storm}
    assert [one.alerts for one in house.incidents()] == [12]


def test_a_storm_is_over_when_each_of_its_members_is(house: House) -> None:
    payload = stalled(12)
    members = payload["alerts"]
    assert isinstance(members, list)
    [storm] = house.post(payload)
    for start in range(0, 12, 4):
        house.post(over({**payload, "alerts": members[start : start + 4]}))

    entry = house.inbox.incident(storm)
    assert entry
    assert entry.resolved


def test_the_first_alert_of_a_storm_is_its_list(house: House) -> None:
    [storm] = house.post(stalled(12))

    first = house.inbox.alerts(storm)[0].alert
    assert first["title"] == "Many alerts at once: alertname=WorkflowStalled"


@pytest.mark.bad_input("B049")
def test_a_watchdog_is_dismissed_with_its_reason(house: House) -> None:
    [incident] = house.post(group(alert(labels={"alertname": "Watchdog"})))

    entry = house.inbox.incident(incident)
    assert entry
    assert (entry.status, entry.reason) == ("dismissed", "fires always, to show that alerts work")

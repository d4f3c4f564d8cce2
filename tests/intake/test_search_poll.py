"""The search poller: a saved search that finds something fires once and is resolved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.logbook import Count, Coverage, Found, Search
from copilot.errors import ConfigError, ConnectorError
from copilot.intake import search_poll
from copilot.intake.configured_polls import configured_polls
from copilot.intake.search_poll import SearchPoll
from copilot.settings.daemon import PollerSettings, SearchPoller, StallDetector, TicketPoller
from tests.connectors.logbooks import Event, Growing, after_noon, embedded, of
from tests.intake.told import Told

MINUTE = 60
SAVED = SearchPoller(
    name="refusals",
    logbook="local",
    text="refused",
    levels=("ERROR",),
    window=timedelta(minutes=10),
    labels={"service": "store", "severity": "high"},
)
Saved = Callable[..., Told]


def refused(*minutes: float) -> list[Event]:
    """Return entries that the search finds."""
    return [Event(minute * MINUTE, f"refused {minute}", "ERROR") for minute in minutes]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """Return a function that makes the poller over events."""

    def make(*events: Event, **changed: object) -> Told:
        settings = SAVED.model_copy(update=changed)
        return Told(SearchPoll(embedded(tmp_path, [of("w", 0), *events]), settings))

    return make


def test_what_is_found_fires_once_and_nothing_found_resolves_it(saved: Saved) -> None:
    told = saved(*refused(3, 12))

    assert told.poll(after_noon(2 * MINUTE)) == []
    assert told.poll(after_noon(5 * MINUTE)) == ["firing refusals: 1 found"]
    assert told.poll(after_noon(10 * MINUTE)) == []
    assert told.poll(after_noon(15 * MINUTE)) == []
    assert told.poll(after_noon(25 * MINUTE)) == ["resolved refusals: nothing found any more"]
    assert told.poll(after_noon(30 * MINUTE)) == []
    fired, over = told.alerts
    assert (fired.starts_at, fired.labels) == (over.starts_at, over.labels)


def test_the_alert_carries_its_labels_and_what_was_found(saved: Saved) -> None:
    told = saved(*refused(3))
    told.poll(after_noon(5 * MINUTE))

    [alert] = told.alerts

    assert alert.labels == {
        "alertname": "refusals", "logbook": "local", "service": "store", "severity": "high",
    }  # fmt: skip
    assert "refused 3" in alert.text
    assert "events.jsonl:2" in alert.text


def test_fewer_than_asked_for_do_not_fire(saved: Saved) -> None:
    told = saved(*refused(1, 2, 3, 14, 15), at_least=3)

    assert told.poll(after_noon(2.5 * MINUTE)) == []
    assert told.poll(after_noon(5 * MINUTE)) == ["firing refusals: 3 found"]


def test_fewer_than_asked_for_do_not_resolve_either(saved: Saved) -> None:
    told = saved(*refused(1, 2, 3, 14), at_least=3)
    told.poll(after_noon(5 * MINUTE))

    assert told.poll(after_noon(15 * MINUTE)) == []


def test_two_hosts_whose_polls_differ_by_seconds_give_the_same_start(
    saved: Saved, tmp_path: Path
) -> None:
    told = saved(*refused(3, 4, 5))
    told.poll(after_noon(5 * MINUTE))
    told.cursor = {}
    told.poll(after_noon(13.5 * MINUTE))

    first, second = told.alerts
    assert first.starts_at == second.starts_at == after_noon(0)


def test_a_second_firing_has_a_start_of_its_own(saved: Saved) -> None:
    told = saved(*refused(3, 24))
    for minute in range(5, 40, 5):
        told.poll(after_noon(minute * MINUTE))

    assert [alert.status for alert in told.alerts] == ["firing", "resolved", "firing", "resolved"]
    assert told.alerts[0].starts_at != told.alerts[2].starts_at


def test_a_gap_is_looked_at_in_stretches_of_the_window(saved: Saved) -> None:
    """Five hits in two hours are no five hits in ten minutes."""
    scattered, dense = refused(20, 40, 60, 80, 100), refused(91, 92, 93, 94, 95)
    told = saved(*scattered, *dense, at_least=5)
    told.poll(after_noon(0))

    assert told.poll(after_noon(120 * MINUTE)) == [
        "firing refusals: 5 found", "resolved refusals: nothing found any more",
    ]  # fmt: skip


def test_scattered_hits_of_a_gap_do_not_add_up(saved: Saved) -> None:
    told = saved(*refused(20, 40, 60, 80, 100), at_least=5)
    told.poll(after_noon(0))

    assert told.poll(after_noon(120 * MINUTE)) == []


def test_a_gap_too_long_to_catch_up_with_says_what_was_left_out(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_poll, "STRETCHES", 3)
    told = saved(*refused(20))
    told.poll(after_noon(0))

    assert told.poll(after_noon(120 * MINUTE)) == []
    assert told.last
    assert "nobody looked at [2026-03-01T12:00:00Z, 2026-03-01T13:30:00Z)" in told.last.note


def test_our_clock_set_back_is_no_gap(saved: Saved) -> None:
    told = saved(*refused(3))
    told.poll(after_noon(500 * MINUTE))

    assert told.poll(after_noon(5 * MINUTE)) == ["firing refusals: 1 found"]


@dataclass
class Torn:
    """A logbook that finds nothing, and says that it did not look everywhere."""

    name: str = "local"

    def search(self, search: Search) -> Found:
        """Return nothing."""
        return Found((), Count(0, "at_least"), Coverage("a shard failed"), None, None, "")


def test_nothing_found_in_an_answer_in_part_resolves_nothing(saved: Saved) -> None:
    told = saved(*refused(3))
    told.poll(after_noon(5 * MINUTE))
    assert isinstance(told.ask, SearchPoll)
    torn: Any = Torn()
    told.ask = replace(told.ask, logbook=torn)

    with pytest.raises(ConnectorError, match="a shard failed"):
        told.poll(after_noon(25 * MINUTE))
    assert len(told.alerts) == 1


def test_the_settings_make_a_poll_each(tmp_path: Path) -> None:
    book: Any = embedded(tmp_path, [of("w", 0)])
    settings = PollerSettings(
        tickets=(TicketPoller(name="new", tracker="jira"),),
        searches=(SAVED,),
        stalls=(
            StallDetector(
                name="flows", logbook="local", field="workflow", threshold=timedelta(hours=1)
            ),
        ),
    )

    polls = configured_polls(settings, {"local": book}, {"jira": book})

    assert [poll.name for poll in polls] == ["new", "refusals", "flows"]
    with pytest.raises(ConfigError, match="refusals: no source is called local; there are: other"):
        configured_polls(settings, {"other": book}, {"jira": book})


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    """Return a logbook into which entries come at any time."""
    return Growing(EmbeddedLogbook(tmp_path / "logbook.db"), tmp_path)


def test_an_entry_that_comes_late_is_told_once(growing: Growing) -> None:
    growing.take(of("w", 0))
    told = Told(SearchPoll(growing.book, SAVED))
    for minute in (5, 10, 15):
        assert told.poll(after_noon(minute * MINUTE)) == []
    growing.take(*refused(6))  # in the window of no later poll

    assert told.poll(after_noon(20 * MINUTE)) == [
        "firing refusals: 1 found", "resolved refusals: nothing found any more",
    ]  # fmt: skip
    assert told.poll(after_noon(25 * MINUTE)) == []


def test_an_entry_that_comes_later_than_the_lag_is_not_looked_for(growing: Growing) -> None:
    growing.take(of("w", 0))
    told = Told(SearchPoll(growing.book, SAVED))
    for minute in range(5, 31, 5):
        told.poll(after_noon(minute * MINUTE))
    growing.take(*refused(6))

    assert told.poll(after_noon(35 * MINUTE)) == []


def test_what_was_told_and_resolved_is_not_told_again_by_the_look_back(growing: Growing) -> None:
    growing.take(of("w", 0), *refused(3))
    told = Told(SearchPoll(growing.book, SAVED.model_copy(update={"lag": timedelta(hours=1)})))
    told.poll(after_noon(5 * MINUTE))
    told.poll(after_noon(15 * MINUTE))
    assert [alert.status for alert in told.alerts] == ["firing", "resolved"]

    for minute in range(20, 60, 5):
        assert told.poll(after_noon(minute * MINUTE)) == []
    growing.take(*refused(8))
    assert told.poll(after_noon(60 * MINUTE)) == [
        "firing refusals: 1 found", "resolved refusals: nothing found any more",
    ]  # fmt: skip


def test_ties_and_more_than_a_page_are_all_counted(growing: Growing) -> None:
    growing.take(of("w", 0), *refused(*[3] * 40, *[4] * 40))
    told = Told(SearchPoll(growing.book, SAVED.model_copy(update={"at_least": 80})))

    assert told.poll(after_noon(5 * MINUTE)) == ["firing refusals: 80 found"]


def test_no_entry_of_a_long_run_is_missed_or_told_twice(growing: Growing) -> None:
    assert_all_bursts_are_told(growing, range(7, 400, 40), late=(0, 9, 4))


def assert_all_bursts_are_told(
    growing: Growing, bursts: Sequence[int], late: Sequence[int]
) -> None:
    """Poll until after the last burst; each comes so many minutes late, and becomes one alert."""
    told = Told(SearchPoll(growing.book, SAVED.model_copy(update={"window": timedelta(minutes=5)})))
    growing.take(of("w", 0))
    for minute in range(5, bursts[-1] + 30, 5):
        for place, burst in enumerate(bursts):
            if minute - 5 < burst + late[place % len(late)] <= minute:
                growing.take(*refused(burst, burst, burst + 0.5))
        told.poll(after_noon(minute * MINUTE))

    fired = [alert for alert in told.alerts if alert.status == "firing"]
    assert len({alert.starts_at for alert in fired}) == len(fired) == len(bursts)
    assert len(told.alerts) == 2 * len(bursts)

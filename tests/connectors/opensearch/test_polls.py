"""The polls of the daemon over a real node: what an index shows late, all at once, or not at all."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from connectors.opensearch import OpenSearchLogbook, Site
from copilot.intake.search_poll import SearchPoll
from copilot.intake.stall import StallPoll
from copilot.settings.daemon import StallDetector
from tests.connectors.logbooks import Event, Growing, after_noon, of
from tests.intake.test_search_poll import SAVED, assert_all_bursts_are_told, refused
from tests.intake.test_stall import DETECTOR, HOUR, MINUTE, chatter, steps
from tests.intake.told import Told

INDICES = count(1)


@pytest.fixture
def growing(opensearch: str, tmp_path: Path) -> Growing:
    """Return a logbook in an index of its own, into which entries come at any time."""
    site = Site(opensearch, (f"polled-{next(INDICES)}",))
    return Growing(OpenSearchLogbook(site, name="local"), tmp_path)


def test_no_entry_of_a_saved_search_is_missed_or_told_twice(growing: Growing) -> None:
    assert_all_bursts_are_told(growing, range(7, 140, 40), late=(0, 9, 4))


def test_ties_and_more_than_a_page_are_all_counted(growing: Growing) -> None:
    growing.take(of("w", 0), *refused(*[3] * 40, *[4] * 40))
    told = Told(SearchPoll(growing.book, SAVED.model_copy(update={"at_least": 80})))

    assert told.poll(after_noon(5 * MINUTE)) == ["firing refusals: 80 found"]


@pytest.fixture
def stalls(growing: Growing) -> Callable[..., Told]:
    """Return a function that makes a detector over the events."""

    def make(*events: Event, settings: StallDetector = DETECTOR) -> Told:
        growing.take(*events)
        return Told(StallPoll(growing.book, settings))

    return make


Stalls = Callable[..., Told]


def test_a_stall_is_told_once_and_cleared_when_progress_returns(
    stalls: Stalls, growing: Growing
) -> None:
    told = stalls(*chatter(4 * HOUR), of("slow", 0), *steps("fine", 0, 4 * HOUR))

    assert told.poll(after_noon(HOUR - 1)) == []
    assert told.poll(after_noon(HOUR)) == [
        "firing slow made no progress since 2026-03-01T12:00:00Z"
    ]
    assert told.poll(after_noon(2 * HOUR)) == []
    growing.take(of("slow", 2.2 * HOUR))
    assert told.poll(after_noon(2.5 * HOUR)) == ["resolved slow makes progress again"]
    growing.take(of("slow", 2.6 * HOUR, "workflow completed"))
    assert told.poll(after_noon(4 * HOUR)) == []


def test_a_hole_in_the_logbook_is_told_as_one_and_as_no_stall(
    stalls: Stalls, growing: Growing
) -> None:
    told = stalls(*chatter(HOUR), *steps("one", 0, HOUR), *steps("two", 0, HOUR))

    assert told.poll(after_noon(3 * HOUR)) == [
        "firing logbook local is silent since 2026-03-01T13:00:00Z"
    ]
    assert told.poll(after_noon(3.1 * HOUR)) == []
    growing.take(
        *chatter(3.2 * HOUR), *steps("one", HOUR, 3.2 * HOUR), *steps("two", 0, 3.2 * HOUR)
    )
    assert told.poll(after_noon(3.2 * HOUR)) == ["resolved the logbook local has news again"]


def test_workflows_beyond_a_page_of_the_aggregation_are_seen(
    stalls: Stalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.opensearch.latest.MAX_LIMIT", 10)
    flows = [event for n in range(35) for event in steps(f"wf-{n:02}", n * 10, 3 * HOUR)]
    told = stalls(*chatter(3 * HOUR), of("wf-a-slow", 0), of("wf-z-slow", 0), *flows)

    assert told.poll(after_noon(2 * HOUR)) == [
        "firing wf-a-slow made no progress since 2026-03-01T12:00:00Z",
        "firing wf-z-slow made no progress since 2026-03-01T12:00:00Z",
    ]

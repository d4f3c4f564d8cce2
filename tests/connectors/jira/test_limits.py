"""A stated wait is never cut short, only its endpoint waits, and what takes too long is told."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from connectors.jira_tracker.calls import Calls, Clock, Patience
from connectors.jira_tracker.replies import Ask, NoReply, Reply
from connectors.jira_tracker.waits import stated_wait
from connectors.tracker import TicketSearch
from copilot.errors import ConnectorError
from tests.connectors.jira.conftest import TurnedClock, tracker_on
from tests.doubles.jira import Fault, Issue, Jira
from tests.doubles.jira.site import NOON

Served = Callable[..., Jira]
SEARCH = TicketSearch(text="disk")
LATER = format_datetime(NOON + timedelta(seconds=7), usegmt=True)
FOUND = Reply(200, {}, b"{}")


def limited(**headers: str) -> Fault:
    return Fault(429, {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": LATER, "Date": format_datetime(NOON, usegmt=True)}, 7),
        ({"X-RateLimit-Reset": "2026-03-02T12:01Z"}, 60),
        ({"Retry-After": "0", "X-RateLimit-Interval-Seconds": "3"}, 3),
        ({"Retry-After": "9" * 40}, 30 * 24 * 3600),
    ],
)
def test_the_wait_is_read_in_every_form(headers: dict[str, str], least: float) -> None:
    assert stated_wait(Reply(429, headers, b""), NOON) == least


@pytest.mark.parametrize("value", ["", "soon", "-3", "1e3", "٣", "Mon, 99 Foo 2026", "\x00"])
def test_a_wait_that_cannot_be_read_is_none(value: str) -> None:
    assert stated_wait(Reply(429, {"Retry-After": value}, b""), NOON) is None


def test_a_date_is_measured_against_the_servers_clock_when_ours_is_wrong() -> None:
    date = format_datetime(NOON, usegmt=True)
    reply = Reply(429, {"Retry-After": LATER, "Date": date}, b"")

    assert stated_wait(reply, datetime(2001, 1, 1, tzinfo=UTC)) == 7


@pytest.mark.bad_input("B015")
def test_a_rate_limit_is_waited_out_and_the_search_goes_on(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", limited(Retry_After="7"))

    found = tracker_on(jira, turned).search(SEARCH)

    assert [ticket.key for ticket in found.tickets] == ["OPS-1"]
    assert turned.sleeps == [7.0]


@pytest.mark.bad_input("B013")
def test_without_any_header_the_wait_is_our_own(served: Served, turned: TurnedClock) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", limited(), limited())

    tracker_on(jira, turned).search(SEARCH)

    assert turned.sleeps == [5.0, 10.0]


@pytest.mark.bad_input("B015")
def test_a_wait_beyond_the_cap_is_an_error_that_says_why_and_when(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", limited(Retry_After="3600", RateLimit_Reason="jira-burst-based"))
    tracker = tracker_on(jira, turned)

    with pytest.raises(ConnectorError, match="too many requests to this endpoint") as caught:
        tracker.search(SEARCH)

    assert "again at 2026-03-02T13:00:0" in str(caught.value)
    assert caught.value.retryable
    assert turned.sleeps == []


@pytest.mark.bad_input("B015")
def test_nothing_is_asked_of_an_endpoint_before_its_time_and_others_go_on(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", limited(Retry_After="3600", RateLimit_Reason="jira-burst-based"))
    tracker = tracker_on(jira, turned)
    for _ in range(3):
        with pytest.raises(ConnectorError, match=r"was not asked|rate limited"):
            tracker.search(SEARCH)

    assert jira.count("/search/jql") == 1
    assert tracker.ticket("OPS-1", frozenset()) is not None
    turned.seconds += 3600 * 1.3
    assert tracker.search(SEARCH).tickets


def test_a_reason_that_nobody_knows_yet_is_told_as_it_came_and_on_one_line(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", limited(Retry_After="900", RateLimit_Reason="jira-\x9bnew-" * 20))

    with pytest.raises(ConnectorError, match=r"rate limited \(429\): jira-\\x9bnew-") as caught:
        tracker_on(jira, turned).search(SEARCH)

    assert len(str(caught.value)) < 300


def test_a_quota_that_is_used_up_pauses_the_whole_site(served: Served, turned: TurnedClock) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault(
        "/search/jql", limited(Retry_After="900", RateLimit_Reason="jira-quota-tenant-based")
    )
    tracker = tracker_on(jira, turned)
    with pytest.raises(ConnectorError, match="hourly quota of this site"):
        tracker.search(SEARCH)
    before = jira.count()

    with pytest.raises(ConnectorError, match="hourly quota of this site"):
        tracker.ticket("OPS-1", frozenset())

    assert jira.count() == before


def test_a_third_limit_in_a_row_ends_the_call(served: Served, turned: TurnedClock) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", *[limited(Retry_After="2")] * 3)

    with pytest.raises(ConnectorError, match="rate limited"):
        tracker_on(jira, turned).search(SEARCH)

    assert jira.count("/search/jql") == 3


def test_no_call_falls_inside_a_wait_in_a_thousand_runs() -> None:
    """Random limits, random chance, calls at random times: the times of all requests are kept."""
    for seed in range(1000):
        dice = random.Random(seed)
        turned = TurnedClock()
        closed_until = {"a": 0.0, "b": 0.0}
        early = []

        class Door:
            def send(self, ask: Ask) -> Reply:
                now = turned.seconds  # noqa: B023 - it lives within its run
                early.append(now < closed_until[ask.endpoint])  # noqa: B023
                if dice.random() < 0.5:  # noqa: B023
                    return FOUND
                if dice.random() < 0.2:  # noqa: B023
                    raise NoReply("reset")
                wait = dice.choice([1, 7, 45, 3600])  # noqa: B023
                closed_until[ask.endpoint] = now + wait  # noqa: B023
                headers = {"Retry-After": str(wait), "RateLimit-Reason": "jira-burst-based"}
                return Reply(dice.choice([429, 503]), headers, b"")  # noqa: B023

        clock = Clock(lambda: turned.seconds, turned.now, turned.sleep, dice.random)  # noqa: B023
        calls = Calls("jira", Door, clock, Patience())
        for _ in range(10):
            try:
                calls.json(Ask(dice.choice("ab"), "x"))
            except ConnectorError:
                turned.seconds += dice.choice([0, 1, 30])
        assert not any(early), seed
        assert sum(turned.sleeps) <= 10 * 30

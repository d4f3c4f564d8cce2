"""What is tried again, when, and when a server is left alone."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from connectors.logbook import Filters, Search
from connectors.opensearch import Patience
from connectors.opensearch.caller import CLOSED_FOR_S, OPENS_AFTER
from connectors.opensearch.replies import Ask, NoReply, Reply
from copilot.errors import ConnectorError, CredentialsError
from copilot.window import Window
from tests.connectors.opensearch.conftest import (
    Script,
    Scripted,
    Time,
    always,
    answered,
    reply,
)

GONE = NoReply("the connection failed (Connection refused)")
LATE = NoReply("no whole answer within 30 s", timed_out=True)
FULL = {"error": {"type": "rejected_execution_exception", "reason": "queue full"}}
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = Window(START, START + timedelta(days=1))


def test_a_lost_connection_is_tried_again_with_growing_pauses(
    scripted: Scripted, script: Script, passing: Time
) -> None:
    found = scripted(GONE, GONE, always(answered())).search(Search())

    assert found.coverage.complete
    assert passing.slept == [1.0, 2.0]
    assert len(script.asked) == 3


def test_a_full_queue_is_waited_for_at_least_as_long_as_it_asks(
    scripted: Scripted, passing: Time
) -> None:
    scripted(reply(FULL, 429, retry_after="7"), always(answered())).search(Search())

    assert passing.slept == [7.0]


def test_a_wait_of_minutes_is_not_slept_through(scripted: Scripted, passing: Time) -> None:
    book = scripted(reply(FULL, 429, retry_after="86400"))

    with pytest.raises(ConnectorError, match="its queue is full") as caught:
        book.search(Search())

    assert caught.value.retryable
    assert passing.slept == []


def test_a_login_that_is_refused_is_not_tried_again(scripted: Scripted, script: Script) -> None:
    with pytest.raises(CredentialsError, match="does not accept the login"):
        scripted(reply({"message": "Unauthorized"}, 401)).search(Search())

    assert len(script.asked) == 1


def test_a_server_that_fails_again_and_again_is_left_alone_then_probed_once(
    scripted: Scripted, script: Script, passing: Time
) -> None:
    book = scripted(GONE)
    for _ in range(2):
        with pytest.raises(ConnectorError, match=r"Connection refused|left alone"):
            book.search(Search())
    tried = len(script.asked)

    with pytest.raises(ConnectorError, match="left alone for another") as caught:
        book.search(Search())
    assert caught.value.retryable
    assert len(script.asked) == tried >= OPENS_AFTER

    passing.now += CLOSED_FOR_S
    script.outcomes = [always(answered())]
    assert book.search(Search()).coverage.complete
    assert len(script.asked) == tried + 1


@pytest.mark.bad_input("B029")
def test_times_travel_with_their_units_and_the_server_stops_before_we_do(
    scripted: Scripted, script: Script
) -> None:
    scripted(always(answered()), patience=Patience(answer_s=60)).search(Search())

    [ask] = script.asked
    assert isinstance(ask.body, list)
    assert ask.body[0]["cancel_after_time_interval"] == "50s"
    assert {search["timeout"] for search in script.searches} == {"40s"}


@pytest.mark.bad_input("B028")
def test_what_takes_too_long_is_asked_once_more_for_the_later_half_and_said_so(
    scripted: Scripted, script: Script
) -> None:
    found = scripted(LATE, always(answered())).search(Search(window=DAY))

    assert "all of [2026-03-01T12:00:00Z, 2026-03-02T12:00:00Z) was too much" in (
        found.coverage.why_incomplete
    )
    assert "only [2026-03-02T00:00:00Z, 2026-03-02T12:00:00Z) was searched" in (
        found.coverage.why_incomplete
    )
    assert found.total.relation == "at_least"
    assert len(script.asked) == 2


@pytest.mark.bad_input("B028")
def test_without_a_window_to_halve_it_is_said_that_it_took_too_long(scripted: Scripted) -> None:
    with pytest.raises(ConnectorError, match="no whole answer within 30 s; narrow the window"):
        scripted(LATE).search(Search(Filters(text="x")))


def test_an_answer_that_is_too_large_is_asked_for_in_smaller_pages(
    scripted: Scripted, script: Script
) -> None:
    large = NoReply("the answer has over 8 MiB", again=False, too_large=True)

    def outcome(ask: Ask) -> Reply:
        assert isinstance(ask.body, list)
        size = ask.body[1]["size"]
        if isinstance(size, int) and size > 200:
            raise large
        return always(answered({"_source": {"message": "x"}}, total=1))(ask)

    found = scripted(outcome).search(Search(window=DAY, limit=1_000))

    assert len(found.entries) == 1
    assert [search["size"] for search in script.searches[::4]] == [1_001, 126]


def test_an_entry_that_is_too_large_by_itself_is_shown_without_its_text(
    scripted: Scripted,
) -> None:
    large = NoReply("the answer has over 8 MiB", again=False, too_large=True)

    def outcome(ask: Ask) -> Reply:
        if not isinstance(ask.body, list):
            return always(answered())(ask)
        if bared:  # there is no other entry
            return always(answered())(ask)
        if ask.body[1].get("_source") != ["level"]:
            raise large
        bared.append(ask)
        return always(answered({}, total=1))(ask)

    bared: list[Ask] = []
    found = scripted(outcome).search(Search(window=DAY, limit=10))

    [entry] = found.entries
    assert "more than 8 MiB" in entry.message
    assert "more than 8 MiB" in found.coverage.why_incomplete


@pytest.mark.bad_input("B036")
def test_times_of_any_zone_are_sent_in_utc(scripted: Scripted, script: Script) -> None:
    there = timezone(timedelta(hours=2))
    window = Window(
        datetime(2024, 6, 10, 23, 33, 6, tzinfo=there), datetime(2024, 6, 11, 1, tzinfo=there)
    )

    scripted(always(answered())).search(Search(window=window))

    sent = json.dumps(script.searches)
    assert "2024-06-10T21:33:06" in sent
    assert "+02" not in sent
    assert "23:33:06" not in sent

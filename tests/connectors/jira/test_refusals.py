"""Every way in which a Jira was seen to refuse or to break, each told in its own words."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.tracker import TicketSearch
from copilot.errors import ConnectorError, UsageError
from tests.connectors.jira.conftest import TurnedClock, tracker_on
from tests.doubles.jira import Fault, Issue, Jira, from_recording

Served = Callable[..., Jira]
SEARCH = TicketSearch(text="disk")
LOCKED = {"X-Authentication-Denied-Reason": "CAPTCHA_CHALLENGE; login-url=https://x.example/login"}


def recorded(folder: Path, name: str, **more: str) -> Fault:
    return from_recording(
        json.loads((folder / "jira" / "errors" / f"{name}.json").read_text()), **more
    )


def failure_of(jira: Jira, turned: TurnedClock, search: TicketSearch = SEARCH) -> ConnectorError:
    with pytest.raises(ConnectorError) as caught:
        tracker_on(jira, turned).search(search)
    return caught.value


@pytest.mark.bad_input("B011")
def test_a_captcha_stops_the_account_at_once_and_for_good(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", Fault(403, LOCKED, b"<html><title>Forbidden (403)</title></html>"))
    tracker = tracker_on(jira, turned)
    with pytest.raises(ConnectorError, match=r"CAPTCHA.*sign in to Jira with it in a browser"):
        tracker.search(SEARCH)
    before = jira.count()
    turned.seconds += 1e6

    with pytest.raises(ConnectorError, match="CAPTCHA") as caught:
        tracker.ticket("OPS-1", frozenset())

    assert jira.count() == before
    assert not caught.value.retryable
    assert turned.sleeps == []


@pytest.mark.bad_input("B016")
def test_a_401_is_tried_twice_more(served: Served, turned: TurnedClock) -> None:
    jira = served(Issue("OPS-1", "disk"), deployment="server")
    jira.fault("/search", Fault(401), Fault(401))

    assert tracker_on(jira, turned).search(SEARCH).tickets
    assert sum(turned.sleeps) <= 2


@pytest.mark.bad_input("B016")
def test_an_account_that_stays_refused_is_left_alone_for_a_while(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    tracker = tracker_on(jira, turned, token="wrong")
    for _ in range(3):
        with pytest.raises(ConnectorError, match=r"account was refused.*secret"):
            tracker.search(SEARCH)

    assert jira.count("/search/jql") == 3
    turned.seconds += 601
    with pytest.raises(ConnectorError, match="account was refused"):
        tracker.search(SEARCH)
    assert jira.count("/search/jql") > 3


def test_an_answer_to_nobody_is_no_answer(served: Served, turned: TurnedClock) -> None:
    jira = served(Issue("OPS-1", "disk"), deployment="server")
    anonymous = Fault(200, {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED"}, b'{"issues": []}')
    jira.fault("/search", *[anonymous] * 3)

    assert "nobody had signed in" in str(failure_of(jira, turned))


def test_a_403_page_is_told_by_its_title_and_not_tried_again(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1"))
    jira.fault(
        "/search/jql", Fault(403, {}, b"<html><title>IP not\n allowed</title>" + b"x" * 9999)
    )

    failure = failure_of(jira, turned)

    assert str(failure).endswith("the account may not do this (403); it said: IP not allowed")
    assert jira.count("/search/jql") == 1


@pytest.mark.bad_input("B001")
def test_a_removed_search_is_no_empty_search(served: Served, turned: TurnedClock) -> None:
    """A Cloud site configured as Data Center asks the API that was removed."""
    jira = served(Issue("OPS-1"))

    with pytest.raises(ConnectorError, match=r"removed \(410\).*deployment") as caught:
        tracker_on(jira, turned, deployment="server").search(SEARCH)

    assert not caught.value.retryable


def test_the_site_itself_says_which_api_it_has(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1", "disk"), deployment=deployment)

    tracker = tracker_on(jira, turned)
    tracker.search(SEARCH)
    tracker.search(SEARCH)

    assert jira.count("/serverInfo") == 1
    assert jira.count("/search/jql") == (2 if deployment == "cloud" else 0)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(200), Fault(200, {}, b"  "), Fault(200, {}, b"<html><title>Log in</title></html>"),
        Fault(200, {}, b"[" * 100_000), Fault(200, {}, b"5"), Fault(502), Fault(503), Fault(resets=True),
        Fault(200, {"Content-Encoding": "gzip"}, b"not gzip"), Fault(408),
    ],
)  # fmt: skip
@pytest.mark.bad_input("B017")
def test_what_is_no_answer_is_tried_again_and_never_means_none(
    served: Served, turned: TurnedClock, fault: Fault
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", fault, fault)

    assert len(tracker_on(jira, turned).search(SEARCH).tickets) == 1

    jira.fault("/search/jql", fault, fault, fault)
    assert failure_of(jira, turned).retryable


@pytest.mark.parametrize(
    "body", [b"null", b'"x"', b"7", b"[]", b'{"errorMessages": null}', b"\xff\xfe"]
)
@pytest.mark.bad_input("B020")
def test_an_error_of_any_shape_is_told(served: Served, turned: TurnedClock, body: bytes) -> None:
    """The package's own reader fails on some of these."""
    jira = served(Issue("OPS-1"))
    jira.fault("/search/jql", Fault(400, {"Content-Type": "application/json"}, body))

    assert "refused (400)" in str(failure_of(jira, turned))


@pytest.mark.parametrize("body", [b"{}", b'{"issues": 5}', b"[]"])
@pytest.mark.bad_input("B017")
def test_a_200_without_issues_is_no_empty_search(
    served: Served, turned: TurnedClock, body: bytes
) -> None:
    jira = served(Issue("OPS-1"))
    jira.fault("/search/jql", *[Fault(200, {}, body)] * 3)

    assert "it answered 200" in str(failure_of(jira, turned))


def test_a_redirect_is_not_followed_and_its_host_is_told(
    served: Served, turned: TurnedClock
) -> None:
    other = served(Issue("OPS-1"))
    jira = served(Issue("OPS-1"))
    jira.fault("/search/jql", Fault(302, {"Location": f"{other.url}/login?token=hush"}))

    message = str(failure_of(jira, turned))

    assert "127.0.0.1 (302)" in message
    assert "hush" not in message
    assert other.requests == []


def test_a_wrong_address_is_no_missing_ticket(served: Served, turned: TurnedClock) -> None:
    jira = served(Issue("OPS-1"))

    with pytest.raises(ConnectorError, match="no Jira answers at this address"):
        tracker_on(jira, turned, url=f"{jira.url}/wiki").ticket("OPS-1", frozenset())


@pytest.mark.bad_input("B019")
def test_a_status_that_does_not_exist_is_named_with_those_that_do(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1"))

    with pytest.raises(UsageError, match="no status 'Resolved'; there are Open, In Progress, Done"):
        tracker_on(jira, turned).search(TicketSearch(statuses=("Open", "Resolved")))

    assert jira.count("/search/jql") == 1


def test_a_project_that_cannot_be_read_is_a_fault_of_the_settings(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1"), projects=("OPS",))

    message = str(failure_of(jira, turned))

    assert "the project 'AS' does not exist or this account may not see it" in message


def test_allowed_jql_that_jira_refuses_is_told_in_its_words(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1"))

    with pytest.raises(UsageError, match="Jira refused this JQL: Field 'colour' does not exist"):
        tracker_on(jira, turned, allow_jql=True).search(TicketSearch(text="jql: colour = red"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("captcha_403", "CAPTCHA"),
        ("cloud_ratelimit_429", "rate limited"),
        ("cloud_search_removed_410", r"removed \(410\).*migrate to the /rest/api/3/search/jql"),
        ("dc_ratelimit_429_tomcat_html", "rate limited.*Too Many Requests"),
        ("dc_ratelimit_missing_headers_429", "rate limited.*an error has occurred"),
        ("jql_option_missing_400", "The option 'Berlin'"),
        ("jql_reserved_word_400", "'SET' is a reserved JQL word"),
        ("jql_value_missing_400", "no status 'Resolved'"),
        ("search_body_unknown_field_400", 'Unrecognized field "fieldsByKeys"'),
        ("silent_401_intermittent", "account was refused"),
    ],
)
@pytest.mark.bad_input("B011", "B013", "B014", "B018", "B019", "B020")
def test_every_recorded_error_is_told_in_its_own_words(
    served: Served, turned: TurnedClock, shared_data: Path, name: str, words: str
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", *[recorded(shared_data, name)] * 3)

    with pytest.raises((ConnectorError, UsageError), match=words):
        tracker_on(jira, turned).search(SEARCH)


@pytest.mark.bad_input("B015")
def test_a_recorded_limit_is_waited_out_when_it_says_how_long(
    served: Served, turned: TurnedClock, shared_data: Path
) -> None:
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", recorded(shared_data, "cloud_ratelimit_429", **{"Retry-After": "7"}))

    assert tracker_on(jira, turned).search(SEARCH).tickets
    assert turned.sleeps == [7.0]


@pytest.mark.bad_input("B005")
def test_a_recorded_page_of_bare_ids_is_no_ticket_and_its_end_is_told(
    served: Served, turned: TurnedClock, shared_data: Path
) -> None:
    """The double does not know its token: the second page is refused."""
    jira = served(Issue("OPS-1", "disk"))
    jira.fault("/search/jql", recorded(shared_data, "enhanced_search_page_200"))

    found = tracker_on(jira, turned).search(SEARCH)

    assert found.tickets == ()
    assert "page token is invalid" in found.coverage.why_incomplete
    assert any("without a key" in note for note in found.coverage.notes)

"""Pages are read to their end or to a limit that is told, and nothing foreign is passed on."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from connectors.jira_tracker import JiraTracker
from connectors.tracker import TicketSearch, TicketsFound
from copilot.errors import ConnectorError, UsageError
from copilot.window import Window
from tests.connectors.jira.conftest import TurnedClock, tracker_on
from tests.doubles.jira import Fault, Issue, Jira
from tests.doubles.jira.site import NOON

Served = Callable[..., Jira]


def disks(count: int) -> list[Issue]:
    return [Issue(f"OPS-{number}", f"disk {number}") for number in range(1, count + 1)]


def keys(found: TicketsFound) -> list[str]:
    return [ticket.key for ticket in found.tickets]


def walk(tracker: JiraTracker, limit: int) -> list[TicketsFound]:
    """Every page of a search for `disk`, by the pages that it gives."""
    pages = [tracker.search(TicketSearch(text="disk", limit=limit))]
    while pages[-1].page:
        pages.append(tracker.search(TicketSearch(text="disk", limit=limit, page=pages[-1].page)))
    return pages


def test_all_pages_give_every_ticket_once(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    tracker = tracker_on(served(*disks(120), deployment=deployment, page_cap=50), turned)

    pages = walk(tracker, 40)

    assert sorted(key for page in pages for key in keys(page)) == sorted(
        issue.key for issue in disks(120)
    )
    assert pages[-1].total.value == 120
    assert pages[-1].coverage.complete


@pytest.mark.bad_input("B004")
def test_a_cap_below_what_was_asked_for_is_stepped_over(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    """The next page begins after what was returned."""
    jira = served(*disks(120), deployment=deployment, page_cap=30)

    found = tracker_on(jira, turned).search(TicketSearch(text="disk", limit=500))

    assert len({*keys(found)}) == 120
    assert (found.total.value, found.total.relation, found.page) == (120, "exact", "")


def test_more_pages_are_told_where_jira_counts_and_where_it_does_not(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    found = tracker_on(served(*disks(120), deployment=deployment), turned).search(
        TicketSearch(text="disk", limit=20)
    )

    if deployment == "cloud":
        assert (found.total.value, found.total.relation) == (20, "at_least")
        assert found.coverage.why_incomplete == "limit: 20 returned, more follow"
    else:
        assert (found.total.value, found.total.relation) == (120, "exact")


@pytest.mark.parametrize("left_out", ["isLast", "total", "startAt", "maxResults"])
@pytest.mark.bad_input("B003")
def test_a_key_that_is_left_out_of_a_page_ends_nothing(
    served: Served, turned: TurnedClock, deployment: str, left_out: str
) -> None:
    jira = served(*disks(120), deployment=deployment, page_cap=50, leaves_out=(left_out,))

    found = tracker_on(jira, turned).search(TicketSearch(text="disk", limit=500))

    assert len(found.tickets) == 120


@pytest.mark.bad_input("B003")
def test_an_end_that_the_total_contradicts_is_told(served: Served, turned: TurnedClock) -> None:
    """B003 where nothing says how to go on."""
    jira = served(*disks(2))
    body = b'{"issues": [{"id": "1", "key": "OPS-1", "fields": {"summary": "disk"}}], "total": 120}'
    jira.fault("/search/jql", Fault(200, {}, body))

    found = tracker_on(jira, turned).search(TicketSearch(text="disk"))

    assert "only 1 of 120 came" in found.coverage.why_incomplete
    assert found.page == ""


def test_a_last_page_that_is_none_is_told(served: Served, turned: TurnedClock) -> None:
    jira = served(*disks(1))
    jira.fault("/search/jql", Fault(200, {}, b'{"issues": [], "isLast": false}'))

    found = tracker_on(jira, turned).search(TicketSearch(text="disk"))

    assert "more follow, and not how" in found.coverage.why_incomplete


@pytest.mark.bad_input("B005")
def test_a_page_token_that_comes_again_ends_the_search_with_a_warning(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(*disks(3), loops=True)

    found = tracker_on(jira, turned).search(TicketSearch(text="disk", limit=500))

    assert sorted(keys(found)) == ["OPS-1", "OPS-2", "OPS-3"]
    assert found.coverage.why_incomplete.startswith("the same page came again")
    assert jira.count("/search/jql") == 2


@pytest.mark.bad_input("B005")
def test_a_token_that_comes_again_with_other_tickets_ends_the_search_too(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(*disks(3))
    for number in (1, 2, 3):
        issue = {"id": str(number), "key": f"OPS-{number}", "fields": {"summary": "disk"}}
        page = {"issues": [issue], "nextPageToken": "same", "isLast": False}
        jira.fault("/search/jql", Fault(200, {}, json.dumps(page).encode()))

    found = tracker_on(jira, turned).search(TicketSearch(text="disk", limit=500))

    assert keys(found) == ["OPS-1", "OPS-2"]
    assert "the same page token again" in found.coverage.why_incomplete
    assert jira.count("/search/jql") == 2


@pytest.mark.bad_input("B003")
def test_an_empty_page_before_the_total_is_told(served: Served, turned: TurnedClock) -> None:
    jira = served(*disks(3), deployment="server")
    jira.fault("/search", Fault(200, {}, b'{"issues": [], "startAt": 0, "total": 3}'))

    found = tracker_on(jira, turned).search(TicketSearch(text="disk"))

    assert found.tickets == ()
    assert "only 0 of 3 came" in found.coverage.why_incomplete


def test_a_loop_is_seen_over_pages_that_are_asked_for_one_by_one(
    served: Served, turned: TurnedClock
) -> None:
    pages = walk(tracker_on(served(*disks(3), loops=True), turned), 3)

    assert len(pages) == 2
    assert "again" in pages[-1].coverage.why_incomplete


@pytest.mark.bad_input("B005")
def test_a_server_that_ignores_where_to_start_is_noticed(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(*disks(120), deployment="server", ignores_start=True)

    found = tracker_on(jira, turned).search(TicketSearch(text="disk", limit=500))

    assert len(found.tickets) == 100
    assert "the same page came again" in found.coverage.why_incomplete


@pytest.mark.parametrize(("cap", "read"), [(100, 500), (10, 200)])
def test_thousands_of_issues_end_at_five_hundred_or_twenty_pages(
    served: Served, turned: TurnedClock, deployment: str, cap: int, read: int
) -> None:
    jira = served(*disks(2_000), deployment=deployment, page_cap=cap)

    found = tracker_on(jira, turned).search(TicketSearch(text="disk", limit=10_000))

    assert len(found.tickets) == read
    assert found.coverage.why_incomplete.startswith("truncated")


def test_the_limit_holds_over_pages_that_are_asked_for_one_by_one(
    served: Served, turned: TurnedClock
) -> None:
    pages = walk(tracker_on(served(*disks(900)), turned), 50)

    assert sum(len(page.tickets) for page in pages) == 500
    assert pages[-1].coverage.why_incomplete.startswith("truncated")


def test_a_page_that_fails_keeps_what_came_before_and_can_be_gone_on_with(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(*disks(80), page_cap=50)
    jira.fault("/search/jql", Fault(), Fault(429, {"Retry-After": "900"}))
    tracker = tracker_on(jira, turned)

    found = tracker.search(TicketSearch(text="disk", limit=80))

    assert len(found.tickets) == 50
    assert "rate limited" in found.coverage.why_incomplete
    turned.seconds += 2000
    rest = tracker.search(TicketSearch(text="disk", limit=80, page=found.page))
    assert len(rest.tickets) == 30


@pytest.mark.parametrize(
    "page", ["x", "....", "00000000.1.1.1.token-1", "1.2.3", "٣.٣.٣.٣.٣", "a" * 4000]
)
def test_a_page_of_nothing_is_refused_without_a_request(
    served: Served, turned: TurnedClock, page: str
) -> None:
    jira = served(*disks(1))

    with pytest.raises(UsageError, match="no page of this search"):
        tracker_on(jira, turned).search(TicketSearch(text="disk", page=page))

    assert jira.queries == []


def test_a_page_of_another_search_is_refused(served: Served, turned: TurnedClock) -> None:
    tracker = tracker_on(served(*disks(9)), turned)
    page = tracker.search(TicketSearch(text="disk", limit=3)).page

    with pytest.raises(UsageError, match="no page of this search"):
        tracker.search(TicketSearch(text="other", limit=3, page=page))


def test_foreign_issues_are_dropped_and_counted_even_if_jira_ignores_the_query(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    foreign = [Issue(f"SECRET-{number}", "disk") for number in range(1, 8)]
    posing = Issue("OPS-9", "disk", more={"project": {"key": "SECRET"}})
    jira = served(*foreign, posing, *disks(2), deployment=deployment, ignores_jql=True)

    found = tracker_on(jira, turned).search(TicketSearch(text="disk"))

    assert sorted(keys(found)) == ["OPS-1", "OPS-2"]
    assert "8 of projects that are not open here" in found.coverage.notes[0]


def test_the_window_is_exact_though_jira_knows_minutes_of_a_zone_only(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    issues = [
        Issue(f"OPS-{seconds}", "disk", updated=NOON + timedelta(seconds=seconds))
        for seconds in (1, 30, 89, 90, 91)
    ]
    jira = served(*issues, deployment=deployment, time_zone="Asia/Tokyo")
    window = Window(NOON + timedelta(seconds=30), NOON + timedelta(seconds=90))

    found = tracker_on(jira, turned).search(TicketSearch(updated=window))

    assert keys(found) == ["OPS-89", "OPS-30"]
    assert found.total.value == 2
    assert "21:00" in jira.queries[0]


def test_an_account_without_a_zone_gets_a_wider_query_and_the_same_answer(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk"), time_zone="UTC")
    jira.fault("/myself", Fault(200, {}, b'{"timeZone": "Not/AZone"}'))
    window = Window(NOON, NOON + timedelta(seconds=1))

    found = tracker_on(jira, turned).search(TicketSearch(updated=window))

    assert keys(found) == ["OPS-1"]
    assert '"2026-03-02 00:00"' in jira.queries[0]


def test_an_issue_without_a_time_is_in_no_window_and_is_counted(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", "disk", more={"updated": None}))

    found = tracker_on(jira, turned).search(TicketSearch(updated=Window(NOON, None)))

    assert (found.tickets, found.coverage.untimed) == ((), 1)


def test_words_that_no_ticket_holds_together_are_looked_for_apart(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    issues = (Issue("OPS-1", "disk full"), Issue("OPS-2", "proxy expired"), Issue("OPS-3", "x"))
    tracker = tracker_on(served(*issues, deployment=deployment), turned)

    found = tracker.search(TicketSearch(text="disk proxy", limit=1))
    rest = tracker.search(TicketSearch(text="disk proxy", limit=1, page=found.page))

    assert sorted(keys(found) + keys(rest)) == ["OPS-1", "OPS-2"]
    assert "these hold some of them" in rest.coverage.notes[0]


def test_a_key_is_found_by_its_key_and_one_that_does_not_exist_does_no_harm(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1", "x"), Issue("OPS-2", "after OPS-77"), deployment=deployment)
    tracker = tracker_on(jira, turned)

    assert keys(tracker.search(TicketSearch(text="OPS-1"))) == ["OPS-1"]
    assert keys(tracker.search(TicketSearch(text="OPS-77"))) == ["OPS-2"]


@pytest.mark.bad_input("B50", "B018")
def test_a_project_called_like_a_reserved_word_can_be_searched(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("AS-1", "disk"), Issue("OPS-1", "disk"), deployment=deployment)

    found = tracker_on(jira, turned).search(TicketSearch(text="disk", projects=("AS",)))

    assert keys(found) == ["AS-1"]


@pytest.mark.parametrize("text", ['x" OR project = SECRET OR text ~ "', 'x\\" OR project = SECRET'])
@pytest.mark.bad_input("B48", "B49")
def test_an_injected_text_finds_nothing_of_another_project(
    served: Served, turned: TurnedClock, deployment: str, text: str
) -> None:
    jira = served(Issue("SECRET-1", "x SECRET project"), deployment=deployment)

    assert tracker_on(jira, turned).search(TicketSearch(text=text)).tickets == ()


def test_allowed_jql_narrows_the_scope_and_never_leaves_it(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    issues = (
        Issue("OPS-1", "disk", status="Done"),
        Issue("OPS-2", "disk"),
        Issue("SECRET-1", "disk"),
    )
    tracker = tracker_on(served(*issues, deployment=deployment), turned, allow_jql=True)

    found = tracker.search(TicketSearch(text="jql: status = Done or project = SECRET"))
    plain = tracker.search(TicketSearch(text="disk"))

    assert keys(found) == ["OPS-1"]
    assert "may also be JQL" in plain.coverage.notes[0]


@pytest.mark.bad_input("B007")
def test_what_a_search_does_not_fetch_is_said_to_be_missing(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1", "disk", description="long"), deployment=deployment)

    [ticket] = tracker_on(jira, turned).search(TicketSearch(text="disk")).tickets

    assert (ticket.comments, ticket.changes, ticket.links, ticket.attachments) == (None,) * 4
    assert ticket.missing == ("description: a search does not fetch it",)
    assert ticket.source == f"{jira.url}/browse/OPS-1"


@pytest.mark.bad_input("B001")
def test_a_failure_is_never_an_empty_search(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(deployment=deployment)
    jira.fault("/serverInfo", *[Fault(503)] * 3)

    with pytest.raises(ConnectorError):
        tracker_on(jira, turned).search(TicketSearch(text="disk"))


def test_a_key_that_does_not_exist_costs_one_query_more(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1", "disk"), deployment=deployment)

    found = tracker_on(jira, turned).search(TicketSearch(text="disk OPS-77"))

    assert keys(found) == ["OPS-1"]
    assert len(jira.queries) == 3


def test_threads_may_share_a_tracker(served: Served, turned: TurnedClock, deployment: str) -> None:
    jira = served(*disks(40), deployment=deployment, time_zone="Asia/Tokyo")
    tracker = tracker_on(jira, turned)
    search = TicketSearch(text="disk", updated=Window(NOON, None), limit=40)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(tracker.search, [search] * 24))

    assert {len(page.tickets) for page in found} == {40}
    assert jira.count("/serverInfo") == 1

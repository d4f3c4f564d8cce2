"""A ticket is read whole: every comment, its history, its links; what is missing is named."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.tracker import Ticket
from copilot.errors import ConnectorError, UsageError
from tests.connectors.jira.conftest import TurnedClock, tracker_on
from tests.doubles.jira import Fault, Issue, Jira, Remark
from tests.doubles.jira.site import NOON

Served = Callable[..., Jira]
ALL = frozenset({"comments", "changes", "links"})


def read(
    jira: Jira, turned: TurnedClock, key: str = "OPS-1", parts: frozenset[str] = ALL
) -> Ticket:
    ticket = tracker_on(jira, turned).ticket(key, parts)
    assert ticket is not None
    return ticket


def long_thread(count: int = 130) -> Issue:
    issue = Issue("OPS-1")
    issue.comments += [
        Remark(f"comment {number}", created=NOON + timedelta(minutes=number))
        for number in range(1, count + 1)
    ]
    return issue


@pytest.mark.bad_input("B008")
def test_the_cause_in_comment_118_of_130_is_read(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    issue = long_thread()
    issue.comments[117] = Remark("cause: the proxy expired", created=issue.comments[117].created)

    ticket = read(served(issue, deployment=deployment), turned)

    assert ticket.comments is not None
    assert len(ticket.comments) == 130
    assert ticket.comments[117].text == "cause: the proxy expired"
    assert ticket.missing == ()


def test_of_a_thread_without_end_the_newest_are_kept_in_order(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    ticket = read(served(long_thread(2100), deployment=deployment), turned)

    assert ticket.comments is not None
    assert [ticket.comments[0].text, ticket.comments[-1].text] == ["comment 101", "comment 2100"]
    assert ticket.missing[0].startswith("comments: 2000 of 2100; truncated")


def test_a_server_that_repeats_its_first_page_of_comments_is_noticed(
    served: Served, turned: TurnedClock
) -> None:
    ticket = read(served(long_thread(), deployment="server", ignores_start=True), turned)

    assert ticket.missing == ("comments: 100 of 130; the same page came again",)


@pytest.mark.bad_input("B007")
def test_comments_that_could_not_be_read_are_not_none_at_all(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(long_thread(), deployment=deployment)
    jira.fault("/comment", Fault(403))

    ticket = read(jira, turned)

    assert ticket.comments is None
    assert ticket.missing[0].startswith("comments: ")
    assert "may not do this" in ticket.missing[0]
    assert ticket.changes == ()


def test_a_second_page_that_fails_keeps_the_first(served: Served, turned: TurnedClock) -> None:
    jira = served(long_thread())
    jira.fault("/comment", Fault(), Fault(429, {"Retry-After": "900"}))

    ticket = read(jira, turned)

    assert ticket.comments is not None
    assert len(ticket.comments) == 100
    assert ticket.missing[0].startswith("comments: 100 of 130; ")


@pytest.mark.bad_input("B007")
def test_not_asked_for_is_none_and_asked_for_but_empty_is_empty(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1"), deployment=deployment)

    bare, whole = read(jira, turned, parts=frozenset()), read(jira, turned)

    assert (bare.comments, bare.changes, bare.links) == (None, None, None)
    assert (whole.comments, whole.changes, whole.links) == ((), (), ())
    assert (bare.attachments, bare.missing) == ((), ())


def test_history_links_and_attachments_are_told(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    issue = Issue(
        "OPS-1",
        changes=[("status", "Open", str(number)) for number in range(150)],
        links=[("blocks", "OPS-2", "the other"), ("blocks", "SECRET-1", "hush")],
        attachments=[("agent.log", 1234)],
    )

    ticket = read(served(issue, deployment=deployment), turned)

    assert ticket.changes is not None
    assert [change.after for change in ticket.changes] == [str(number) for number in range(150)]
    assert ticket.links is not None
    assert [(link.key, link.summary) for link in ticket.links] == [
        ("OPS-2", "the other"), ("SECRET-1", ""),
    ]  # fmt: skip
    assert ticket.attachments == ("agent.log (1234 bytes)",)
    assert ticket.source.endswith("/browse/OPS-1")


def test_a_ticket_that_is_not_there_is_none_and_no_key_is_no_request(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1"), deployment=deployment)
    tracker = tracker_on(jira, turned)

    assert tracker.ticket("OPS-2", ALL) is None
    before = jira.count()
    for nonsense in ("", "OPS", "OPS-", "../../myself", "OPS-1/comment", "OPS-1?x=1", "OPS-1\n2"):
        assert tracker.ticket(nonsense, ALL) is None
    assert jira.count() == before


def test_the_case_of_a_key_does_not_matter(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    assert read(served(Issue("OPS-1"), deployment=deployment), turned, " ops-1 ").key == "OPS-1"


def test_a_key_out_of_scope_is_refused_without_a_request(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("SECRET-1"))

    with pytest.raises(UsageError, match=r"SECRET-1 is not open here; the projects .* OPS, AS"):
        tracker_on(jira, turned).ticket("SECRET-1", ALL)

    assert jira.requests == []


@pytest.mark.parametrize(
    "issue",
    [
        Issue("SECRET-1", "hush", moved_from=("OPS-1",)),
        Issue("OPS-1", "hush", more={"project": {"key": "SECRET"}}),
    ],
)
def test_a_ticket_that_moved_out_of_scope_is_not_shown(
    served: Served, turned: TurnedClock, issue: Issue
) -> None:
    jira = served(issue)

    with pytest.raises(ConnectorError, match="of a project that is not configured") as caught:
        tracker_on(jira, turned).ticket("OPS-1", ALL)

    assert "hush" not in str(caught.value)
    assert jira.count("/comment") == 0


def test_a_ticket_that_moved_within_scope_is_shown_under_its_new_key(
    served: Served, turned: TurnedClock
) -> None:
    issue = Issue("OPS-9", comments=[Remark("here")], moved_from=("AS-1",))

    ticket = read(served(issue), turned, "AS-1")

    assert ticket.key == "OPS-9"
    assert ticket.comments is not None
    assert ticket.comments[0].text == "here"


@pytest.mark.bad_input("B021", "B022")
def test_the_end_of_time_and_unknown_nodes_leave_readable_text(
    served: Served, turned: TurnedClock
) -> None:
    nodes = [
        {"type": "date", "attrs": {"timestamp": "253402300799000"}},
        {"type": "neverSeen", "content": [{"type": "text", "text": "inside"}]},
    ]
    document = {"type": "doc", "content": [{"type": "paragraph", "content": nodes}]}
    end = {"created": "9999-12-31T23:59:59.999-1200", "updated": "9999-12-31T23:59:59.999+0000"}

    ticket = read(served(Issue("OPS-1", description=document, more=end)), turned)

    assert "253402300799000" in ticket.description
    assert "[neverSeen] inside" in ticket.description
    assert ticket.created is None
    assert ticket.updated is not None


def test_every_public_document_is_read_as_text(
    served: Served, turned: TurnedClock, shared_data: Path
) -> None:
    document = json.loads((shared_data / "jira" / "jira-cli" / "adf_md.json").read_text())

    ticket = read(served(Issue("OPS-1", description=document)), turned)

    assert len(ticket.description) > 500
    assert '"type"' not in ticket.description


@pytest.mark.parametrize("body", [b'{"key": "OPS-1"}', b'{"key": 5, "fields": []}', b"{}"])
def test_an_issue_of_no_known_shape_is_an_error(
    served: Served, turned: TurnedClock, body: bytes
) -> None:
    jira = served(Issue("OPS-1"))
    jira.fault("/OPS-1", Fault(200, {}, body))

    with pytest.raises(ConnectorError):
        tracker_on(jira, turned).ticket("OPS-1", ALL)


@pytest.mark.bad_input("B011")
def test_a_captcha_in_the_middle_stops_everything_after_it(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(long_thread())
    jira.fault("/comment", Fault(403, {"X-Authentication-Denied-Reason": "CAPTCHA_CHALLENGE"}))

    ticket = read(jira, turned)

    assert (ticket.comments, ticket.changes) == (None, None)
    assert all("CAPTCHA" in note for note in ticket.missing)
    assert jira.count("/changelog") == 0

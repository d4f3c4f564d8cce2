"""What every tracker does alike: the embedded one, Jira Cloud, Jira Data Center."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import pytest

from connectors.embedded_tracker import EmbeddedTracker
from connectors.jira_tracker import JiraSite, open_jira
from connectors.tracker import Ticket, TicketSearch, TicketsFound, Tracker
from copilot.errors import UsageError
from copilot.window import Window
from tests.doubles.jira import Issue, Jira, Remark, Site
from tests.doubles.jira.site import NOON

ALL = frozenset({"comments", "changes", "links"})
Filled: TypeAlias = Callable[..., Tracker]


@pytest.fixture(params=["embedded", "cloud", "server"])
def filled(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Filled]:
    """Return a function that gives a tracker with these issues."""
    with ExitStack() as stack:

        def give(*issues: Issue) -> Tracker:
            if request.param != "embedded":
                site = Site(request.param, [*issues], page_cap=2)
                jira = stack.enter_context(Jira(site))
                place = JiraSite(jira.url, ("OPS", "AS"), user=site.user)
                return open_jira(place, token=lambda: site.token)
            tracker = EmbeddedTracker(tmp_path / "tickets.sqlite")
            exported = [_export(issue) for issue in issues]
            (tmp_path / "export.json").write_text(json.dumps({"issues": exported}))
            tracker.import_file(tmp_path / "export.json", "export.json")
            return tracker

        yield give


def _export(issue: Issue) -> dict[str, object]:
    """The issue as one request with everything in it would give it."""
    fields = Site("server").fields(issue, "https://jira.example.org")
    comments = [
        {"id": str(number), "author": {"displayName": remark.author}, "body": remark.body,
         "created": remark.created.isoformat()}
        for number, remark in enumerate(issue.comments, 1)
    ]  # fmt: skip
    histories = [
        {"author": {"displayName": "Ada"}, "created": issue.updated.isoformat(),
         "items": [{"field": field, "fromString": before, "toString": after}]}
        for field, before, after in issue.changes
    ]  # fmt: skip
    return {
        "key": issue.key,
        "fields": {**fields, "comment": {"comments": comments, "total": len(comments)}},
        "changelog": {"histories": histories, "total": len(histories)},
    }


def keys(found: TicketsFound) -> list[str]:
    return [ticket.key for ticket in found.tickets]


def disks(count: int) -> list[Issue]:
    return [
        Issue(f"OPS-{number}", f"disk {number}", updated=NOON + timedelta(minutes=number))
        for number in range(1, count + 1)
    ]


def whole(tracker: Tracker, key: str) -> Ticket:
    ticket = tracker.ticket(key, ALL)
    assert ticket is not None
    return ticket


def test_words_are_looked_for_in_title_description_and_comments(filled: Filled) -> None:
    tracker = filled(
        Issue("OPS-1", "disk full"),
        Issue("OPS-2", description="the disk of node-3"),
        Issue("OPS-3", comments=[Remark("was it the DISK?")]),
        Issue("OPS-4", "diskless"),
    )

    assert sorted(keys(tracker.search(TicketSearch(text="disk")))) == ["OPS-1", "OPS-2", "OPS-3"]
    assert keys(tracker.search(TicketSearch(text="disk node-3"))) == ["OPS-2"]
    assert keys(tracker.search(TicketSearch(text='"full disk"'))) == []
    assert "OPS-4" in keys(tracker.search(TicketSearch(text="disk*")))


def test_the_best_match_comes_first_and_a_key_finds_its_ticket(filled: Filled) -> None:
    tracker = filled(Issue("OPS-1", description="disk"), Issue("OPS-2", "disk"))

    assert keys(tracker.search(TicketSearch(text="disk")))[0] == "OPS-2"
    assert keys(tracker.search(TicketSearch(text="OPS-1"))) == ["OPS-1"]


def test_some_of_the_words_are_better_than_nothing_and_are_told(filled: Filled) -> None:
    tracker = filled(Issue("OPS-1", "disk"), Issue("OPS-2", "proxy"))

    found = tracker.search(TicketSearch(text="disk proxy"))
    strict = tracker.search(TicketSearch(text="disk proxy", needs_all_words=True))

    assert sorted(keys(found)) == ["OPS-1", "OPS-2"]
    assert "no ticket holds all the words; these hold some of them" in found.coverage.notes
    assert (keys(strict), strict.coverage.complete) == ([], True)


def test_filters_match_any_of_their_values_whatever_the_case(filled: Filled) -> None:
    tracker = filled(
        Issue("OPS-1", status="Open", labels=("disk",)),
        Issue("OPS-2", status="Done"),
        Issue("AS-1", status="In Progress", labels=("net", "disk")),
    )

    def found(**search: object) -> list[str]:
        return sorted(keys(tracker.search(TicketSearch(**search))))  # type: ignore[arg-type] # test shorthand

    assert found(statuses=("open", "Done")) == ["OPS-1", "OPS-2"]
    assert found(labels=("disk",)) == ["AS-1", "OPS-1"]
    assert found(projects=("as",)) == ["AS-1"]
    assert found(projects=("OPS",), labels=("net",)) == []


def test_without_text_the_last_updated_come_first_and_the_window_is_half_open(
    filled: Filled,
) -> None:
    tracker = filled(*disks(5))
    window = Window(NOON + timedelta(minutes=2), NOON + timedelta(minutes=4))

    assert keys(tracker.search(TicketSearch())) == [f"OPS-{number}" for number in (5, 4, 3, 2, 1)]
    found = tracker.search(TicketSearch(updated=window))
    assert (keys(found), found.total.value) == (["OPS-3", "OPS-2"], 2)


@pytest.mark.parametrize("search", [TicketSearch(text="disk", limit=3), TicketSearch(limit=3)])
def test_pages_give_every_ticket_once(filled: Filled, search: TicketSearch) -> None:
    tracker = filled(*disks(8))
    pages = [tracker.search(search)]
    while pages[-1].page:
        pages.append(tracker.search(TicketSearch(text=search.text, limit=3, page=pages[-1].page)))

    assert sorted(key for page in pages for key in keys(page)) == sorted(i.key for i in disks(8))
    assert (pages[-1].total.value, pages[-1].total.relation) == (8, "exact")
    assert pages[-1].coverage.complete


def test_a_page_that_nobody_gave_is_refused(filled: Filled) -> None:
    with pytest.raises(UsageError, match="no page of this search"):
        filled(*disks(1)).search(TicketSearch(text="disk", page="x"))


def test_nothing_found_is_complete_and_exact(filled: Filled) -> None:
    found = filled(*disks(1)).search(TicketSearch(text="unheardof"))

    assert (found.tickets, found.total.value, found.total.relation) == ((), 0, "exact")
    assert found.coverage.complete


@pytest.mark.parametrize(
    "text", ['"', "\\", "OR", "AND NOT", "(", "*", "a:b", "--", "%", "'", "\x00"]
)
def test_no_text_is_an_error_of_the_query_language(filled: Filled, text: str) -> None:
    found = filled(*disks(1)).search(TicketSearch(text=text)) if text != "\x00" else None

    assert found is None or found.coverage is not None


def test_a_ticket_is_read_with_the_parts_asked_for(filled: Filled) -> None:
    issue = Issue(
        "OPS-1",
        "disk",
        description="long",
        comments=[
            Remark(f"c{number}", created=NOON + timedelta(minutes=number)) for number in range(130)
        ],
        changes=[("status", "Open", "Done")],
        links=[("blocks", "OPS-2", "other")],
        attachments=[("a.log", 9)],
    )
    tracker = filled(issue, Issue("OPS-2", "other"))

    bare = tracker.ticket("ops-1", frozenset())
    ticket = whole(tracker, "OPS-1")

    assert bare is not None
    assert (bare.comments, bare.changes, bare.links) == (None, None, None)
    assert (bare.key, bare.summary, bare.description, bare.status) == (
        "OPS-1",
        "disk",
        "long",
        "Open",
    )
    assert (bare.project, bare.created, bare.updated) == ("OPS", NOON, NOON)
    assert [comment.text for comment in ticket.comments or ()] == [f"c{n}" for n in range(130)]
    assert [(c.field, c.before, c.after) for c in ticket.changes or ()] == [
        ("status", "Open", "Done")
    ]
    assert [(li.relation, li.key, li.summary) for li in ticket.links or ()] == [
        ("blocks", "OPS-2", "other")
    ]
    assert ticket.attachments == ("a.log (9 bytes)",)
    assert ticket.missing == ()


def test_an_empty_part_is_empty_and_a_ticket_that_is_not_there_is_none(filled: Filled) -> None:
    tracker = filled(Issue("OPS-1"))

    ticket = whole(tracker, "OPS-1")

    assert (ticket.comments, ticket.changes, ticket.links) == ((), (), ())
    assert tracker.ticket("OPS-2", ALL) is None
    assert tracker.ticket("no key", ALL) is None


def test_a_search_gives_no_parts(filled: Filled) -> None:
    [ticket] = filled(Issue("OPS-1", "disk", comments=[Remark("c")])).search(TicketSearch()).tickets

    assert (ticket.comments, ticket.changes, ticket.links) == (None, None, None)
    assert (ticket.summary, ticket.labels, ticket.priority) == ("disk", (), "Major")

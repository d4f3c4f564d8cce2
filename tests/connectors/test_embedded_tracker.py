"""Exported tickets can be searched and read, and no export takes away what another brought."""

import json
import sqlite3
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.embedded_tracker import EmbeddedTracker, ImportedTickets
from connectors.tracker import TicketSearch
from copilot.errors import ConnectorError, ImportRefusedError, UsageError
from copilot.window import Window

ALL_PARTS = frozenset({"comments", "changes", "links"})


@pytest.fixture
def tracker(tmp_path: Path) -> EmbeddedTracker:
    return EmbeddedTracker(tmp_path / "index" / "tickets.sqlite")


@pytest.fixture
def give(tracker: EmbeddedTracker, tmp_path: Path) -> "Give":
    return Give(tracker, tmp_path)


class Give:
    """Writes an export and imports it."""

    def __init__(self, tracker: EmbeddedTracker, folder: Path) -> None:
        self.tracker = tracker
        self.folder = folder

    def __call__(self, document: object, name: str = "export.json") -> ImportedTickets:
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return self.tracker.import_file(path, name)


def issue(key: str, summary: str = "s", **fields: object) -> dict[str, object]:
    return {"key": key, "fields": {"summary": summary, **fields}}


def keys(tracker: EmbeddedTracker, text: str = "", **search: object) -> list[str]:
    found = tracker.search(TicketSearch(text=text, **search))  # type: ignore[arg-type] # test shorthand
    return [ticket.key for ticket in found.tickets]


def test_every_public_ticket_is_imported_and_found(
    tracker: EmbeddedTracker, shared_data: Path
) -> None:
    for file in sorted(shared_data.glob("threads/*/ticket.json")):
        assert tracker.import_file(file, f"{file.parent.name}/{file.name}").added == 1

    assert keys(tracker, "JobSubmitter MAX_JOBS_SUBMITTED") == ["CMSOPS-103"]
    assert keys(tracker, "CMSOPS-106")[0] == "CMSOPS-106"
    assert keys(tracker, "agent-s4") == ["CMSOPS-101"]


def test_importing_the_same_file_again_changes_nothing(give: Give) -> None:
    give([issue("A-1"), issue("A-2")])

    again = give([issue("A-1"), issue("A-2")])

    assert (again.added, again.replaced, again.unchanged) == (0, 0, 2)


def test_a_newer_copy_replaces_and_an_older_one_does_not(give: Give) -> None:
    give([issue("A-1", "second", updated="2024-01-02T00:00:00Z")])

    older = give([issue("A-1", "first", updated="2024-01-01T00:00:00Z")], "old.json")
    newer = give([issue("A-1", "third", updated="2024-01-03T00:00:00Z")], "new.json")

    assert (older.older, newer.replaced) == (1, 1)
    assert keys(give.tracker, "third") == ["A-1"]
    assert keys(give.tracker, "second") == []


def test_an_export_without_comments_keeps_the_earlier_ones_and_says_so(give: Give) -> None:
    said = {"comments": [{"id": "7", "body": "the proxy expired"}]}
    give([issue("A-1", comment=said, updated="2024-01-01T00:00:00Z")], "full.json")

    give([issue("A-1", updated="2024-01-02T00:00:00Z")], "search.json")

    ticket = give.tracker.ticket("A-1", ALL_PARTS)
    assert ticket is not None
    assert ticket.comments is not None
    assert ticket.comments[0].text == "the proxy expired"
    assert ticket.missing == ("comments: as of full.json",)
    assert keys(give.tracker, "proxy") == ["A-1"]


def test_an_older_export_brings_the_parts_that_were_missing(give: Give) -> None:
    give([issue("A-1", "new", updated="2024-01-02T00:00:00Z")], "search.json")
    old = issue("A-1", "old", updated="2024-01-01T00:00:00Z", comment={"comments": []})

    result = give([old], "full.json")

    ticket = give.tracker.ticket("A-1", ALL_PARTS)
    assert ticket is not None
    assert (result.replaced, ticket.summary, ticket.comments) == (1, "new", ())


def test_a_part_that_was_not_asked_for_is_none_and_an_empty_part_is_empty(give: Give) -> None:
    give([issue("A-1", comment={"comments": []}, issuelinks=[])])

    ticket = give.tracker.ticket("a-1", frozenset({"comments"}))

    assert ticket is not None
    assert (ticket.comments, ticket.links) == ((), None)
    assert give.tracker.ticket("A-2", ALL_PARTS) is None


def test_records_that_are_no_tickets_are_named_and_the_rest_is_kept(give: Give) -> None:
    result = give({"issues": [issue("A-1"), {"id": 3}, "text"], "total": 120})

    assert result.added == 1
    assert [refused.where for refused in result.refused] == ["issues[1]", "issues[2]"]
    assert result.missing == "3 of 120"


@pytest.mark.parametrize(
    "content",
    ["", "not json", "{", '{"key": "A-1"}\n{"key"', '{"a": 1}', "[]", "\x00", "[" * 100_000],
)
def test_a_file_without_tickets_is_refused_and_nothing_is_kept(give: Give, content: str) -> None:
    with pytest.raises(ImportRefusedError, match=r"export\.json"):
        give(content)

    assert keys(give.tracker) == []


def test_a_broken_line_refuses_the_whole_file_and_names_it(give: Give) -> None:
    lines = [json.dumps(issue("A-1")), "{broken", json.dumps(issue("A-2"))]

    with pytest.raises(ImportRefusedError, match=r"export\.json:2"):
        give("\n".join(lines))

    assert keys(give.tracker) == []


def test_what_is_no_file_or_no_text_is_refused(tracker: EmbeddedTracker, tmp_path: Path) -> None:
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")

    for path in (binary, tmp_path, tmp_path / "absent.json", Path("/dev/null")):
        with pytest.raises(ImportRefusedError):
            tracker.import_file(path, path.name)


def test_identifiers_are_found_whole_and_in_parts_but_never_scattered(give: Give) -> None:
    give(
        [
            issue("A-1", "task pdmv_Run2016B-v1_0042 stuck at T2_US_Nebraska"),
            issue("A-2", "0042 jobs of v1 at Run2016B, Nebraska in the US"),
        ]
    )

    assert keys(give.tracker, "pdmv_Run2016B-v1_0042") == ["A-1"]
    assert keys(give.tracker, "Run2016B-v1") == ["A-1"]
    assert keys(give.tracker, "T2_US_Nebraska") == ["A-1"]
    assert sorted(keys(give.tracker, "nebraska")) == ["A-1", "A-2"]
    assert keys(give.tracker, "Run2016B-v") == []
    assert keys(give.tracker, '"jobs of"') == ["A-2"]
    assert keys(give.tracker, "pdmv*") == ["A-1"]


def test_when_no_ticket_holds_all_words_the_best_of_some_come_with_a_note(give: Give) -> None:
    give([issue("A-1", "redis timeout in session store"), issue("A-2", "disk full")])

    found = give.tracker.search(TicketSearch(text="redis timeout kubernetes"))

    assert [ticket.key for ticket in found.tickets] == ["A-1"]
    assert "some of them" in found.coverage.notes[0]
    assert found.coverage.complete


def test_filters_match_any_of_their_values_whatever_the_case(give: Give) -> None:
    give(
        [
            issue("A-1", labels=["Disk"], status={"name": "Open"}),
            issue("A-2", labels=["net"], status={"name": "Done"}),
            issue("B-1", labels=["net", "disk"], status={"name": "Open"}),
        ]
    )

    assert sorted(keys(give.tracker, labels=("disk", "cpu"))) == ["A-1", "B-1"]
    assert keys(give.tracker, projects=("b",)) == ["B-1"]
    assert keys(give.tracker, statuses=("open",), projects=("A",)) == ["A-1"]


def test_a_window_is_half_open_and_counts_the_tickets_without_a_time(give: Give) -> None:
    give(
        [
            issue("A-1", updated="2024-01-01T00:00:00Z"),
            issue("A-2", updated="2024-01-02T00:00:00Z"),
            issue("A-3", updated="yesterday"),
        ]
    )
    window = Window(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC))

    found = give.tracker.search(TicketSearch(updated=window))

    assert [ticket.key for ticket in found.tickets] == ["A-1"]
    assert (found.total.value, found.coverage.untimed) == (1, 1)


def test_pages_follow_each_other_without_gap_or_repeat(give: Give) -> None:
    give([issue(f"A-{number}", "stuck") for number in range(1, 8)])

    page, seen = "", []
    for _ in range(3):
        found = give.tracker.search(TicketSearch(text="stuck", limit=3, page=page))
        seen += [ticket.key for ticket in found.tickets]
        page = found.page

    assert (sorted(seen), page, found.total.value) == ([f"A-{n}" for n in range(1, 8)], "", 7)
    with pytest.raises(UsageError, match="page"):
        give.tracker.search(TicketSearch(page="-1"))


def test_an_empty_tracker_cannot_show_that_something_is_absent(tracker: EmbeddedTracker) -> None:
    assert "nothing was imported" in tracker.search(TicketSearch(text="x")).coverage.why_incomplete


def test_a_file_that_is_no_index_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tickets.sqlite"
    path.write_text("no database, but long enough to be looked at" * 40)

    with pytest.raises(ConnectorError, match=r"tickets\.sqlite"):
        EmbeddedTracker(path).search(TicketSearch())


def test_an_index_of_another_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tickets.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()

    with pytest.raises(ConnectorError, match="version 99"):
        EmbeddedTracker(path).search(TicketSearch())


def test_threads_may_search_while_another_imports(give: Give) -> None:
    give([issue("A-1", "stuck")])
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(keys(give.tracker, "stuck"))) for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    give([issue(f"B-{number}") for number in range(50)], "more.json")
    for thread in threads:
        thread.join()

    assert found == [["A-1"]] * 8


SYNTAX = st.text(st.sampled_from("abAND OR NOT NEAR(){}[]\"*^:-+,\\'\x00\ud800 é"), max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=SYNTAX | st.text(max_size=30))
def test_no_text_is_ever_a_syntax_error(give: Give, text: str) -> None:
    give([issue("A-1", "AND OR NOT NEAR a b")])

    give.tracker.search(TicketSearch(text=text, projects=("A", text), labels=(text,)))
    give.tracker.ticket(text, ALL_PARTS)


def test_text_that_sqlite_or_utf8_would_stumble_over_is_kept(give: Give) -> None:
    give([issue("A-1", "a\x00b \ud800 \U0001f600", description="x\ud800y")])

    ticket = give.tracker.ticket("A-1", ALL_PARTS)

    assert ticket is not None
    assert (ticket.summary, ticket.description) == ("a\x00b \ufffd \U0001f600", "x\ufffdy")

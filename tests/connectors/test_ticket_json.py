"""An exported ticket is read as it was written: absent is not empty, and nothing is guessed."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.ticket_json import read_export, ticket
from connectors.tracker import Change, Comment, Link, Ticket
from tests.connectors.test_adf import ANY_JSON


def read(record: object) -> Ticket:
    found = ticket(record, "export.json")
    assert isinstance(found, Ticket), found
    return found


def first(path: Path) -> Ticket:
    return read(read_export(path.read_text(), path.name).records[0][1])


def test_a_server_issue_has_its_parts(shared_data: Path) -> None:
    found = first(shared_data / "jira" / "mcp-atlassian" / "mock_jira_issue_response.json")

    assert (found.key, found.project, found.status, found.kind) == (
        "PROJ-123",
        "PROJ",
        "In Progress",
        "Task",
    )
    assert found.updated == datetime(2024, 1, 2, 15, 30, tzinfo=UTC)
    assert found.comments is not None
    assert found.comments[0].author == "Commenter User"
    assert found.attachments == ("test_attachment.txt (1024 bytes)",)
    assert Link("has parent", "PROJ-122", "Parent Issue Summary") in (found.links or ())


def test_a_cloud_issue_has_its_document_as_text(shared_data: Path) -> None:
    found = first(shared_data / "jira" / "jira-cli" / "issue.json")

    assert found.description == "Test description"
    assert found.links == (Link("links to", "TEST-2", ""),)
    assert found.comments is None


def test_a_plain_ticket_has_its_comments(shared_data: Path) -> None:
    found = first(shared_data / "threads" / "t01_acdc_rucio_lookup" / "ticket.json")

    assert found.created == datetime(2024, 1, 25, 3, 10, tzinfo=UTC)
    assert found.comments is not None
    assert found.comments[0].author == "ops-b"
    assert found.comments[0].text.startswith("A third agent (agent-s4)")


def test_comments_that_are_not_in_the_file_are_not_no_comments() -> None:
    bare: dict[str, object] = {"key": "A-1", "fields": {"summary": "s"}}
    empty = {"key": "A-1", "fields": {"summary": "s", "comment": {"comments": [], "total": 0}}}

    assert read(bare).comments is None
    assert read(empty).comments == ()
    assert read({"key": "A-1", "summary": "s"}).comments is None
    assert read({"key": "A-1", "summary": "s", "comments": []}).comments == ()


def test_a_first_page_of_comments_says_how_many_there_are() -> None:
    page = {"comments": [{"id": "1", "body": "x"}], "total": 130}

    assert read({"key": "A-1", "fields": {"comment": page}}).missing == ("comments: 1 of 130",)


def test_wiki_text_is_kept_as_it_was_sent() -> None:
    wiki = "h2. Why\n{code}a_b *c*{code}\n|x|y|"

    assert read({"key": "A-1", "fields": {"description": wiki}}).description == wiki


def test_history_links_and_comment_documents_are_read() -> None:
    document = {"type": "doc", "content": [{"type": "text", "text": "seen at T2_X"}]}
    found = read(
        {
            "key": "A-1",
            "fields": {
                "comment": {"comments": [{"id": 5, "author": {"name": "ann"}, "body": document}]},
                "issuelinks": [
                    {
                        "type": {"inward": "is blocked by", "outward": "blocks"},
                        "inwardIssue": {"key": "A-0", "fields": {"summary": "disk"}},
                    },
                    {"outwardIssue": {}},
                ],
            },
            "changelog": {
                "histories": [
                    {
                        "created": "2024-01-01T10:00:00.000+0100",
                        "author": {"displayName": "Ann"},
                        "items": [{"field": "status", "fromString": "Open", "toString": "Done"}],
                    }
                ]
            },
        }
    )

    nine = datetime(2024, 1, 1, 9, tzinfo=UTC)
    assert found.comments == (Comment("5", "ann", None, "seen at T2_X"),)
    assert found.changes == (Change(nine, "Ann", "status", "Open", "Done"),)
    assert found.links == (Link("is blocked by", "A-0", "disk"),)


@pytest.mark.parametrize(
    ("raw", "hour"),
    [("2024-01-01T10:00:00.000+0100", 9), ("2024-01-01T10:00:00Z", 10)],
)
def test_times_are_read_with_their_zone(raw: str, hour: int) -> None:
    found = read({"key": "A-1", "fields": {"created": raw}})

    assert found.created == datetime(2024, 1, 1, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    "raw", [None, "", "soon", "2024-01-01T10:00:00", 17, "0001-01-01T00:00:00+1400", "9999-99-99Z"]
)
def test_what_is_no_time_is_no_time(raw: object) -> None:
    assert read({"key": "A-1", "fields": {"created": raw}}).created is None


def test_search_responses_lists_and_lines_are_all_exports() -> None:
    one, two = {"key": "A-1", "summary": "s"}, {"key": "A-2", "summary": "s"}

    for text in (
        json.dumps({"issues": [one, two]}),
        json.dumps([one, two]),
        f"{json.dumps(one)}\n\n{json.dumps(two)}\n",
    ):
        assert [record for _, record in read_export(text, "x").records] == [one, two]


@pytest.mark.parametrize(
    ("more", "missing"),
    [({"total": 9}, "1 of 9"), ({"isLast": False}, "1 of more"), ({"isLast": True}, "")],
)
def test_a_page_of_a_search_says_what_it_lacks(more: dict[str, object], missing: str) -> None:
    assert read_export(json.dumps({"issues": [{}], **more}), "x").missing == missing


def test_files_that_hold_no_tickets_hold_none(shared_data: Path) -> None:
    for file in sorted((shared_data / "jira" / "go-jira").glob("*.json")):
        records = read_export(file.read_text(), file.name).records
        found = [read for _, record in records if isinstance(read := ticket(record, "x"), Ticket)]
        assert len(found) == (1 if file.name == "issues_in_sprint.json" else 0), file.name


@given(st.dictionaries(st.sampled_from(["summary", "status", "labels", "comment"]), ANY_JSON))
def test_no_shape_of_a_field_can_break_the_reading(fields: dict[str, object]) -> None:
    extra = {"issuelinks": [fields, fields.get("status")], "attachment": [fields], **fields}
    log = {"histories": [fields, {"items": [fields]}]}

    read({"key": "A-1", "fields": extra, "changelog": log})
    read_export(json.dumps({"issues": [extra]}), "x")

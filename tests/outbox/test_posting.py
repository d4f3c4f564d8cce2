"""An approved draft is on its ticket once, whatever happens between post and record."""

import json
from typing import Any

import pytest

from copilot.errors import ConfigError, ConnectorError, CopilotError, NotFoundError, UsageError
from copilot.outbox import Draft, Posted, mark_of
from tests.doubles.jira import Fault, Issue, Remark
from tests.outbox.conftest import INCIDENT, TEXT, Desk


def writes(desk: Desk) -> list[tuple[str, str]]:
    return [
        (received.method, received.path.rpartition("/api/")[2][2:])
        for received in desk.jira.requests
        if received.method != "GET"
    ]


def test_approving_posts_once_and_twice_changes_nothing(desk: Desk) -> None:
    draft = desk.propose()
    assert desk.jira.requests == []

    first, again = desk.approve(draft.id), desk.approve(draft.id)

    assert (first.done, again.done) == ("made", "unchanged")
    assert writes(desk) == [("POST", "issue/OPS-7/comment")]
    assert len(desk.comments) == 2


def test_the_comment_says_whose_words_it_holds(desk: Desk) -> None:
    desk.approve(desk.propose().id)

    said = json.dumps(desk.comments[-1].body)
    assert "Written by the operations copilot" in said
    assert mark_of(INCIDENT) in said
    assert said.index("Written by") < said.index("se01.example.org") < said.index(mark_of(INCIDENT))


def test_a_kill_between_post_and_record_posts_nothing_again(desk: Desk) -> None:
    draft = desk.propose()
    workspace = desk.workspace

    def killed_after(approved: Draft) -> Posted:
        workspace.comments("desk").post(approved)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workspace.outbox.approve(draft.id, "ada", killed_after)
    assert workspace.outbox.get(draft.id).status == "approved"

    decided = desk.approve(draft.id)

    assert (decided.done, decided.draft.status) == ("unchanged", "posted")
    assert len(writes(desk)) == 1


@pytest.mark.parametrize("text", [TEXT, "an open block\n```\nis closed", "{noformat}", "x\n" * 50])
def test_whatever_the_text_is_its_comment_is_found_again(desk: Desk, text: str) -> None:
    post = desk.workspace.comments("desk").post
    draft = desk.propose(text)

    assert [post(draft).done, post(draft).done] == ["made", "unchanged"]


def test_a_second_draft_of_the_incident_edits_the_comment_in_place(desk: Desk) -> None:
    first = desk.approve(desk.propose().id)
    desk.comments.append(Remark("thanks"))

    second = desk.approve(desk.propose("It was the disk.").id)

    assert (second.done, second.draft.comment) == ("edited", first.draft.comment)
    assert len(desk.comments) == 3
    assert "It was the disk." in json.dumps(desk.comments[1].body)


def test_another_incident_has_a_comment_of_its_own(desk: Desk) -> None:
    desk.approve(desk.propose().id)

    assert desk.approve(desk.propose(incident="inc-2").id).done == "made"
    assert len(desk.comments) == 3


def test_a_rejected_draft_sends_nothing(desk: Desk) -> None:
    draft = desk.propose()
    desk.workspace.outbox.reject(draft.id, "ada")

    with pytest.raises(UsageError, match="rejected"):
        desk.approve(draft.id)

    assert desk.jira.requests == []


def test_a_ticket_that_left_the_projects_gets_no_comment(desk: Desk) -> None:
    draft = desk.propose()
    desk.jira.site.issues[0] = Issue("SECRET-9", moved_from=("OPS-7",))

    with pytest.raises(ConnectorError, match="is now SECRET-9"):
        desk.approve(draft.id)

    assert writes(desk) == []
    assert desk.workspace.outbox.get(draft.id).status == "failed"


def test_a_ticket_that_does_not_exist_fails_in_words(desk: Desk) -> None:
    draft = desk.propose(key="OPS-99")

    with pytest.raises(NotFoundError, match="no ticket OPS-99"):
        desk.approve(draft.id)


def test_a_refused_post_is_recorded_and_the_next_approval_makes_it(desk: Desk) -> None:
    draft = desk.propose()
    desk.jira.fault("/comment", Fault(), Fault(403))

    with pytest.raises(CopilotError):
        desk.approve(draft.id)
    failed = desk.workspace.outbox.get(draft.id)

    assert failed.status == "failed"
    assert failed.why
    assert desk.approve(draft.id).done == "made"
    assert len(desk.comments) == 2


def test_the_link_is_one_with_a_stable_id_and_leads_to_the_incident(desk: Desk) -> None:
    desk.configure(write="true", incident_page="https://copilot.example.org/incidents/{incident}")
    desk.approve(desk.propose().id)
    desk.approve(desk.propose("another text").id)

    [(where, link)] = desk.jira.written.links.items()
    assert where == ("OPS-7", mark_of(INCIDENT))
    assert link["url"] == f"https://copilot.example.org/incidents/{INCIDENT}"


def test_a_link_that_failed_is_made_by_the_next_approval_and_the_comment_stays(desk: Desk) -> None:
    desk.configure(write="true", incident_page="https://copilot.example.org/{incident}")
    draft = desk.propose()
    desk.jira.fault("/remotelink", Fault(403))

    with pytest.raises(CopilotError):
        desk.approve(draft.id)

    assert desk.approve(draft.id).done == "unchanged"
    assert len(desk.jira.written.links) == 1
    assert len(desk.comments) == 2


@pytest.mark.bad_input("B023")
def test_the_dry_body_is_what_is_sent_and_has_no_empty_text(desk: Desk) -> None:
    draft = desk.propose("one\n\n\n```\n\n```\n\ntwo")
    body = desk.workspace.comments("desk").body(draft)
    assert writes(desk) == []

    desk.approve(draft.id)

    sent: Any = next(one.body for one in desk.jira.requests if one.method == "POST")
    assert sent["body"] == body
    assert '"text": ""' not in json.dumps(body)


@pytest.mark.parametrize(
    "more",
    [{"write": "yes please"}, {"write": "true", "incident_page": "https://copilot.example.org/"},
     {"write": "true", "incident_page": "javascript:{incident}"}],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(desk: Desk, more: dict[str, str]) -> None:
    desk.configure(**more)

    with pytest.raises(ConfigError):
        _ = desk.workspace

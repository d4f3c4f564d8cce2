"""One comment for each mark, made once whatever happens, and nothing in it acts."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.adf import adf_text
from connectors.jira_tracker import markup
from connectors.jira_tracker.writing import OwnComment, put_comment, put_link
from copilot.errors import ConnectorError
from copilot.safe_text import safe_text
from tests.connectors.jira.conftest import TurnedClock, tracker_on
from tests.doubles.jira import Fault, Issue, Jira, Remark

Served = Callable[..., Jira]
MARK = "operations copilot, incident inc-1"
COMMENT = OwnComment("OPS-1", "The proxy expired.\n\n```\nproxy: 0 s left\n```", MARK)


def texts(node: Any) -> list[str]:
    if node.get("type") == "text":
        return [node["text"]]
    return [text for inside in node.get("content", []) for text in texts(inside)]


def test_a_comment_is_made_once_and_then_edited_in_place(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1", comments=[Remark("hello")]), deployment=deployment)
    api = tracker_on(jira, turned).api

    made = put_comment(api, COMMENT)
    again = put_comment(api, COMMENT)
    changed = put_comment(api, OwnComment("OPS-1", "It was the disk.", MARK))
    other = put_comment(api, OwnComment("OPS-1", "Another one.", "incident inc-2"))

    assert [made.done, again.done, changed.done, other.done] == [
        "made", "unchanged", "edited", "made",
    ]  # fmt: skip
    assert made.id == again.id == changed.id != other.id
    assert len(jira.site.issues[0].comments) == 3


@pytest.mark.parametrize("text", ["see\n```\nan open block", "```", "{noformat}\n```x"])
def test_a_mark_behind_an_open_block_is_found(
    served: Served, turned: TurnedClock, deployment: str, text: str
) -> None:
    jira = served(Issue("OPS-1"), deployment=deployment)
    api = tracker_on(jira, turned).api
    comment = OwnComment("OPS-1", text, MARK)

    assert [put_comment(api, comment).done for _ in range(2)] == ["made", "unchanged"]


def test_the_mark_of_another_account_is_not_ours(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(
        Issue("OPS-1", comments=[Remark(f"edit me\n{MARK}", "Mallory")]), deployment=deployment
    )

    assert put_comment(tracker_on(jira, turned).api, COMMENT).done == "made"
    assert jira.site.issues[0].comments[0].author == "Mallory"


def test_a_mark_beyond_the_first_page_is_found(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1"), deployment=deployment)
    api = tracker_on(jira, turned).api
    put_comment(api, COMMENT)
    jira.site.issues[0].comments += [Remark(f"later {number}") for number in range(130)]

    assert put_comment(api, COMMENT).done == "unchanged"


def test_nothing_is_made_while_comments_could_not_be_read(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1", comments=[Remark(str(n)) for n in range(130)]))
    jira.fault("/comment", Fault(), Fault(403))

    with pytest.raises(ConnectorError, match="one may be there already"):
        put_comment(tracker_on(jira, turned).api, COMMENT)

    assert len(jira.site.issues[0].comments) == 130


@pytest.mark.parametrize("lost", [Fault(502), Fault(resets=True), Fault(200), Fault(503)])
def test_a_request_that_was_lost_is_not_sent_twice(
    served: Served, turned: TurnedClock, lost: Fault
) -> None:
    jira = served(Issue("OPS-1"))
    jira.fault("/comment", Fault(), lost)

    with pytest.raises(ConnectorError):
        put_comment(tracker_on(jira, turned).api, COMMENT)

    assert sum(received.method == "POST" for received in jira.requests) == 1


def test_a_comment_whose_answer_was_lost_is_found_and_not_made_again(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1"))
    body = COMMENT.body(is_cloud=True)

    def done_and_lost() -> None:
        jira.site.issues[0].comments.append(Remark(body, "Copilot"))

    jira.fault("/comment", Fault(), Fault(502))
    api = tracker_on(jira, turned).api
    send = api.calls.object
    calls = {"POST": done_and_lost}

    def watched(ask: Any) -> Any:
        calls.get(ask.method, lambda: None)()
        return send(ask)

    api.calls.object = watched  # type: ignore[method-assign] # the request is done, its answer lost

    assert put_comment(api, COMMENT).done == "made"
    assert len(jira.site.issues[0].comments) == 1


def test_a_limit_is_waited_out_before_a_comment_is_made(
    served: Served, turned: TurnedClock
) -> None:
    jira = served(Issue("OPS-1"))
    reason = {"Retry-After": "3", "RateLimit-Reason": "jira-per-issue-on-write"}
    jira.fault("/comment", Fault(), Fault(429, reason))

    assert put_comment(tracker_on(jira, turned).api, COMMENT).done == "made"
    assert turned.sleeps == [3.0]


def test_a_link_with_one_mark_is_one_link(
    served: Served, turned: TurnedClock, deployment: str
) -> None:
    jira = served(Issue("OPS-1"), deployment=deployment)
    api = tracker_on(jira, turned).api

    put_link(api, "OPS-1", MARK, "https://copilot.example.org/inc-1", "Report")
    put_link(api, "OPS-1", MARK, "https://copilot.example.org/inc-1#2", "Report")

    [link] = jira.written.links.values()
    assert link["url"].endswith("#2")


@given(st.text() | st.text(alphabet="`\n a{}", max_size=60))
@pytest.mark.bad_input("B023")
def test_no_text_node_is_empty_and_no_word_is_lost(text: str) -> None:
    document = markup.document(text)

    assert all(texts(document)) or not texts(document)
    assert all(part.get("content") for part in document["content"])
    lines = [line for line in safe_text(text).split("\n") if not markup.FENCE.fullmatch(line)]
    assert "\n".join(texts(document)).split() == "\n".join(lines).split()
    assert all(word in adf_text(document) for word in "\n".join(lines).split())
    json.dumps(document).encode()


@pytest.mark.parametrize("text", ["```\n```", "", "\n\n", "a\n```\n\n```\nb", "```"])
@pytest.mark.bad_input("B023")
def test_an_empty_code_block_leaves_nothing(text: str) -> None:
    assert "" not in texts(markup.document(text))


@pytest.mark.parametrize(
    "text",
    ["![](https://x.example/?d=1)", "!https://x.example/a.png!", "[~admin]", "[a|javascript:x]",
     "{noformat}!https://x.example/a.png!{noformat}", "{ noformat }x", "{NoFormat:title=x}y"],
)  # fmt: skip
@pytest.mark.bad_input("B68")
def test_nothing_in_a_text_acts(text: str) -> None:
    document = markup.document(text)
    kinds = {node["type"] for node in document["content"]} | {
        inside["type"] for node in document["content"] for inside in node["content"]
    }
    inside = markup.wiki(text).removeprefix("{noformat}").removesuffix("{noformat}")

    assert kinds <= {"paragraph", "text", "hardBreak"}
    assert "marks" not in json.dumps(document)
    assert "{noformat" not in inside.lower()

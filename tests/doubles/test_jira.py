"""The double of Jira refuses what Jira refuses, in the words that Jira uses."""

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.doubles.jira import Issue, Jira, JqlRefused, Site, parse
from tests.doubles.jira.jql import Clause, Joined


@pytest.fixture
def jira() -> Iterator[Jira]:
    with Jira(Site(issues=[Issue("OPS-1", "disk"), Issue("AS-1", "net")])) as double:
        yield double


def ask(jira: Jira, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    pair = base64.b64encode(f"{jira.site.user}:{jira.site.token}".encode()).decode()
    everything = {"Authorization": f"Basic {pair}", "X-Atlassian-Token": "no-check", **headers}
    request = urllib.request.Request(
        f"{jira.url}/rest/api/{path}", json.dumps(body).encode() if body else None, everything
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_cloud_gives_ids_only_unless_fields_are_asked_for(jira: Jira) -> None:
    _, bare = ask(jira, "3/search/jql", {"jql": "project = OPS"})
    _, named = ask(jira, "3/search/jql", {"jql": "project = OPS", "fields": ["summary"]})

    assert bare == {"issues": [{"id": "10000"}], "isLast": True}
    assert named["issues"][0]["fields"] == {"summary": "disk"}


def test_the_old_search_is_gone_and_unknown_keys_are_refused(jira: Jira) -> None:
    assert ask(jira, "2/search", {"jql": "project = OPS"})[0] == 410
    assert ask(jira, "3/search/jql", {"jql": "project = OPS", "startAt": 5})[0] == 400
    assert ask(jira, "3/search/jql", {"jql": "order by key"})[0] == 400


def test_no_account_no_answer(jira: Jira) -> None:
    assert ask(jira, "3/myself", Authorization="Bearer x")[0] == 401
    assert ask(jira, "2/serverInfo", Authorization="")[0] == 200


@pytest.mark.parametrize(
    ("jql", "words"),
    [
        ("project = SET", "'SET' is a reserved JQL word"),
        ("project = NONE", "The value 'NONE' does not exist for the field 'project'."),
        ("status = Resolved", "The value 'Resolved' does not exist for the field 'status'."),
        ("colour = red", "Field 'colour' does not exist"),
        ("key = OPS-99", "An issue with key 'OPS-99' does not exist"),
        ('text ~ "(disk"', "Unable to parse the text"),
        ('updated > "yesterday"', "Date value 'yesterday'"),
        ('text = "disk"', "operator '=' is not supported"),
        ('project = OPS AND text ~ "disk', "is reserved"),
        (r'text ~ "\disk"', "illegal JQL escape sequence"),
        ("project = OPS OR", "Expecting a field name but got the end"),
    ],
)
def test_a_wrong_query_is_refused_in_jiras_words(jira: Jira, jql: str, words: str) -> None:
    status, said = ask(jira, "3/search/jql", {"jql": jql})

    assert status == 400
    assert words in said["errorMessages"][0]


def test_and_binds_before_or_and_quotes_make_one_value() -> None:
    query = parse(
        "project = OPS or project = \"AS\" and text ~ 'it\\'s' order by key desc, updated"
    )

    assert query.where == Joined(
        "or",
        (
            Clause("project", "=", ("OPS",)),
            Joined("and", (Clause("project", "=", ("AS",)), Clause("text", "~", ("it's",)))),
        ),
    )
    assert query.order == (("key", True), ("updated", False))


@pytest.mark.parametrize(
    "jql", ['a = "x\ny"', "a = b c", "a = (b)", "(a = b", "a in b", "a = b;", "= b"]
)
def test_what_is_no_query_is_refused(jql: str) -> None:
    with pytest.raises(JqlRefused):
        parse(jql)

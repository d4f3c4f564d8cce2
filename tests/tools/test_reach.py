"""Calls that would reach beyond what is configured: refused before a source is asked anything."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from connectors.jira_tracker import JiraSite, open_jira
from connectors.opensearch import OpenSearchLogbook, Outside, Site
from connectors.opensearch.caller import Pace
from copilot.calls import tools_step
from copilot.models.model import ToolCall
from copilot.steps import Work
from tests.bench import Bench
from tests.connectors.opensearch.conftest import Script, always, answered
from tests.doubles import jira as doubles
from tests.doubles.scripted_model import ScriptedModel

LOGBOOK_TOOLS = (
    "logbook_fields", "logbook_overview", "search_logbook", "logbook_patterns",
    "logbook_context", "logbook_trace",
)  # fmt: skip
NEEDED: dict[str, dict[str, Any]] = {
    "logbook_context": {"source": "logs-a", "line": 1},
    "logbook_trace": {"id": "wf_alpha_001"},
}
INDICES = ("_all", "*", "ops-*,-x", "<ops-{now/d}>", "other:ops", "%6fps")
ELSEWHERE = {"index": "secret", "id": "1", "path": "members"}
SCRIPT = {"source": "1", "lang": "painless"}
BEYOND: dict[str, dict[str, Any]] = {
    **{f"index {name}": {"index": name} for name in INDICES},
    **{f"logbook {name}": {"logbook": name} for name in INDICES},
    "look-up as a value": {"fields": {"user": ELSEWHERE}},
    "look-up as a query": {"query": {"terms": {"user": ELSEWHERE}}},
    "look-up as the text": {"text": {"terms": {"user": ELSEWHERE}}},
    "more like a foreign one": {"more_like_this": {"like": [ELSEWHERE]}},
    "percolate": {"percolate": ELSEWHERE},
    "script": {"script": SCRIPT},
    "script fields": {"script_fields": {"x": {"script": SCRIPT}}},
    "run-time fields": {"runtime_mappings": {"x": {"type": "keyword", "script": SCRIPT}}},
    "scripted sum": {"aggs": {"x": {"scripted_metric": {"map_script": "1"}}}},
    "size": {"size": 10**6},
    "limit": {"limit": 10**6},
    "limit as a float": {"limit": 1e6},
    "no limit": {"limit": -1},
    "before": {"before": 10**6},
}
FOREIGN: dict[str, tuple[str, dict[str, Any]]] = {
    "project": ("search_tickets", {"projects": ["SECRET"]}),
    "projects in one": ("search_tickets", {"text": "x", "projects": ["OPS,SECRET"]}),
    "project that ends its quote": ("search_tickets", {"projects": ['OPS") OR project in ("SECRET']}),
    "query": ("search_tickets", {"text": "jql: project = SECRET"}),
    "ticket": ("get_ticket", {"key": "SECRET-1"}),
    "ticket with a path": ("get_ticket", {"key": "OPS-1/../SECRET-1"}),
}  # fmt: skip


@pytest.fixture
def script() -> Script:
    """Return a server that would answer anything."""
    return Script([always(answered())])


@pytest.fixture
def jira() -> Iterator[doubles.Jira]:
    """Return a Jira with a ticket that is ours and one that is not."""
    issues = [doubles.Issue("OPS-1", "disk"), doubles.Issue("SECRET-1", "disk")]
    with doubles.Jira(doubles.Site(issues=issues)) as served:
        yield served


@pytest.fixture
def work(bench: Bench, script: Script, jira: doubles.Jira) -> Iterator[Work]:
    """An investigation over these two."""
    pace = Pace(lambda: 0.0, lambda _: None, lambda: 0.5)
    book = OpenSearchLogbook(
        Site("https://logs.example", ("logs-*",)), name="app", outside=Outside(pace, sender=script)
    )
    site = JiraSite(jira.url, ("OPS",), user=jira.site.user)
    tracker = open_jira(site, token=lambda: jira.site.token, name="desk")
    with bench.work(ScriptedModel(())) as (made, _):
        yield replace(
            made, case=replace(made.case, logbooks={"app": book}, trackers={"desk": tracker})
        )


@pytest.mark.bad_input("B51", "B52", "B53", "B54")
@pytest.mark.parametrize("form", BEYOND)
def test_a_query_that_reaches_beyond_is_refused_before_anything_is_sent(
    work: Work, script: Script, form: str
) -> None:
    calls = [
        ToolCall(tool, tool, {**NEEDED.get(tool, {}), **BEYOND[form]}) for tool in LOGBOOK_TOOLS
    ]

    events = tools_step(work, 1, calls)

    assert [event.data["ok"] for event in events] == [False] * len(calls)
    assert script.asked == []


def test_the_same_tools_do_ask_when_nothing_reaches_beyond(work: Work, script: Script) -> None:
    tools_step(work, 1, [ToolCall("a", "search_logbook", {"text": "disk"})])

    assert script.asked != []


@pytest.mark.bad_input("B48", "B50")
@pytest.mark.parametrize("form", FOREIGN)
def test_a_ticket_of_another_project_is_refused_before_jira_is_asked_for_any(
    work: Work, jira: doubles.Jira, form: str
) -> None:
    tool, arguments = FOREIGN[form]

    [event] = tools_step(work, 1, [ToolCall("a", tool, arguments)])

    assert event.data["ok"] is False
    assert jira.requests == []


@pytest.mark.bad_input("B48", "B49")
@pytest.mark.parametrize("text", ['x" OR project = SECRET OR text ~ "', 'x\\" OR project = SECRET'])
def test_words_that_look_like_a_query_reach_jira_as_words_inside_our_projects(
    work: Work, jira: doubles.Jira, text: str
) -> None:
    jira.site.ignores_jql = True

    [event] = tools_step(work, 1, [ToolCall("a", "search_tickets", {"text": text})])

    assert event.data["ok"] is True
    assert jira.queries != []
    assert [
        query for query in jira.queries if not query.startswith('project in ("OPS") AND ')
    ] == []
    assert "SECRET-1" not in str(event.data["text"])
    assert "1 of projects that are not open here" in str(event.data["text"])

"""Settings become trackers; secrets come from the environment, each to its own site only."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors.embedded_tracker import EmbeddedTracker
from connectors.jira_tracker import JiraTracker
from connectors.tracker import TicketSearch
from copilot.doctor import Check, examine
from copilot.errors import ConfigError, ConnectorError
from copilot.workspace import Workspace, open_workspace
from tests.doubles.jira import Issue, Jira, Site

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENTRY = "trackers:\n- {{name: desk, kind: jira, url: '{url}', projects: [OPS], user: ada@example.org}}\n"


@pytest.fixture
def jira() -> Iterator[Jira]:
    with Jira(Site(issues=[Issue("OPS-1", "disk")])) as double:
        yield double


def opened(folder: Path, text: str, **environ: str) -> Workspace:
    (folder / "copilot.yaml").write_text(text)
    return open_workspace(None, environ=environ, cwd=folder)


def searched(workspace: Workspace, name: str = "desk") -> list[str]:
    found = workspace.trackers[name].search(TicketSearch(text="disk"))
    return [ticket.key for ticket in found.tickets]


def test_kinds_stand_side_by_side(tmp_path: Path, jira: Jira) -> None:
    text = ENTRY.format(url=jira.url) + "- {name: old, path: state/old.sqlite}\n"

    trackers = opened(tmp_path, text).trackers

    assert isinstance(trackers["desk"], JiraTracker)
    assert isinstance(trackers["old"], EmbeddedTracker)
    assert jira.requests == []


@pytest.mark.parametrize("name", ["JIRA_DESK_TOKEN", "JIRA_API_TOKEN"])
def test_the_secret_is_a_variable_or_a_file(tmp_path: Path, jira: Jira, name: str) -> None:
    file = tmp_path / "token"
    file.write_text(f"{jira.site.token}\n")
    text = ENTRY.format(url=jira.url)

    assert searched(opened(tmp_path, text, **{name: jira.site.token})) == ["OPS-1"]
    assert searched(opened(tmp_path, text, **{f"{name}_FILE": str(file)})) == ["OPS-1"]


def test_a_missing_secret_is_told_by_the_first_call_and_nothing_is_asked(
    tmp_path: Path, jira: Jira
) -> None:
    tracker = opened(tmp_path, ENTRY.format(url=jira.url)).trackers["desk"]

    with pytest.raises(ConnectorError, match="set JIRA_DESK_TOKEN, or name its file in"):
        tracker.search(TicketSearch())

    assert jira.requests == []


def test_the_common_secret_goes_to_no_site_where_there_are_two(tmp_path: Path, jira: Jira) -> None:
    other = (
        "- {name: other, kind: jira, url: 'https://b.example', projects: [B], anonymous: true}\n"
    )
    workspace = opened(tmp_path, ENTRY.format(url=jira.url) + other, JIRA_API_TOKEN=jira.site.token)

    with pytest.raises(ConnectorError, match="JIRA_DESK_TOKEN"):
        searched(workspace)


def test_a_secret_that_was_replaced_is_taken_after_the_old_one_was_refused(
    tmp_path: Path, jira: Jira
) -> None:
    """The account is left alone for a while first; here the pause is skipped by a new tracker."""
    file = tmp_path / "token"
    file.write_text("wrong")
    workspace = opened(tmp_path, ENTRY.format(url=jira.url), JIRA_DESK_TOKEN_FILE=str(file))
    tracker = workspace.trackers["desk"]
    assert isinstance(tracker, JiraTracker)
    with pytest.raises(ConnectorError, match="account was refused"):
        tracker.search(TicketSearch(text="disk"))

    assert tracker.calls._opened is None


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("url: 'http://jira.example.org', projects: [OPS]", "url: plain http"),
        ("url: 'https://u:p@jira.example.org', projects: [OPS]", "must not hold credentials"),
        ("url: 'https://jira.example.org'", "projects: is required"),
        ("url: 'https://jira.example.org', projects: []", "projects:"),
        ("url: 'https://jira.example.org', projects: ['SECRET,OPS']", "projects.0: should match"),
        ("url: 'https://jira.example.org', projects: ['A B']", "projects.0: should match"),
        ("url: 'https://j.example', projects: [A], token: x", "token: unknown key. Allowed: allow_jql"),
        ("url: 'https://j.example', projects: [A], deployment: cloud", "Cloud wants the account's e-mail"),
        ("url: 'https://j.example', projects: [A], user: a, anonymous: true", "not both"),
        ("url: 'http://localhost', projects: [A], proxy: 'http://p:1'", "only an https"),
        ("url: 'https://j.example', projects: [A], proxy: 'p:1'", "proxy: write a proxy with its port"),
        ("url: 'https://j.example', projects: [A], path: x", "path: unknown key"),
    ],
)  # fmt: skip
@pytest.mark.bad_input("B50", "B83")
def test_a_mistake_is_named_by_its_key(tmp_path: Path, entry: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        opened(tmp_path, f"trackers:\n- {{name: desk, kind: jira, {entry}}}\n")

    assert problem in str(caught.value)


def reached(workspace: Workspace) -> list[Check]:
    found = examine(lambda: workspace, workspace.environ, NOW, offline=False)
    return [check for check in found if check.tier == "reach" and "tracker" in check.name]


def test_the_doctor_says_what_the_site_is_and_which_projects_can_be_read(
    tmp_path: Path, jira: Jira
) -> None:
    jira.site.projects = ("OPS",)
    text = ENTRY.format(url=jira.url).replace("[OPS]", "[OPS, AWAY]")

    checks = reached(opened(tmp_path, text, JIRA_DESK_TOKEN=jira.site.token))

    assert [check.state for check in checks] == ["ok", "ok", "ok", "fail"]
    assert "Jira Cloud 1001.0.0" in checks[0].found
    assert "take AWAY out of `projects`" in checks[3].fix


def test_the_doctor_stops_at_a_refused_account_and_asks_nothing_offline(
    tmp_path: Path, jira: Jira
) -> None:
    workspace = opened(tmp_path, ENTRY.format(url=jira.url), JIRA_DESK_TOKEN="wrong")
    offline = examine(lambda: workspace, {}, NOW, offline=True)
    assert {check.tier for check in offline} == {"local"}
    assert jira.requests == []

    checks = reached(workspace)

    assert [check.state for check in checks] == ["ok", "fail"]
    assert "the account was refused" in checks[1].found
    assert jira.site.token not in str(checks)

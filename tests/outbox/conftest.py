"""A workspace whose one tracker is a Jira that comments may be written to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from copilot.config import load_settings
from copilot.outbox import Decided, Draft
from copilot.workspace import Workspace
from tests.bench import LOG, NOW
from tests.doubles.jira import Issue, Jira, Remark, Site

INCIDENT = "inc-20261130-3fa9c1"
TEXT = "The name `se01.example.org` does not resolve.\n\n```\ncannot resolve host\n```"


@dataclass
class Desk:
    """A Jira, and the workspace that may write to its project OPS."""

    jira: Jira
    folder: Path

    @property
    def workspace(self) -> Workspace:
        """The workspace as a new process opens it."""
        environ = {"JIRA_DESK_TOKEN": self.jira.site.token}
        settings = load_settings(self.folder, environ, self.folder)
        return Workspace(settings, environ, now=lambda: NOW)

    @property
    def comments(self) -> list[Remark]:
        """The comments of OPS-7."""
        return self.jira.site.issues[0].comments

    def propose(self, text: str = TEXT, key: str = "OPS-7", incident: str = INCIDENT) -> Draft:
        """Propose a comment."""
        return self.workspace.outbox.propose(incident, "desk", key, text)

    def approve(self, name: str) -> Decided:
        """Approve a draft as the command does."""
        workspace = self.workspace
        return workspace.outbox.approve(name, "ada", workspace.comments("desk").post)

    def configure(self, **more: Any) -> None:
        """Write the settings, with these lines of the tracker besides."""
        lines = "".join(f"  {name}: {value}\n" for name, value in more.items())
        (self.folder / "copilot.yaml").write_text(
            "model:\n  name: offline\ntrackers:\n- name: desk\n  kind: jira\n"
            f"  url: {self.jira.url}\n  projects: [OPS]\n  user: {self.jira.site.user}\n{lines}"
        )


@pytest.fixture(params=["cloud", "server"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    site = Site(
        request.param,
        issues=[Issue("OPS-7", comments=[Remark("hello")]), Issue("SECRET-1")],
    )
    with Jira(site) as jira:
        folder = tmp_path / "ws"
        folder.mkdir()
        (folder / "app.log").write_text(LOG)
        made = Desk(jira, folder)
        made.configure(write="true")
        yield made

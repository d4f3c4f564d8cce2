"""`copilot outbox approve` killed by SIGKILL when Jira has what it sent: nothing is sent again."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.doubles.jira import Remark
from tests.outbox.conftest import INCIDENT, Desk


@dataclass
class Killed:
    """A command that dies when `now` is called, which waits until it has started."""

    command: list[str]
    desk: Desk
    started: threading.Event = field(default_factory=threading.Event)
    process: "subprocess.Popen[bytes] | None" = None

    def now(self) -> None:
        """Kill it, and go on when it is dead."""
        assert self.started.wait(30)
        assert self.process
        self.process.kill()
        self.process.wait(30)

    def run(self) -> int:
        """How the command ended."""
        environ = {**os.environ, "JIRA_DESK_TOKEN": self.desk.jira.site.token}
        with subprocess.Popen(
            self.command, cwd=self.desk.folder, env=environ, stdout=subprocess.DEVNULL
        ) as self.process:
            self.started.set()
            return self.process.wait(60)


class Comments(list[Remark]):
    """The comments of a ticket; whoever adds one is killed before the answer."""

    killed: Killed

    def append(self, remark: Remark) -> None:
        """Keep it, and kill."""
        super().append(remark)
        self.killed.now()


class Links(dict[tuple[str, str], Any]):
    """The links of a site; the first who makes one is killed before the answer."""

    killed: Killed

    def __setitem__(self, key: tuple[str, str], link: Any) -> None:
        is_first = not self
        super().__setitem__(key, link)
        if is_first:
            self.killed.now()


@pytest.mark.parametrize("moment", ["comment", "link"])
def test_killed_when_jira_has_it_the_next_approval_sends_nothing_again(
    desk: Desk, moment: str
) -> None:
    desk.configure(write="true", incident_page="https://copilot.example.org/{incident}")
    draft = desk.propose()
    killed = Killed(
        [sys.executable, "-m", "copilot", "outbox", "approve", draft.id, "--by", "ada"], desk
    )
    if moment == "comment":
        deadly = desk.jira.site.issues[0].comments = Comments(desk.comments)
        deadly.killed = killed
    else:
        links = desk.jira.written.links = Links()
        links.killed = killed

    ended = killed.run()
    status = desk.workspace.outbox.get(draft.id).status
    again = desk.approve(draft.id)

    assert (ended, status) == (-9, "approved")
    assert (again.done, again.draft.status) == ("unchanged", "posted")
    posts = [r for r in desk.jira.requests if r.method == "POST" and r.path.endswith("/comment")]
    assert (len(posts), len(desk.comments)) == (1, 2)
    assert len(desk.jira.written.links) == 1
    assert INCIDENT in str(desk.comments[-1].body)

"""A secret that came in by any door is nowhere afterwards: no file, object, log, page or request."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench import made_workspace
from tests.daemon.running import CLAIM, REPORT, Investigator, RunningDaemon, alert, payload
from tests.doubles.jira import Fault, Issue, Jira, Remark, Site
from tests.doubles.messages_api import MessagesApi, calls
from tests.doubles.messages_api.script import Reply

# Made up, and put together so that no scanner takes them for real ones.
SECRETS = {
    "alert": "AKIA" + "Q7ZT4M2XW9KD3VBN",
    "annotation": "ghp" + "_Zk3vQ8wN1xB5tR7yU2pL4mD6sF9hJ0aC3eG5",
    "entry": "hunter2-" + "Vn8Kq3Wz",
    "ticket": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJzZWNyZXQtb25lIn0.c2lnbmF0dXJlLW9uZQ",
    "comment": "xoxb" + "-2837465019-Lw8Xn3Kd7Qz",
    "document": "s3cr3t-" + "Pw4Tn9Rv",
    "error": "glpat" + "-Rk7Vm2Xq9Zt4Wn8Bd3Fh",
    "header": "sk-ant-" + "api03-Mq8Wz2Xk7Vn4Rt9Bd3Fh",
    "refused": "AKIA" + "W3XK8V2NQ7ZT4MBD",
}
SOURCES = {"app.log", "logs.sqlite", "logs.sqlite-wal", "runbook.md"}
"""What holds the secrets because they were put there: what came from outside stays as it came."""
LINE = "2026-11-30 10:33:00,000 ERROR mover: login failed: password={entry} for wf_alpha_001\n"


class Curious(Investigator):
    """Looks at everything that a stranger wrote, and writes what it saw wherever it may."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        """The next answer."""
        turn = 1 + sum(message["role"] == "assistant" for message in body["messages"])
        super().__call__(body)
        said = str(body["messages"][-1]["content"])[-1500:]
        if turn == 1:
            return calls(
                ("search_logbook", {"text": "cannot resolve", "order": "oldest"}),
                ("search_logbook", {"text": "login failed"}),
                ("get_ticket", {"key": "OPS-7", "parts": ["comments", "changes", "links"]}),
                ("search_tickets", {"text": "needle"}),
                ("search_documents", {"text": "needle"}),
            )
        if turn == 2:
            return calls(
                ("record_finding", CLAIM),
                ("write_notes", {"section": "open_questions", "text": said}),
                ("propose_ticket_comment", {"key": "OPS-7", "text": said}),
                ("search_logbook", {"text": said[:900]}),
            )
        return calls(("submit_report", {**REPORT, "not_checked": [said[:1000]]}))


def everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every byte that is kept: files as they are, and git objects unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in SOURCES:
            yield str(path.relative_to(folder)), path.read_bytes()
    objects = subprocess.run(
        ["git", "-C", folder / "notes", "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True, check=True,
    )  # fmt: skip
    yield "git objects", objects.stdout


@pytest.mark.bad_input("B69", "B088")
def test_a_secret_that_came_in_by_any_door_is_found_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    workspace = made_workspace(folder)
    with (folder / "app.log").open("a") as log:
        log.write(LINE.format(**SECRETS))
    workspace.logbooks["logs"].import_file(folder / "app.log", "app.log")
    (folder / "docs").mkdir()
    (folder / "docs" / "runbook.md").write_text(
        f"# The needle\n\nLog in with https://ops:{SECRETS['document']}@wiki.example.org/needle.\n"
    )
    workspace.libraries["documents"].import_folder(folder / "docs")
    issue = Issue(
        "OPS-7", "needle", f"token {SECRETS['ticket']}", comments=[Remark(SECRETS["comment"])]
    )
    error = Fault(
        400, {"X-Seraph-LoginReason": SECRETS["header"], "Content-Type": "application/json"},
        json.dumps({"errorMessages": [f"no field called {SECRETS['error']}"]}).encode(),
    )  # fmt: skip
    with (
        Jira(Site(issues=[issue])) as jira,
        MessagesApi(responder=Curious(turns=3)) as api,
        RunningDaemon(
            folder, api, environ={"JIRA_DESK_TOKEN": jira.site.token},
            rest=f"trackers:\n- name: desk\n  kind: jira\n  url: {jira.url}\n  projects: [OPS]\n"
            f"  user: {jira.site.user}\n  write: true\n",
        ) as daemon,
    ):  # fmt: skip
        jira.fault("/search/jql", *[error] * 20)
        refused = daemon.post("/v1/alerts/alertmanager", {"version": SECRETS["refused"]})
        told = alert(
            "wf_alpha_001",
            annotations={"summary": f"see {SECRETS['annotation']}", "api_key": SECRETS["alert"]},
        )
        told["labels"]["token"] = SECRETS["alert"]
        answer = daemon.post("/v1/alerts/alertmanager", payload(told))
        [incident] = [str(one["id"]) for one in answer.json()["incidents"]]
        daemon.wait_for([incident])
        pages = [
            refused.text, answer.text,
            *(daemon.get(path).text for path in ("/v1/incidents", f"/v1/incidents/{incident}", "/metrics")),
            *(daemon.copilot(*words).stdout for words in (("incidents", "show", incident), ("outbox", "list"), ("scratch", "list", incident))),
        ]  # fmt: skip
        calls_made = {str(event.data.get("tool")) for event in daemon.events(incident)}

    asked = [json.dumps(received.body).encode() for received in api.requests]
    received = [repr(one).encode() for one in jira.requests]
    places = [
        *everything(folder),
        *((f"page {n}", page.encode()) for n, page in enumerate(pages)),
        *((f"request {n}", body) for n, body in enumerate(asked)),
        *((f"question to Jira {n}", body) for n, body in enumerate(received)),
    ]
    assert {
        "get_ticket",
        "search_tickets",
        "search_documents",
        "propose_ticket_comment",
    } < calls_made
    assert b"<secret:" in b"".join(asked)
    assert [(name, place) for place, kept in places for name, secret in SECRETS.items() if secret.encode() in kept] == []  # fmt: skip
    assert sum(len(kept) for _, kept in places) > 100_000

"""Claims about what senders get wrong, against the whole daemon: HTTP in, HTTP and commands out."""

import json
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.daemon.running import Investigator, RunningDaemon, alert, payload
from tests.doubles.messages_api import MessagesApi
from tests.doubles.messages_api.script import Reply
from tests.intake.test_bounds import BAD

ALERTMANAGER = "/v1/alerts/alertmanager"
KINDS = ("alertmanager", "grafana", "generic")
NO_ALERT = {"B02 null": b"null", "B03 array": b"[]", "B04 object": b"{}", "text": b'"x"'}
CONTROLS = {chr(code) for code in [*range(32), *range(127, 160)]} - {"\n"}


@dataclass
class Held:
    """Plays the model, and answers nobody before it is told to."""

    story: Investigator = field(default_factory=lambda: Investigator(turns=3))
    asked: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)

    def __call__(self, body: dict[str, Any]) -> Reply:
        self.asked.set()
        self.release.wait(60)
        return self.story(body)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Return a daemon that all tests share: each looks at its own alerts only."""
    folder = tmp_path_factory.mktemp("bad-alerts")
    with MessagesApi(responder=Investigator(turns=3)) as api, RunningDaemon(folder, api) as daemon:
        yield daemon


def send(daemon: RunningDaemon, kind: str, body: bytes) -> httpx2.Response:
    """Return the answer to a body as it is."""
    assert daemon.plate
    headers = {"content-type": "application/json"}
    url = f"{daemon.plate.url}/v1/alerts/{kind}"
    return httpx2.post(url, content=body, headers=headers, timeout=30, trust_env=False)


def told(daemon: RunningDaemon, workflow: str) -> str:
    """Return the notes of the incident about that workflow."""
    [found] = {
        one["incident"]
        for one in daemon.get("/v1/alerts?limit=1000").json()["alerts"]
        if one["labels"].get("workflow") == workflow
    }
    daemon.wait((daemon.folder / "notes" / found / "STATE.md").exists)
    return daemon.text(found, "STATE.md")


@pytest.mark.bad_input(
    "B01", "B02", "B03", "B04", "B05", "B06", "B07", "B10", "B12", "B13", "B14", "B15", "B16"
)
@pytest.mark.parametrize("name", [*BAD, *NO_ALERT])
def test_what_is_no_alert_is_refused_in_one_line_and_nothing_of_it_is_kept(
    daemon: RunningDaemon, name: str
) -> None:
    body = {**BAD, **NO_ALERT}[name]
    before = daemon.get("/v1/alerts?limit=1000").json()["alerts"]

    answers = [send(daemon, kind, body) for kind in KINDS]

    assert {answer.status_code for answer in answers} == {413 if len(body) > 1 << 20 else 400}
    for answer in answers:
        [(key, said)] = answer.json().items()
        assert key == "error"
        assert 0 < len(said) < 300
        assert "Traceback" not in said
    assert daemon.get("/v1/alerts?limit=1000").json()["alerts"] == before


@pytest.mark.bad_input("B08")
@pytest.mark.parametrize("version", ["3", 4, None])
def test_a_group_of_another_version_is_refused_by_its_name(
    daemon: RunningDaemon, version: str | int | None
) -> None:
    answer = daemon.post(ALERTMANAGER, {**payload(alert("wf_version")), "version": version})

    assert answer.status_code == 400
    assert ("no version" if version is None else repr(str(version))) in answer.json()["error"]


ODD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    # of the group, of the alert, what STATE.md says
    "wf_B09": ({"notification_reason": "first"}, {"mood": "bad"}, "WorkflowStalled"),
    "wf_B19_year_1": ({}, {"startsAt": "0001-01-01T00:00:00Z"}, "WorkflowStalled"),
    "wf_B19_year_9999": ({}, {"startsAt": "9999-12-31T23:59:59Z"}, "lies ahead"),
    "wf_B19_words": ({}, {"startsAt": "garbage"}, "WorkflowStalled"),
    "wf_B19_zone": ({}, {"startsAt": "2026-11-30T22:00:00+14:00"}, "2026-11-30T08:00:00Z"),
    "wf_B20": ({}, {"endsAt": "2020-01-01T00:00:00Z"}, "before it started"),
    "wf_B31": ({"truncatedAlerts": 900}, {}, "900 more alerts were cut"),
    "wf_B32": ({"groupKey": '../{"' * 13_000}, {}, "WorkflowStalled"),
    "wf_report_B045": ({}, {"generatorURL": "?orgId=1"}, "WorkflowStalled"),
    "wf_report_B044": ({}, {"fingerprint": None}, "WorkflowStalled"),
}


@pytest.mark.bad_input("B09", "B19", "B20", "B31", "B32", "B044", "B045")
@pytest.mark.parametrize("workflow", ODD)
def test_what_is_odd_about_an_alert_is_taken_and_told_in_the_notes(
    daemon: RunningDaemon, workflow: str
) -> None:
    group, member, says = ODD[workflow]

    answer = daemon.post(ALERTMANAGER, {**payload(alert(workflow, **member)), **group})

    assert answer.status_code == 200
    assert [one["outcome"] for one in answer.json()["incidents"]] == ["opened"]
    assert says in told(daemon, workflow)


@pytest.mark.bad_input("B21", "B22")
def test_labels_that_would_act_or_have_no_end_are_shown_cut_and_spelled_out(
    daemon: RunningDaemon,
) -> None:
    labels = {
        "alertname": "Odd\x1b[2J\u202e", "workflow": "wf_B22", "a\nb": "1", "c\0d": "\x9b2J",
        "\U0001f600": "x", "long": "y" * 900_000,
    }  # fmt: skip
    answer = daemon.post(ALERTMANAGER, payload(alert("", labels=labels)))
    notes = told(daemon, "wf_B22")
    listed = daemon.copilot("alerts", "list", "--limit", "1000")

    assert answer.status_code == 200
    assert "c\\x00d" in notes
    assert "\U0001f600" in notes
    assert len(notes) < 100_000
    assert listed.returncode == 0
    for shown in (notes, listed.stdout):
        assert "Odd\\x1b[2J" in shown
        assert not CONTROLS.intersection(shown)


@pytest.mark.bad_input("B17")
def test_a_group_without_alerts_is_taken_and_opens_nothing(daemon: RunningDaemon) -> None:
    answer = daemon.post(ALERTMANAGER, payload())

    assert (answer.status_code, answer.json()) == (200, {"incidents": []})


@pytest.mark.bad_input("B18")
def test_ten_thousand_alerts_of_one_post_are_one_incident(daemon: RunningDaemon) -> None:
    members = [
        {"labels": {"alertname": "B18", "i": f"n{number}"}, "startsAt": "2026-11-30T08:00:00Z"}
        for number in range(10_000)
    ]
    body = json.dumps(payload(*members), separators=(",", ":")).encode()

    answer = send(daemon, "alertmanager", body)

    assert len(body) < 1 << 20
    assert {one["id"] for one in answer.json()["incidents"]} == {
        answer.json()["incidents"][0]["id"]
    }
    assert sum(one["alerts"] for one in answer.json()["incidents"]) == 10_000


@pytest.mark.bad_input("B23", "B24")
def test_the_end_before_the_beginning_and_all_of_it_again_are_one_incident(
    daemon: RunningDaemon,
) -> None:
    over = payload(alert("wf_B24", status="resolved", endsAt="2026-11-30T11:00:00Z"))
    answers = [
        daemon.post(ALERTMANAGER, one)
        for one in (over, payload(alert("wf_B24")), over, payload(alert("wf_B24")))
    ]

    assert len({one["id"] for answer in answers for one in answer.json()["incidents"]}) == 1
    [known] = [
        one
        for one in daemon.get("/v1/alerts?limit=1000").json()["alerts"]
        if one["labels"].get("workflow") == "wf_B24"
    ]
    assert (known["count"], known["status"]) == (4, "resolved")


@pytest.mark.bad_input("B33")
def test_a_full_queue_is_answered_503_and_the_same_alert_is_taken_later(tmp_path: Path) -> None:
    model = Held()

    with (
        MessagesApi(responder=model) as api,
        RunningDaemon(tmp_path, api, workers=1, intake="  backlog: 2") as daemon,
    ):
        taken = daemon.send("wf_1", "wf_2")
        refused = daemon.post(ALERTMANAGER, payload(alert("wf_3")))
        repeated = daemon.send("wf_1")
        model.release.set()
        daemon.wait_for(taken)
        [later] = daemon.send("wf_3")
        daemon.wait_for([later])

    assert refused.status_code == 503
    assert refused.headers["Retry-After"]
    assert "2 incidents wait already" in refused.json()["error"]
    assert repeated == taken[:1]


@pytest.mark.bad_input("B33")
def test_a_daemon_that_leaves_answers_503_and_the_next_one_takes_it(tmp_path: Path) -> None:
    model = Held()

    with MessagesApi(responder=model) as api, RunningDaemon(tmp_path, api) as daemon:
        daemon.send("wf_1")
        daemon.wait(model.asked.is_set)
        assert daemon.process
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait(lambda: daemon.get("/readyz").status_code == 503)
        refused = daemon.post(ALERTMANAGER, payload(alert("wf_2")))
        model.release.set()
        assert daemon.process.wait(30) == 0
        daemon.start()
        daemon.wait_for(daemon.send("wf_2"))

    assert refused.status_code == 503
    assert refused.headers["Retry-After"]
    assert "leaving" in refused.json()["error"]

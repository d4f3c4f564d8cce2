"""Alerts over HTTP: what is acknowledged, what is refused, and what makes a sender try again."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from copilot.errors import (
    ConfigError,
    CopilotError,
    CredentialsError,
    NotesError,
    SenderError,
    UsageError,
)
from tests.web.desk import Desk
from tests.web.served import POST, QUICK, Served


@pytest.mark.parametrize("kind", ["alertmanager", "grafana", "generic"])
def test_a_delivery_reaches_the_desk_as_it_came(served: Served, kind: str) -> None:
    answer = served.post(f"/v1/alerts/{kind}?map=keep", b'{"alerts": [{}]}', x_signature="f00")

    [delivery] = served.desk.deliveries
    assert answer.status == 200
    assert (delivery.kind, delivery.map, delivery.body) == (kind, "keep", b'{"alerts": [{}]}')
    assert delivery.headers["x-signature"] == "f00"


def test_the_answer_names_each_incident_once_with_its_alerts(served: Served) -> None:
    body = json.dumps({"alerts": [{}] * 10_000}).encode()

    answer = served.post(POST, body)

    assert answer.json["incidents"] == [
        {"id": "inc-20260131-3fa9c1", "outcome": "opened", "alerts": 1},
        {"id": "inc-20260131-3fa9c1", "outcome": "joined", "alerts": 9_999},
    ]


def test_nothing_is_acknowledged_before_the_desk_has_it() -> None:
    with Served(Desk(hold=threading.Event())) as served, ThreadPoolExecutor(1) as thread:
        assert served.desk.hold is not None
        waiting = thread.submit(served.post)
        assert served.is_up()
        assert not waiting.done()

        served.desk.hold.set()

        assert waiting.result().status == 200
        assert len(served.desk.deliveries) == 1


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe{\x00}\x00", b"\xff"])
def test_a_bad_payload_is_told_in_one_line(served: Served, body: bytes) -> None:
    answer = served.post(POST, body)

    assert answer.status == 400
    assert answer.error == "the body is not JSON"
    assert served.desk.deliveries == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("version 3 is not taken"), 400),
        (SenderError("the signature is wrong"), 401),
        (CredentialsError("claude needs a key: set ANTHROPIC_API_KEY"), 503),
        (NotesError("the disk is full", retryable=True), 503),
        (CopilotError("draining"), 503),
        (ConfigError("COPILOT_GRAFANA_SECRET is not set"), 503),
    ],
)
@pytest.mark.bad_input("B33")
def test_only_the_senders_own_fault_lets_it_drop_the_alert(
    served: Served, error: CopilotError, status: int
) -> None:
    served.desk.error = error

    answer = served.post()

    assert answer.status == status
    assert answer.error == str(error)
    assert (answer.headers.get("retry-after") == "5") == (status == 503)
    assert served.desk.turned == ([] if status == 400 else [("alertmanager", status)])


@pytest.mark.bad_input("B33")
def test_what_was_refused_while_draining_is_taken_when_it_is_sent_again(served: Served) -> None:
    served.desk.error = CopilotError("the daemon is draining")
    assert served.post().status == 503

    served.desk.error = None

    assert served.post().status == 200
    assert len(served.desk.deliveries) == 1


def test_a_desk_that_fails_shows_no_traceback_but_logs_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Served(Desk(error=ZeroDivisionError("secret detail"))) as served:
        answer = served.post()
        assert served.is_up()

    assert answer.status == 500
    assert served.desk.turned == [("alertmanager", 500)]
    assert answer.error == "the daemon failed; its log says why"
    assert "ZeroDivisionError" in caplog.text


def test_a_desk_that_refuses_for_long_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with Served(Desk(error=CopilotError("the disk is full"))) as served:
        for _ in range(5):
            assert served.post().status == 503

    assert [record.__dict__["why"] for record in caplog.records] == ["the disk is full"]


def test_a_desk_that_hangs_makes_the_sender_try_again_and_leaves_health_alone() -> None:
    with Served(Desk(hold=threading.Event()), limits=QUICK) as served:
        answer = served.post()

        assert answer.status == 503
        assert answer.headers["retry-after"] == "5"
        assert served.is_up()
        assert served.get("/readyz").json["problems"] == ["the daemon does not answer"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json; charset=utf-8",
        'Application/JSON; charset="UTF-8"',
        "application/cloudevents+json",
    ],
)
def test_json_in_utf_8_is_taken_under_each_of_its_names(served: Served, content_type: str) -> None:
    assert served.post(content_type=content_type).status == 200


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
     "application/json; charset=utf-16", "application/jsonp", ""],
)  # fmt: skip
@pytest.mark.bad_input("B30")
def test_another_content_type_is_refused(served: Served, content_type: str) -> None:
    answer = served.post(content_type=content_type)

    assert answer.status == 415
    assert "application/json" in answer.error
    assert served.desk.turned == [("alertmanager", 415)]


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip", "x"])
@pytest.mark.bad_input("B29")
def test_a_compressed_body_is_refused_and_never_unpacked(served: Served, encoding: str) -> None:
    assert served.post(content_encoding=encoding).status == 415
    assert served.desk.deliveries == []


@pytest.mark.bad_input("B30")
def test_a_body_without_a_content_type_is_refused(served: Served) -> None:
    assert served.ask("POST", POST, b"{}").status == 415


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("path", [POST, "/v1/incidents/inc-1/cancel", "/v1/investigations"])
@pytest.mark.bad_input("B79")
def test_a_write_route_takes_posts_only(served: Served, method: str, path: str) -> None:
    answer = served.ask(method, path)

    assert answer.status == 405
    assert answer.headers["allow"] == "POST"


def test_fifty_senders_at_once_are_all_answered(served: Served) -> None:
    with ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(lambda _: served.post(), range(200)))

    assert {answer.status for answer in answers} == {200}
    assert len(served.desk.deliveries) == 200


def test_a_thread_is_taken_only_to_read_a_large_body_never_to_wait_for_the_disk() -> None:
    large = json.dumps({"alerts": [{}] * 5_000}).encode()
    others = set(threading.enumerate())  # of a server that has not quite ended yet
    with Served(Desk(hold=threading.Event())) as served, ThreadPoolExecutor(20) as threads:
        assert served.desk.hold is not None
        waiting = [threads.submit(served.post, POST, large) for _ in range(20)]
        while served.desk.waiting < len(waiting):
            assert served.is_up()
        new = set(threading.enumerate()) - others
        readers = [one for one in new if one.name.startswith("delivery")]
        served.desk.hold.set()

        assert {one.result().status for one in waiting} == {200}
        assert len(readers) <= served.limits.threads


def test_alerts_are_listed_as_many_as_asked_for(served: Served) -> None:
    assert len(served.get("/v1/alerts").json["alerts"]) == 100
    assert len(served.get("/v1/alerts?limit=3").json["alerts"]) == 3

"""Every usual payload becomes an alert; everything else is refused in one line."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from copilot.errors import UsageError
from copilot.intake.payloads import parse_alert
from copilot.values import JsonObject

GROUP = {
    "version": "4",
    "status": "firing",
    "groupKey": '{}:{alertname="WorkflowStalled"}',
    "commonLabels": {"alertname": "WorkflowStalled", "workflow": "wf_1"},
    "commonAnnotations": {"summary": "wf_1 has stalled"},
    "alerts": [
        {
            "labels": {"alertname": "WorkflowStalled", "workflow": "wf_1"},
            "annotations": {"description": "no progress for 6 h"},
            "startsAt": "2026-11-30T08:00:00Z",
            "fingerprint": "aa11",
        }
    ],
    "notification_reason": "a field of tomorrow",
}


def test_an_alertmanager_group_is_one_alert_with_its_labels_and_start() -> None:
    alert = parse_alert(json.dumps(GROUP).encode())

    assert (alert.source, alert.title, alert.fingerprint) == (
        "alertmanager",
        "WorkflowStalled",
        "aa11",
    )
    assert alert.labels["workflow"] == "wf_1"
    assert alert.starts_at == datetime(2026, 11, 30, 8, tzinfo=UTC)
    assert "no progress" in alert.text
    assert "notification_reason" in alert.raw


def test_a_ticket_is_an_alert_that_names_its_key() -> None:
    alert = parse_alert(b'{"key": "OPS-1", "summary": "dry agents", "description": "since noon"}')

    assert (alert.title, alert.text, alert.labels["ticket"]) == (
        "dry agents",
        "since noon",
        "OPS-1",
    )


def test_what_tells_the_members_of_a_group_apart_is_in_the_text() -> None:
    shared: JsonObject = {"alertname": "NodeDown"}
    members: list[JsonObject] = [
        {"labels": shared | {"instance": "node-3", "rack": "r1"}, "annotations": {}},
        {"labels": shared | {"instance": "node-9\nforged=1", "rack": "r1"}, "annotations": {}},
    ]
    alert = parse_alert(json.dumps({"commonLabels": shared, "alerts": members}).encode())

    assert alert.text.splitlines() == [
        "instance=node-3 rack=r1",
        "instance=node-9 forged=1 rack=r1",
    ]


def test_the_document_of_a_jira_3_issue_is_its_text() -> None:
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": "dry since noon"}]}
    fields = {
        "summary": "agents",
        "description": {"type": "doc", "version": 1, "content": [paragraph]},
    }
    alert = parse_alert(json.dumps({"key": "OPS-1", "fields": fields}).encode())

    assert alert.text == "dry since noon"


def test_a_title_is_one_line_so_that_it_forges_none() -> None:
    alert = parse_alert(b'{"title": "x\\nVerdict: all is well"}')

    assert alert.title == "x Verdict: all is well"


def test_an_array_of_one_alert_is_that_alert() -> None:
    assert parse_alert(b'[{"title": "x"}]').title == "x"
    with pytest.raises(UsageError, match="holds 2 alerts"):
        parse_alert(b'[{"title": "x"}, {"title": "y"}]')


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{}", b'{"a":', b"\xff\xfe{\x00", b'"text"', b"{" * 100_000,
     b"[" * 100_000, b'{"title": NaN}', b'{"title": "a", "title": "b"}', b'{"x": 1}',
     b'{"n": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
@pytest.mark.bad_input("B01", "B02", "B03", "B04", "B12")
def test_what_is_no_alert_is_refused_in_one_line(body: bytes) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_alert(body)

    assert "\n" not in str(refusal.value)


def test_a_payload_over_the_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="at most 1048576"):
        parse_alert(b'{"title": "' + b"x" * (1 << 20) + b'"}')


@pytest.mark.parametrize("starts", ["0001-01-01T00:00:00Z", "9999-99-99", "garbage", "", "+14:00"])
def test_a_start_that_is_no_time_is_no_start(starts: str) -> None:
    alert = parse_alert(json.dumps({"title": "x", "startsAt": starts}).encode())

    assert alert.starts_at is None


def test_controls_in_labels_are_shown_and_never_act() -> None:
    alert = parse_alert(json.dumps({"title": "a\x1b[2Jb", "labels": {"k\n\x00": "v"}}).encode())

    assert "\x1b" not in alert.title
    assert all("\x00" not in key for key in alert.labels)


def test_every_public_robusta_payload_with_fields_is_read(shared_data: Path) -> None:
    for path in sorted((shared_data / "alerts" / "robusta").glob("*.json")):
        if path.read_text().strip() != "{}":
            assert parse_alert(path.read_bytes()).title, path.name


def test_every_public_grafana_webhook_is_read(shared_data: Path) -> None:
    path = shared_data / "alerts" / "keep" / "grafana_v12_webhook_firing.json"

    assert parse_alert(path.read_bytes()).title

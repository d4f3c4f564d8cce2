"""Each alert of an Alertmanager group is one alert, and odd ones are read or refused."""

import json
from datetime import UTC, datetime

import pytest

from copilot.errors import UsageError
from copilot.intake.alertmanager import parcel
from copilot.intake.bounds import load
from copilot.values import Json, JsonObject


def group(*alerts: JsonObject, **fields: Json) -> JsonObject:
    """Return a version 4 payload."""
    payload: JsonObject = {
        "version": "4",
        "groupKey": '{}:{alertname="WorkflowStalled"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "copilot",
        "groupLabels": {"alertname": "WorkflowStalled"},
        "commonLabels": {"alertname": "WorkflowStalled"},
        "commonAnnotations": {},
        "externalURL": "http://alerts.example.org",
        "alerts": list(alerts),
    }
    return payload | fields


def alert(**fields: Json) -> JsonObject:
    """Return one alert of such a payload."""
    member: JsonObject = {
        "status": "firing",
        "labels": {"alertname": "WorkflowStalled", "workflow": "wf_1", "severity": "warning"},
        "annotations": {"summary": "wf_1 has stalled", "description": "no progress for 6 h"},
        "startsAt": "2026-11-30T08:00:00.123456789Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example.org/graph?g0.expr=x",
        "fingerprint": "aa11",
    }
    return member | fields


def test_every_alert_of_a_group_is_one_alert() -> None:
    found = parcel(group(alert(), alert(fingerprint="bb22", status="resolved")))

    assert [one.fingerprint for one in found.alerts] == ["aa11", "bb22"]
    assert [one.status for one in found.alerts] == ["firing", "resolved"]
    first = found.alerts[0]
    assert (first.title, first.text) == ("WorkflowStalled", "no progress for 6 h")
    assert first.starts_at == datetime(2026, 11, 30, 8, 0, 0, 123456, tzinfo=UTC)
    assert first.ends_at is None


@pytest.mark.parametrize("payload", [None, [], {}, "text", 7])
@pytest.mark.bad_input("B02", "B03", "B04")
def test_what_is_no_object_with_fields_is_refused(payload: Json) -> None:
    with pytest.raises(UsageError, match="no Alertmanager payload"):
        parcel(payload)


@pytest.mark.parametrize(("version", "said"), [("3", "'3'"), (4, "'4'"), (None, "no version")])
@pytest.mark.bad_input("B08")
def test_another_version_is_refused_by_its_name(version: Json, said: str) -> None:
    with pytest.raises(UsageError, match=f"says (version )?{said}"):
        parcel(group(alert(), version=version))


@pytest.mark.bad_input("B09")
def test_fields_of_tomorrow_are_kept() -> None:
    found = parcel(group(alert(mood="bad"), notification_reason="first"))

    assert '"notification_reason": "first"' in found.alerts[0].raw
    assert '"mood": "bad"' in found.alerts[0].raw


@pytest.mark.bad_input("B17")
def test_a_group_without_alerts_brings_none() -> None:
    assert parcel(group()).alerts == ()


@pytest.mark.parametrize("alerts", [None, {}, "x"])
def test_a_payload_without_a_list_of_alerts_is_refused(alerts: Json) -> None:
    with pytest.raises(UsageError, match="no list of alerts"):
        parcel(group(alerts=alerts))


@pytest.mark.parametrize("member", [None, "x", [], {}, {"labels": {}, "annotations": None}])
def test_an_alert_that_says_nothing_is_refused_by_its_number(member: Json) -> None:
    with pytest.raises(UsageError, match=r"alerts\[1\]"):
        parcel(group(alert(), alerts=[alert(), member]))


TIMES = {
    "0001-01-01T00:00:00Z": None,
    "9999-12-31T23:59:59Z": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    "9999-12-31T23:59:59-14:00": None,
    "0001-01-01T00:00:00+14:00": None,
    "2026-11-30T22:00:00+14:00": datetime(2026, 11, 30, 8, tzinfo=UTC),
    "2026-11-30T08:00:00+99:00": None,
    "garbage": None,
    "": None,
    "2024-11-29 06:15:32.570000+00:00": datetime(2024, 11, 29, 6, 15, 32, 570000, tzinfo=UTC),
    "2022-07-29T11:13:27.3Z": datetime(2022, 7, 29, 11, 13, 27, 300000, tzinfo=UTC),
    "2025-02-03T21:41:42.853014+01.00": datetime(2025, 2, 3, 20, 41, 42, 853014, tzinfo=UTC),
    "1764489600": datetime(2025, 11, 30, 8, tzinfo=UTC),
    "1764489600000": datetime(2025, 11, 30, 8, tzinfo=UTC),
}


@pytest.mark.parametrize(("text", "time"), TIMES.items(), ids=TIMES.keys())
@pytest.mark.bad_input("B19")
def test_a_start_is_an_instant_or_none_and_never_a_crash(text: str, time: datetime | None) -> None:
    [found] = parcel(group(alert(startsAt=text))).alerts

    assert found.starts_at == time


@pytest.mark.bad_input("B31")
def test_how_many_alerts_the_sender_cut_is_known() -> None:
    assert parcel(group(alert(), truncatedAlerts=900)).truncated == 900
    assert parcel(group(alert(), truncatedAlerts="many")).truncated == 0


@pytest.mark.bad_input("B21")
def test_a_label_of_a_mebibyte_is_cut_and_two_of_them_stay_two() -> None:
    long = "x" * 500_000
    found = parcel(
        group(alert(labels={"workflow": f"{long}1"}), alert(labels={"workflow": f"{long}2"}))
    )

    one, two = (entry.labels["workflow"] for entry in found.alerts)
    assert len(one) <= 2000
    assert one != two


@pytest.mark.bad_input("B22")
def test_label_names_with_controls_are_shown_escaped() -> None:
    body = json.dumps(group(alert(labels={"a\nb": "1", "c\x00d": "2", "😀": "\x1b[2J"}))).encode()
    [found] = parcel(load(body)).alerts

    assert found.labels["c\\x00d"] == "2"
    assert found.labels["😀"] == "\\x1b[2J"
    assert "\x00" not in found.raw + "".join(found.labels)
    assert "\x1b" not in found.raw


@pytest.mark.bad_input("B32")
def test_a_group_key_is_any_text_or_number() -> None:
    assert parcel(group(alert(), groupKey=666)).group == "666"
    assert len(parcel(group(alert(), groupKey='{"}' * 20_000)).group) == 60_000


def test_an_alert_without_a_name_is_called_by_its_labels() -> None:
    found = parcel(group(alert(labels={"workflow": "wf_1", "a": "b"}, annotations={})))

    assert found.alerts[0].title == "a=b, workflow=wf_1"


def test_more_alerts_than_are_taken_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 10000"):
        parcel(group(alerts=[alert()] * 10_001))

"""What comes through the door is told apart by the configured labels and nothing else."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest

from copilot.errors import InboxError, UsageError
from copilot.intake.payloads import from_words
from copilot.settings import SettingsFile
from copilot.values import Json, JsonObject, text_at

from .box import NOW, Box, door
from .test_alertmanager import alert, group


def body(payload: Json) -> bytes:
    """Return the payload as it is sent."""
    return json.dumps(payload).encode()


def labels(**named: str) -> JsonObject:
    """Return the labels of an alert about a stalled workflow."""
    return {"alertname": "WorkflowStalled", **named}


def settings(**intake: Any) -> SettingsFile:
    """Return settings whose section `intake` says this."""
    return SettingsFile.model_validate_json(json.dumps({"intake": intake}))


def stalled(count: int, **fields: Json) -> JsonObject:
    """Return a group of that many stalled workflows."""
    members = [
        alert(labels=labels(workflow=f"wf_{number}"), fingerprint=f"f{number}", **fields)
        for number in range(count)
    ]
    return group(*members)


def test_the_answer_names_the_incident_of_each_alert() -> None:
    box = Box()
    counts: list[str] = []
    taken = door(box, counts=counts).take(body(stalled(2)), "alertmanager")

    assert [one.outcome for one in taken] == ["opened", "opened"]
    assert counts == ["alertmanager opened"] * 2


@pytest.mark.bad_input("B23")
def test_the_same_payload_a_thousand_times_is_one_incident_and_one_key() -> None:
    box = Box()
    entrance = door(box)
    for _ in range(1000):
        entrance.take(body(group(alert())), "alertmanager")

    assert len({one.key for one in box.kept}) == 1
    assert len(box.incidents) == 1


def test_an_alert_that_began_anew_has_another_key_and_the_same_identity() -> None:
    box = Box()
    entrance = door(box)
    entrance.take(body(group(alert())), "alertmanager")
    entrance.take(body(group(alert(startsAt="2026-11-30T11:00:00Z"))), "alertmanager")

    assert len({one.key for one in box.kept}) == 2
    assert len(box.incidents) == 1


@pytest.mark.bad_input("B041")
def test_changing_fields_make_no_new_incident() -> None:
    box = Box()
    entrance = door(box)
    entrance.take(body(group(alert())), "alertmanager")
    entrance.take(
        body(group(alert(annotations={"summary": "now 95 %"}, generatorURL="?x"))), "alertmanager"
    )

    assert len({one.key for one in box.kept}) == len(box.incidents) == 1


@pytest.mark.bad_input("B042")
def test_two_workflows_with_one_alertname_are_two_incidents() -> None:
    box = Box()
    door(box).take(body(stalled(2)), "alertmanager")

    assert len(box.incidents) == 2


@pytest.mark.bad_input("B044")
def test_a_missing_fingerprint_is_computed_from_the_labels() -> None:
    box = Box()
    entrance = door(box)
    entrance.take(body(group(alert(fingerprint=""))), "alertmanager")
    entrance.take(body(group(alert(fingerprint="", annotations={}))), "alertmanager")

    assert len({one.key for one in box.kept}) == 1
    assert text_at(box.kept[0].alert, "fingerprint")


@pytest.mark.bad_input("B050")
def test_two_replicas_of_prometheus_send_one_alert() -> None:
    """Their fingerprints differ, as they are over all labels."""
    box = Box()
    members = [
        alert(labels=labels(workflow="wf_1", prometheus_replica=name), fingerprint=name)
        for name in ("a", "b")
    ]
    door(box).take(body(group(*members)), "alertmanager")

    assert len({one.key for one in box.kept}) == len(box.incidents) == 1


def test_a_resolved_alert_has_the_key_of_its_firing_and_its_end() -> None:
    box = Box()
    entrance = door(box)
    entrance.take(body(group(alert())), "alertmanager")
    over = alert(status="resolved", endsAt="2026-11-30T09:00:00Z")
    entrance.take(body(group(over, status="resolved")), "alertmanager")

    firing, resolved = box.kept
    assert (firing.key, firing.status, firing.ends_at) == (resolved.key, "firing", None)
    assert resolved.status == "resolved"
    assert resolved.ends_at is not None


def test_without_a_start_the_end_is_that_of_the_same_alert_whatever_the_hour() -> None:
    box = Box()
    told = {"title": "wf_1 has stalled"}
    for now, word in ((NOW, "firing"), (NOW + timedelta(hours=2), "resolved")):
        door(box, now=now).take(body({**told, "status": word}), "generic")

    firing, resolved = box.kept
    assert firing.key == resolved.key
    assert not firing.is_dated


@pytest.mark.bad_input("B20")
def test_an_end_before_the_start_is_accepted_and_flagged() -> None:
    box = Box()
    over = alert(status="resolved", endsAt="2026-11-30T07:00:00Z")
    door(box).take(body(group(over)), "alertmanager")

    assert "ended 2026-11-30T07:00:00Z, before it started" in text_at(box.kept[0].alert, "text")


@pytest.mark.bad_input("B19")
def test_a_start_in_the_year_9999_is_flagged_and_not_used() -> None:
    box = Box()
    door(box).take(body(group(alert(startsAt="9999-12-31T23:59:59Z"))), "alertmanager")

    assert box.kept[0].starts_at == NOW
    assert "9999-12-31T23:59:59Z" in text_at(box.kept[0].alert, "text")


@pytest.mark.bad_input("B31")
def test_alerts_that_the_sender_cut_are_told_in_the_text() -> None:
    box = Box()
    door(box).take(body(group(alert(), truncatedAlerts=900)), "alertmanager")

    assert "… 900 more alerts were cut by the sender" in text_at(box.kept[0].alert, "text")


@pytest.mark.bad_input("B17")
def test_a_group_without_alerts_is_accepted_and_asks_nothing_of_the_inbox() -> None:
    box = Box()

    assert door(box).take(body(group()), "alertmanager") == []
    assert box.batches == []


@pytest.mark.bad_input("B32")
def test_a_group_key_becomes_a_digest() -> None:
    box = Box()
    door(box).take(body(group(alert(), groupKey='../{"' * 13_000)), "alertmanager")

    assert box.kept[0].group.isalnum()
    assert len(box.kept[0].group) == 64


@pytest.mark.parametrize(
    ("word", "severity"),
    [("critical", "critical"), ("Warning", "normal"), ("P2", "high"), ("sev1", "critical"),
     ("none", "normal"), ("", "normal")],
)  # fmt: skip
def test_severity_comes_from_the_label_and_the_unknown_is_normal(word: str, severity: str) -> None:
    box = Box()
    door(box).take(body(group(alert(labels=labels(severity=word)))), "alertmanager")

    assert box.kept[0].severity == severity


@pytest.mark.bad_input("B049")
def test_ignored_alerts_are_kept_with_their_reason_and_the_rule_is_counted() -> None:
    box = Box()
    entrance = door(box)
    entrance.take(body(group(alert(labels={"alertname": "Watchdog"}))), "alertmanager")

    assert box.kept[0].ignored == "fires always, to show that alerts work"
    assert entrance.use.times()["ignore alertname=Watchdog"] == 1


def test_a_heartbeat_is_known_by_its_words() -> None:
    box = Box()
    entrance = door(box)
    text = "This alert is always firing, to certify that Alertmanager is working properly."
    entrance.take(
        body(group(alert(labels={"alertname": "Pulse"}, annotations={"description": text}))),
        "alertmanager",
    )

    assert box.kept[0].ignored
    assert entrance.use.times()["heartbeat"] == 1


@pytest.mark.bad_input("B043")
def test_a_rule_that_no_alert_ever_used_is_named() -> None:
    said = SettingsFile.model_validate_json('{"identity_labels": ["workflow", "wrokflow"]}')
    entrance = door(Box(), said)
    entrance.take(body(group(alert())), "alertmanager")

    assert entrance.use.never() == ["identity label wrokflow", "ignore alertname=Watchdog"]


def test_up_to_the_limit_every_workflow_is_an_incident_of_its_own() -> None:
    box = Box()
    door(box, settings(storm_over=10)).take(body(stalled(10)), "alertmanager")

    assert len(box.incidents) == 10


def test_beyond_it_the_group_is_one_incident_that_lists_its_members() -> None:
    box = Box()
    entrance = door(box, settings(storm_over=10))
    entrance.take(body(stalled(11)), "alertmanager")

    assert len(box.incidents) == 1
    assert len({one.key for one in box.kept}) == 11
    text = text_at(box.kept[0].alert, "text")
    assert "11 alerts of one group came at once, of 11 different troubles." in text
    assert [f"workflow=wf_{number}" in text for number in range(11)] == [True] * 11
    assert entrance.use.times()["storm"] == 1


def test_a_storm_has_the_same_identity_whoever_is_in_it() -> None:
    box = Box()
    entrance = door(box)
    payload = stalled(30)
    members = payload["alerts"]
    assert isinstance(members, list)
    entrance.take(body(payload), "alertmanager")
    entrance.take(body({**payload, "alerts": members[10:]}), "alertmanager")

    assert len(box.incidents) == 1


def test_a_storm_of_one_group_is_not_the_storm_of_another() -> None:
    box = Box()
    entrance = door(box)
    entrance.take(body(stalled(11)), "alertmanager")
    entrance.take(
        body({**stalled(11), "groupLabels": {"alertname": "WorkflowStalled", "cluster": "b"}}),
        "alertmanager",
    )

    assert len(box.incidents) == 2


def test_ignored_alerts_stay_out_of_a_storm() -> None:
    box = Box()
    payload = stalled(11)
    members = payload["alerts"]
    assert isinstance(members, list)
    members.append(alert(labels={"alertname": "Watchdog"}, fingerprint="w"))
    door(box).take(body(payload), "alertmanager")

    [watchdog] = [one for one in box.kept if one.ignored]
    assert watchdog.identity not in box.incidents


@pytest.mark.parametrize("label", ["instance", "workflow"])
@pytest.mark.bad_input("B18")
def test_ten_thousand_alerts_in_one_post_are_one_incident_with_the_right_count(label: str) -> None:
    """Copies of one trouble, and a storm of ten thousand."""
    members: list[Json] = [
        {"labels": {"alertname": "A", label: f"n{number}"}, "startsAt": "2026-11-30T08:00:00Z"}
        for number in range(10_000)
    ]
    sent = json.dumps(group(alerts=members), separators=(",", ":")).encode()
    arrivals = door(Box())
    started = time.process_time()
    found = arrivals.arrivals(sent, "alertmanager")

    assert time.process_time() - started < 5  # seconds of this process; it takes 0.7
    assert len(sent) < 1 << 20
    assert len({one.key for one in found}) == 10_000
    assert len({one.identity for one in found}) == 1


def test_nine_thousand_alerts_that_share_no_label_are_no_burden() -> None:
    members: list[Json] = [{"labels": {f"k{number}": "v"}} for number in range(9000)]
    started = time.process_time()
    found = door(Box()).arrivals(body(group(alerts=members)), "alertmanager")

    assert time.process_time() - started < 5  # each label against each alert would be a minute
    assert len({one.identity for one in found}) == 1


@pytest.mark.bad_input("B088")
def test_no_secret_gets_through() -> None:
    key = "AKIA" + "Q3EGTVZX5WJLMN7P"
    box = Box()
    secrets = alert(
        labels=labels(workflow="wf_1", note=key, password="hunter2xyz9"),
        annotations={"description": f"used {key}"},
        fingerprint=key,
    )
    door(box).take(body(group(secrets, groupLabels={"note": key})), "alertmanager")

    kept = json.dumps(box.kept[0].alert)
    assert key not in kept
    assert "hunter2xyz9" not in kept


@pytest.mark.bad_input("B69")
def test_a_refusal_quotes_what_came_without_its_secrets_and_its_hidden_signs() -> None:
    key = "AKIA" + "Q3EGTVZX5WJLMN7P"

    with pytest.raises(UsageError) as refused:
        door(Box()).take(body({"version": f"{key}\u202e\x1b[2J"}), "alertmanager")

    assert key not in str(refused.value)
    assert "<secret:aws:" in str(refused.value)
    assert not {"\x1b", "\u202e"} & set(str(refused.value))


@pytest.mark.bad_input("B33")
def test_a_full_inbox_is_told_to_the_sender_and_nothing_is_counted() -> None:
    box = Box()
    counts: list[str] = []
    box.is_full = True
    with pytest.raises(InboxError):
        door(box, counts=counts).take(body(group(alert())), "alertmanager")

    assert (box.kept, counts) == ([], [])


def test_who_does_not_wait_is_told_the_same_and_counted_once_it_is_kept() -> None:
    counts: list[str] = []
    entrance = door(Box(), counts=counts)

    assert [one.outcome for one in entrance.begin(body(stalled(2)), "alertmanager").result()] == [
        "opened",
        "opened",
    ]
    assert counts == ["alertmanager opened"] * 2


def test_a_full_inbox_is_told_to_who_does_not_wait() -> None:
    box = Box()
    counts: list[str] = []
    box.is_full = True

    begun = door(box, counts=counts).begin(body(group(alert())), "alertmanager")

    assert isinstance(begun.exception(), InboxError)
    assert counts == []


def test_a_group_without_alerts_is_answered_at_once() -> None:
    assert door(Box()).begin(body(group()), "alertmanager").result() == []


def test_a_refused_body_is_counted_and_nothing_is_kept() -> None:
    box = Box()
    counts: list[str] = []
    with pytest.raises(UsageError):
        door(box, counts=counts).take(b"[", "grafana")

    assert (box.kept, counts) == ([], ["grafana refused"])


def test_alerts_of_a_poller_go_the_same_way() -> None:
    box = Box()
    [taken] = door(box).take_alerts([from_words("wf_1", "why?", NOW)], "poller:stalls")

    assert taken.outcome == "opened"
    assert box.kept[0].source == "poller:stalls"

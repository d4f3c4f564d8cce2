"""Grafana's alerts are read, old and new, and its signature is believed only when it fits."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from copilot.credentials import Secret
from copilot.errors import SenderError, UsageError
from copilot.intake.bounds import load
from copilot.intake.grafana import parcel, verify
from copilot.settings.daemon import GrafanaSettings
from copilot.values import Json, JsonObject

BODY = b'{"alerts": []}'
SECRET = "a shared secret"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SENT = str(int(NOW.timestamp()))
ALERT: JsonObject = {
    "status": "firing",
    "labels": {"alertname": "Slow", "instance": "Grafana"},
    "annotations": {"summary": "slow"},
    "startsAt": "2026-11-30T11:04:57.62281314Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "generatorURL": "?orgId=1",
    "fingerprint": "c4edaaf9f9f839b0",
    "values": {"B": 22, "C": 1},
    "orgId": 1,
}


def signature(signed: bytes, secret: str = SECRET) -> str:
    """Return the hex HMAC-SHA-256 of what is signed."""
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def check(given: str, timestamp: str | None = None, body: bytes = BODY) -> None:
    """Check a signature as the web route does."""
    headers = {"x-grafana-alerting-signature": given}
    rules = GrafanaSettings()
    if timestamp is not None:
        headers["x-sent"] = timestamp
        rules = GrafanaSettings(timestamp_header="X-Sent")
    verify(body, headers, rules, Secret(SECRET, "test"), now=NOW)


@pytest.mark.bad_input("B045")
def test_a_group_with_a_relative_address_is_read() -> None:
    """The address is decoration."""
    found = parcel({"version": "1", "orgId": 1, "groupKey": "webhook-1", "alerts": [ALERT]})

    assert (found.source, found.group) == ("grafana", "webhook-1")
    assert found.alerts[0].title == "Slow"
    assert '"generatorURL": "?orgId=1"' in found.alerts[0].raw


@pytest.mark.parametrize(("state", "status"), [("alerting", "firing"), ("ok", "resolved")])
def test_the_one_alert_of_old_grafana_is_read(state: str, status: str) -> None:
    old: JsonObject = {
        "evalMatches": [{"value": 100, "metric": "High value", "tags": None}],
        "message": "too high",
        "ruleId": 7,
        "ruleName": "High value",
        "state": state,
        "title": "[Alerting] High value",
    }
    [found] = parcel(old).alerts

    assert (found.title, found.text, found.status) == ("High value", "too high", status)


@pytest.mark.parametrize("payload", [None, [], {}, {"title": "x"}, {"alerts": 1}])
def test_what_is_no_grafana_payload_is_refused(payload: Json) -> None:
    with pytest.raises(UsageError):
        parcel(payload)


@pytest.mark.bad_input("B045")
def test_the_public_webhook_of_grafana_12_is_read(shared_data: Path) -> None:
    path = shared_data / "alerts" / "keep" / "grafana_v12_webhook_firing.json"
    [found] = parcel(load(path.read_bytes())).alerts

    assert (found.title, found.fingerprint) == ("TestAlert", "c4edaaf9f9f839b0")


def test_a_signature_over_the_body_is_believed() -> None:
    check(signature(BODY))
    check(signature(BODY).upper() + " ")


@pytest.mark.parametrize(
    "given", ["", "x", signature(b"{}"), signature(BODY, "another"), signature(BODY)[:-1], "ü" * 64]
)
def test_any_other_signature_is_refused(given: str) -> None:
    with pytest.raises(SenderError, match="does not fit"):
        check(given)


def test_a_signature_over_time_and_body_is_believed_while_it_is_fresh() -> None:
    given = signature(f"{SENT}:".encode() + BODY)

    check(given, SENT)
    with pytest.raises(SenderError, match="does not fit"):
        check(given, str(int(SENT) + 1))


@pytest.mark.parametrize("age", [timedelta(minutes=6), timedelta(minutes=-6)])
def test_a_replayed_or_predated_signature_is_refused(age: timedelta) -> None:
    sent = str(int((NOW - age).timestamp()))
    with pytest.raises(SenderError, match="too far from now"):
        check(signature(f"{sent}:".encode() + BODY), sent)


@pytest.mark.parametrize("sent", ["", "yesterday", "-1", "9" * 400, "１２３", "1764504000.5"])
def test_a_timestamp_that_is_none_is_refused(sent: str) -> None:
    with pytest.raises(SenderError, match="timestamp"):
        check(signature(f"{sent}:".encode() + BODY), sent)


def test_without_its_header_nothing_is_believed() -> None:
    with pytest.raises(SenderError, match="X-Grafana-Alerting-Signature"):
        verify(BODY, {}, GrafanaSettings(), Secret(SECRET, "test"), now=NOW)

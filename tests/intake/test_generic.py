"""A map of expressions reads any sender's payload; the maps we ship read the public ones."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from copilot.errors import ConfigError, UsageError
from copilot.intake.bounds import load
from copilot.intake.generic import Map, built_in, compiled
from copilot.settings.daemon import AlertMap
from copilot.values import Alert, Json, JsonObject

MAPS = compiled(built_in())
TEMPLATE = Path(__file__).resolve().parents[2] / "deploy" / "opensearch-alerting.mustache"


def read(name: str, payload: Json) -> list[Alert]:
    """Return the alerts that the map of that name finds."""
    return list(MAPS[name].parcel(payload).alerts)


def mapped(said: str, payload: Json) -> Alert:
    """Return the one alert that this map, written as JSON, finds."""
    [found] = Map("own", AlertMap.model_validate_json(said)).parcel(payload).alerts
    return found


PAYLOADS: dict[str, tuple[JsonObject, JsonObject]] = {
    "pagerduty": (
        {"event": {"event_type": "incident.triggered", "data": {
            "type": "incident", "id": "PX1", "status": "triggered", "title": "wf_1 stalled",
            "created_at": "2026-11-30T08:00:00Z", "priority": {"summary": "P1"}}}},
        {"event": {"event_type": "incident.resolved", "data": {
            "type": "incident", "id": "PX1", "status": "resolved", "title": "wf_1 stalled",
            "created_at": "2026-11-30T08:00:00Z", "priority": {"summary": "P1"}}}},
    ),
    "jira": (
        {"issue": {"key": "OPS-1", "fields": {
            "summary": "wf_1 stalled", "created": "2026-11-30T08:00:00.000+0000",
            "status": {"statusCategory": {"key": "new"}}, "priority": {"name": "High"}}}},
        {"key": "OPS-1", "fields": {
            "summary": "wf_1 stalled", "created": "2026-11-30T08:00:00.000+0000",
            "status": {"statusCategory": {"key": "done"}}, "priority": {"name": "High"}}},
    ),
    "robusta": (
        {"title": "wf_1 stalled", "priority": "HIGH", "fingerprint": "aa",
         "starts_at": "2026-11-30T08:00:00+00:00", "raw": None},
        {"name": "wf_1 stalled", "raw": {"status": "resolved", "fingerprint": "aa",
         "labels": {"alertname": "Stalled", "severity": "high"},
         "startsAt": "2026-11-30 08:00:00+00:00", "endsAt": "2026-11-30 09:00:00+00:00"}},
    ),
    "keep": (
        {"name": "wf_1 stalled", "status": "firing", "severity": "high", "fingerprint": "aa",
         "startedAt": "2026-11-30T08:00:00.000Z", "source": ["prometheus"], "labels": {"a": "b"}},
        {"name": "wf_1 stalled", "status": "resolved", "severity": "high", "fingerprint": "aa",
         "startedAt": "2026-11-30T08:00:00.000Z", "source": ["prometheus"], "labels": None},
    ),
    "opensearch": (
        {"monitor": "stalls", "trigger": "stalled", "keys": "wf_1", "severity": "sev2", "id": "aa",
         "state": "", "start": "1796025600000", "period_end": "2026-11-30T09:00:00Z",
         "buckets": [None]},
        {"buckets": [{"monitor": "stalls", "trigger": "stalled", "keys": "wf_1", "id": "aa",
         "state": "completed", "start": "1796025600000", "severity": "sev2"}, None]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAYLOADS)
def test_begin_and_end_of_one_trouble_are_one_alert(name: str) -> None:
    [firing], [over] = (read(name, payload) for payload in PAYLOADS[name])

    assert (firing.status, over.status) == ("firing", "resolved")
    assert firing.fingerprint == over.fingerprint
    assert firing.starts_at == over.starts_at
    assert firing.starts_at is not None
    assert firing.title == over.title
    assert "wf_1" in firing.title
    assert firing.labels["severity"]


def test_the_marks_of_two_senders_never_meet() -> None:
    one = mapped('{"title": "t", "fingerprint": "id"}', {"t": "x", "id": 26})

    assert one.fingerprint == "own:26"


def test_the_trial_event_of_pagerduty_brings_no_alert() -> None:
    assert (
        read("pagerduty", {"event": {"event_type": "pagey.ping", "data": {"type": "ping"}}}) == []
    )


def test_two_buckets_are_two_troubles() -> None:
    bucket: JsonObject = {"trigger": "stalled", "id": "a", "state": "active"}
    found = read("opensearch", {"buckets": [bucket | {"keys": "wf_1"}, bucket | {"keys": "wf_2"}]})

    assert [one.labels["alertname"] for one in found] == ["stalled wf_1", "stalled wf_2"]


def rendered(values: dict[str, str], sections: dict[str, list[dict[str, str]]]) -> bytes:
    """Return the template as OpenSearch renders it: sections, then names."""

    def section(match: re.Match[str]) -> str:
        return "".join(names(match[2], item) for item in sections.get(match[1], []))

    def names(text: str, found: dict[str, str]) -> str:
        return re.sub(r"\{\{([\w.]+)\}\}", lambda m: found.get(m[1], values.get(m[1], "")), text)

    text = TEMPLATE.read_text()
    return names(re.sub(r"(?s)\{\{#([\w.]+)\}\}(.*?)\{\{/\1\}\}", section, text), {}).encode()


def test_our_template_for_opensearch_makes_what_our_map_reads() -> None:
    period = {"ctx.trigger.name": "stalled", "ctx.monitor.name": "stalls",
              "ctx.trigger.severity": "1", "ctx.periodEnd": "2026-11-30T09:00:00Z"}  # fmt: skip
    over = [{"bucket_keys": "wf_1", "id": "a", "start_time": "1796025600000"}]

    [query] = read("opensearch", load(rendered(period, {})))
    [bucket] = read("opensearch", load(rendered(period, {"ctx.completedAlerts": over})))

    assert (query.title, query.status, query.labels["severity"]) == ("stalled", "firing", "sev1")
    assert (bucket.title, bucket.status) == ("stalled wf_1", "resolved")


def test_a_payload_for_another_map_is_refused() -> None:
    for name in ("pagerduty", "jira", "dash0", "gcpmonitoring"):
        with pytest.raises(UsageError, match="is it the right map"):
            read(name, {"x": 1})
    with pytest.raises(UsageError, match="no title and no text"):
        read("wazuh", {"x": 1})


@pytest.mark.parametrize(
    "value",
    [{"a": "1", "b": 2}, [{"key": "a", "value": "1"}, {"name": "b", "value": 2}],
     [["a", "1"], ["b", 2]], "a:1, b:2", ["a:1", "b:2"]],
)  # fmt: skip
def test_labels_come_in_every_usual_form(value: Json) -> None:
    found = mapped('{"title": "t", "labels_at": "l"}', {"t": "x", "l": value})

    assert found.labels == {"a": "1", "b": "2"}


@pytest.mark.parametrize("value", [None, 7, True, [None, 3, {}, ["x"]], {"": "x"}, {"a": None}])
def test_what_is_no_label_is_none(value: Json) -> None:
    assert mapped('{"title": "t", "labels_at": "l"}', {"t": "x", "l": value}).labels == {}


def test_a_value_that_an_expression_cannot_take_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"title of the map own cannot be read") as refusal:
        mapped('{"title": "join(\',\', t)"}', {"t": 7})

    assert "\n" not in str(refusal.value)


def test_an_expression_that_is_none_is_a_mistake_in_the_settings() -> None:
    with pytest.raises(ConfigError, match=r"intake\.maps\.own\.labels\.a: ") as problem:
        mapped('{"title": "t", "labels": {"a": "x[["}}', {})

    assert "\n" not in str(problem.value)


def payloads(folder: Path) -> Iterator[tuple[str, Json]]:
    """Return each public payload with the name of its map."""
    for path in sorted(folder.glob("keep/*.json")):
        name = path.stem.replace("_", "")
        found: Json = json.loads(path.read_text())
        scenarios = list(found.values()) if isinstance(found, dict) else []
        inner = [one["payload"] for one in scenarios if isinstance(one, dict) and "payload" in one]
        if not name.startswith("grafana"):
            yield from ((name, payload) for payload in inner or [found])
    for path in sorted(folder.glob("robusta/*.json")):
        if path.read_text().strip() != "{}":
            yield "robusta", json.loads(path.read_text())
    yield (
        "pagerduty",
        json.loads((folder / "pagerduty/webhook_v3_priority_updated.json").read_text()),
    )


def test_the_maps_read_every_public_payload(shared_data: Path) -> None:
    found = [(name, read(name, payload)) for name, payload in payloads(shared_data / "alerts")]

    assert len(found) > 35
    assert [name for name, alerts in found if not alerts] == []
    for _, alerts in found:
        assert all(one.title and one.labels for one in alerts)


def test_recoveries_in_the_public_payloads_are_over(shared_data: Path) -> None:
    over = {
        name
        for name, payload in payloads(shared_data / "alerts")
        for one in read(name, payload)
        if one.status == "resolved"
    }

    assert over == {"checkly", "checkmk", "dash0", "librenms", "thousandeyes"}

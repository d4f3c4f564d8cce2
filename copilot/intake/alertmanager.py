"""Groups of alerts as Alertmanager posts them: its webhook payload, version 4.

Each alert of the group stays one alert. Grafana posts the same core, see `grafana.py`.
Source of the format: prometheus.io, Alertmanager configuration, `webhook_config`.
"""

from copilot.errors import UsageError
from copilot.intake import fields
from copilot.intake.bounds import RAW_CHARACTERS, TEXT_CHARACTERS, check_count
from copilot.intake.parcel import FIRING, RESOLVED, Parcel
from copilot.values import Alert, Json, JsonObject, object_at, text_at

VERSION = "4"
FULL_RAW = 20
"""In groups of up to so many alerts each keeps the fields of the whole post; else the first."""


def parcel(payload: Json) -> Parcel:
    """The alerts of a version 4 payload. Raises UsageError naming what is wrong with it."""
    if not isinstance(payload, dict) or not payload:
        raise UsageError("this is no Alertmanager payload: a JSON object with alerts is wanted")
    version = payload.get("version")
    if version != VERSION:
        said = "no version" if version is None else f"version {str(version)[:40]!r}"
        raise UsageError(f'the payload says {said}; Alertmanager\'s version "{VERSION}" is read')
    return group(payload, "alertmanager")


def group(payload: JsonObject, source: str) -> Parcel:
    """The alerts of any payload that holds a list of them as Alertmanager writes it."""
    alerts = payload.get("alerts")
    if not isinstance(alerts, list):
        raise UsageError("the payload has no list of alerts under `alerts`")
    check_count(len(alerts))
    envelope: JsonObject = {key: value for key, value in payload.items() if key != "alerts"}
    rest = fields.raw(envelope)
    found = []
    for index, alert in enumerate(alerts):
        if not isinstance(alert, dict):
            raise UsageError(f"alerts[{index}] of the payload is not an object")
        whole = index == 0 or len(alerts) <= FULL_RAW
        if whole:
            raw = fields.cut(f"{fields.raw(alert)}\n{rest}", RAW_CHARACTERS)
        else:
            raw = fields.raw(alert, lines=False)
        found.append(_alert(alert, envelope, source, raw))
        if not found[-1].title and not found[-1].text:
            raise UsageError(f"alerts[{index}] of the payload has no labels and no annotations")
    return Parcel(
        source=source,
        alerts=tuple(found),
        group=text_at(payload, "groupKey"),
        labels=fields.texts(object_at(payload, "groupLabels")),
        truncated=_count(payload.get("truncatedAlerts")),
    )


def _alert(alert: JsonObject, envelope: JsonObject, source: str, raw: str) -> Alert:
    labels = fields.texts(object_at(alert, "labels"))
    annotations = fields.texts(object_at(alert, "annotations"))
    summary = annotations.get("summary", "")
    text = annotations.get("description", "") or summary or annotations.get("message", "")
    status = (text_at(alert, "status") or text_at(envelope, "status")).lower()
    return Alert(
        source=source,
        title=fields.title(
            labels.get("alertname", "")
            or summary
            or text_at(envelope, "title")
            or fields.words(labels)
        ),
        text=fields.cut(text, TEXT_CHARACTERS),
        status=RESOLVED if status == RESOLVED else FIRING,
        labels=labels,
        annotations=annotations,
        starts_at=fields.instant(text_at(alert, "startsAt")),
        ends_at=fields.instant(text_at(alert, "endsAt")),
        fingerprint=fields.cut(text_at(alert, "fingerprint"), 100),
        raw=raw,
    )


def _count(value: Json) -> int:
    """A count as the sender gives it; nothing that is none counts."""
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else 0

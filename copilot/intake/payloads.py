"""Payloads become alerts: Alertmanager and Grafana groups, Robusta, a ticket, or plain JSON.

One payload is one alert here: the members of a group share their labels, and their texts are
listed with the labels that differ. Unknown fields are kept in `raw`. Every refusal is one line that
says what was missing.
"""

from dataclasses import replace
from datetime import datetime

from connectors.adf import adf_text
from connectors.tracker import Ticket
from copilot.errors import UsageError
from copilot.intake import alertmanager, bounds, fields
from copilot.intake.bounds import RAW_CHARACTERS, TEXT_CHARACTERS
from copilot.intake.parcel import FIRING, RESOLVED, Parcel
from copilot.values import Alert, Json, JsonObject, list_at, object_at, text_at
from copilot.window import iso

MAX_BYTES = bounds.MAX_BYTES
OVER = ("resolved", "ok", "closed", "inactive", "cleared", "done")
"""What senders write as the status of what is over."""


def parse_alert(body: bytes) -> Alert:
    """The alert in *body*. Raises UsageError with one line that says why it is none."""
    return alert_of(_only(bounds.load(body)))


def parcel(payload: Json) -> Parcel:
    """The alerts in a payload whose sender is told by its fields. Raises UsageError."""
    if isinstance(payload, dict) and isinstance(payload.get("alerts"), list):
        return alertmanager.group(payload, _sender(payload))
    items = payload if isinstance(payload, list) and payload else [payload]
    bounds.check_count(len(items))
    found = [alert_of(item) for item in items]
    return Parcel("generic", tuple(replace(one, status=_status(one)) for one in found))


def alert_of(payload: Json) -> Alert:
    """The alert that a payload is, told by its fields. Raises UsageError when it is none."""
    if not isinstance(payload, dict) or not payload:
        raise UsageError("the alert is not a JSON object with fields; nothing was stored")
    if isinstance(payload.get("alerts"), list):
        alert = _group(payload)
    elif "subject" in payload and "context" in payload:
        alert = _robusta_request(payload)
    elif "fields" in payload and "key" in payload:
        alert = _ticket(payload, object_at(payload, "fields"))
    elif "summary" in payload and "key" in payload:
        alert = _ticket(payload, payload)
    else:
        alert = _plain(payload)
    if not alert.title and not alert.text:
        raise UsageError(
            "the alert has no title and no text; give it one of: title, summary, name, "
            "description, labels.alertname"
        )
    return alert


def _only(payload: Json) -> Json:
    """The payload, or the one element of an array. Raises UsageError for more."""
    if not isinstance(payload, list) or not payload:
        return payload
    if len(payload) > 1:
        raise UsageError(
            f"the file holds {len(payload)} alerts in an array; give one of them by itself"
        )
    return payload[0]


def _group(payload: JsonObject) -> Alert:
    """Alertmanager version 4 and Grafana: the same core (prometheus.io webhook_config)."""
    alerts = [item for item in list_at(payload, "alerts") if isinstance(item, dict)]
    first = alerts[0] if alerts else {}
    labels = fields.texts(object_at(payload, "commonLabels")) or fields.texts(
        object_at(first, "labels")
    )
    annotations = fields.texts(object_at(payload, "commonAnnotations")) or fields.texts(
        object_at(first, "annotations")
    )
    texts = [text_at(object_at(item, "annotations"), "description", "summary") for item in alerts]
    members = fields.differences(
        [fields.texts(object_at(item, "labels")) for item in alerts], labels
    )
    return Alert(
        source=_sender(payload),
        title=fields.title(labels.get("alertname", "") or text_at(payload, "title")),
        text=fields.cut(
            "\n".join(dict.fromkeys(filter(None, [*texts, *members]))), TEXT_CHARACTERS
        ),
        status=text_at(payload, "status") or "firing",
        labels=labels,
        annotations=annotations,
        starts_at=fields.instant(text_at(first, "startsAt")),
        fingerprint=text_at(first, "fingerprint") or fields.fingerprint(labels),
        raw=fields.raw(payload),
    )


def _sender(payload: JsonObject) -> str:
    """Who writes groups of alerts: Grafana names its organisation in them."""
    first = next(iter(list_at(payload, "alerts")), None)
    is_grafana = "orgId" in payload or (isinstance(first, dict) and "orgId" in first)
    return "grafana" if is_grafana else "alertmanager"


def _status(alert: Alert) -> str:
    return RESOLVED if alert.status.strip().lower() in OVER else FIRING


def _robusta_request(payload: JsonObject) -> Alert:
    labels = fields.texts(object_at(payload, "subject"))
    title = text_at(payload, "title")
    labels = {"alertname": title, **labels}
    return Alert(
        source="robusta",
        title=fields.title(f"{title}: {labels.get('name', '')}".rstrip(": ")),
        text=fields.cut(text_at(payload, "description"), TEXT_CHARACTERS),
        labels=labels,
        fingerprint=fields.fingerprint(labels),
        raw=fields.raw(payload),
    )


def _ticket(payload: JsonObject, issue: JsonObject) -> Alert:
    key = text_at(payload, "key")
    description = issue.get("description")
    text = description if isinstance(description, str) else adf_text(description)
    marks = " ".join(label for label in list_at(issue, "labels") if isinstance(label, str))
    labels = {"ticket": key} | ({"labels": marks} if marks else {})
    return Alert(
        source="ticket",
        title=fields.title(text_at(issue, "summary")),
        text=fields.cut(text, TEXT_CHARACTERS),
        labels=labels,
        starts_at=fields.instant(text_at(issue, "created")),
        fingerprint=fields.fingerprint(labels),
        raw=fields.raw(payload),
    )


def _plain(payload: JsonObject) -> Alert:
    """Any other object: labels and the usual names, at the top or one level down in `raw`."""
    inner = object_at(payload, "raw") or payload
    labels = fields.texts(object_at(inner, "labels")) or fields.texts(object_at(payload, "labels"))
    annotations = fields.texts(object_at(inner, "annotations"))
    title = text_at(payload, "title", "name", "summary") or labels.get("alertname", "")
    text = (
        text_at(payload, "text", "message", "body")
        or text_at(payload, "description")
        or annotations.get("description", "")
    )
    starts = text_at(inner, "startsAt", "starts_at") or text_at(
        payload, "startsAt", "starts_at", "time", "created", "creation_date"
    )
    return Alert(
        source=text_at(payload, "source_type", "source") or "generic",
        title=fields.title(title or text.splitlines()[0] if title or text else ""),
        text=fields.cut(text, TEXT_CHARACTERS),
        status=text_at(inner, "status") or "firing",
        labels=labels,
        annotations=annotations,
        starts_at=fields.instant(starts),
        ends_at=fields.instant(text_at(inner, "endsAt", "ends_at")),
        fingerprint=text_at(inner, "fingerprint") or fields.fingerprint(labels, title),
        raw=fields.raw(payload),
    )


def from_words(title: str, text: str, now: datetime | None) -> Alert:
    """An alert that a person typed: a workflow's name and a question."""
    title = fields.title(title)
    return Alert(
        source="person",
        title=title,
        text=fields.cut(text, TEXT_CHARACTERS),
        labels={"workflow": title} if title and " " not in title else {},
        starts_at=now,
        fingerprint=fields.fingerprint({}, title),
        raw=f"{title}\n{text}".strip(),
    )


def alert_of_ticket(ticket: Ticket) -> Alert:
    """The alert that a ticket of a tracker is: its description, then its comments, oldest first."""
    comments = [
        f"{comment.author}{f', {iso(comment.created)}' if comment.created else ''}: {comment.text}"
        for comment in ticket.comments or ()
    ]
    text = "\n\n".join(filter(None, (ticket.description, *comments)))
    labels = {"ticket": ticket.key} | ({"labels": " ".join(ticket.labels)} if ticket.labels else {})
    return Alert(
        source="ticket",
        title=fields.title(ticket.summary),
        text=fields.cut(text, TEXT_CHARACTERS),
        labels=labels,
        starts_at=ticket.created,
        fingerprint=fields.fingerprint(labels),
        raw=fields.cut(f"{ticket.key} {ticket.summary}\n\n{text}".strip(), RAW_CHARACTERS),
    )

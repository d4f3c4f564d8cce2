"""Payloads become alerts: Alertmanager and Grafana groups, Robusta, a ticket, or plain JSON.

One payload is one alert here: the members of a group share their labels, and their texts are
listed with the labels that differ. Unknown fields are kept in `raw`. Every refusal is one line that
says what was missing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from connectors.adf import adf_text
from connectors.tracker import Ticket
from copilot.errors import UsageError
from copilot.safe_text import one_line, safe_text
from copilot.values import Alert, Json, JsonObject, digest, list_at, object_at, text_at
from copilot.window import iso, parse_iso

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
RAW_CHARACTERS = 16_000
TITLE_CHARACTERS = 300
TEXT_CHARACTERS = 8_000
VALUE_CHARACTERS = 2_000


def parse_alert(body: bytes) -> Alert:
    """The alert in *body*. Raises UsageError with one line that says why it is none."""
    payload = _only(_load(body))
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


def _load(body: bytes) -> Json:
    if len(body) > MAX_BYTES:
        raise UsageError(f"the alert has {len(body)} bytes; at most {MAX_BYTES} are taken")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"the alert is not UTF-8 (byte {error.start}); send it as UTF-8") from None
    if _depth(text) > MAX_DEPTH:
        raise UsageError(f"the alert is nested deeper than {MAX_DEPTH} levels")
    try:
        payload: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ValueError as error:
        raise UsageError(f"the alert is not JSON: {error}") from None
    return payload


def _only(payload: Json) -> Json:
    """The payload, or the one element of an array. Raises UsageError for more."""
    if not isinstance(payload, list) or not payload:
        return payload
    if len(payload) > 1:
        raise UsageError(
            f"the file holds {len(payload)} alerts in an array; give one of them by itself"
        )
    return payload[0]


def _depth(text: str) -> int:
    """The deepest nesting of brackets outside strings, without recursion."""
    deepest = depth = 0
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*"|([\[\]{}])', text):
        depth += (bracket in "[{") - (bracket in "]}") if bracket else 0
        deepest = max(deepest, depth)
    return deepest


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _group(payload: JsonObject) -> Alert:
    """Alertmanager version 4 and Grafana: the same core (prometheus.io webhook_config)."""
    alerts = [item for item in list_at(payload, "alerts") if isinstance(item, dict)]
    first = alerts[0] if alerts else {}
    labels = _texts(object_at(payload, "commonLabels")) or _texts(object_at(first, "labels"))
    annotations = _texts(object_at(payload, "commonAnnotations")) or _texts(
        object_at(first, "annotations")
    )
    texts = [text_at(object_at(item, "annotations"), "description", "summary") for item in alerts]
    members = _members([_texts(object_at(item, "labels")) for item in alerts], labels)
    grafana = "orgId" in payload or "orgId" in first
    return Alert(
        source="grafana" if grafana else "alertmanager",
        title=_title(labels.get("alertname", "") or text_at(payload, "title")),
        text=_cut("\n".join(dict.fromkeys(filter(None, [*texts, *members]))), TEXT_CHARACTERS),
        status=text_at(payload, "status") or "firing",
        labels=labels,
        annotations=annotations,
        starts_at=_time(text_at(first, "startsAt")),
        fingerprint=text_at(first, "fingerprint") or _fingerprint(labels),
        raw=_raw(payload),
    )


def _members(members: Sequence[Mapping[str, str]], shared: Mapping[str, str]) -> list[str]:
    """One line for each of several members: the labels that tell it from the others."""
    if len(members) < 2:
        return []
    keys = sorted({key for labels in members for key in labels})
    differing = [key for key in keys if len({labels.get(key) for labels in members}) > 1]
    unsaid = [key for key in keys if key not in differing and key not in shared]
    return [
        " ".join(f"{key}={one_line(labels[key])}" for key in (*differing, *unsaid) if key in labels)
        for labels in members
    ]


def _robusta_request(payload: JsonObject) -> Alert:
    labels = _texts(object_at(payload, "subject"))
    title = text_at(payload, "title")
    labels = {"alertname": title, **labels}
    return Alert(
        source="robusta",
        title=_title(f"{title}: {labels.get('name', '')}".rstrip(": ")),
        text=_cut(text_at(payload, "description"), TEXT_CHARACTERS),
        labels=labels,
        fingerprint=_fingerprint(labels),
        raw=_raw(payload),
    )


def _ticket(payload: JsonObject, fields: JsonObject) -> Alert:
    key = text_at(payload, "key")
    description = fields.get("description")
    text = description if isinstance(description, str) else adf_text(description)
    marks = " ".join(label for label in list_at(fields, "labels") if isinstance(label, str))
    labels = {"ticket": key} | ({"labels": marks} if marks else {})
    return Alert(
        source="ticket",
        title=_title(text_at(fields, "summary")),
        text=_cut(text, TEXT_CHARACTERS),
        labels=labels,
        starts_at=_time(text_at(fields, "created")),
        fingerprint=_fingerprint(labels),
        raw=_raw(payload),
    )


def _plain(payload: JsonObject) -> Alert:
    """Any other object: labels and the usual names, at the top or one level down in `raw`."""
    inner = object_at(payload, "raw") or payload
    labels = _texts(object_at(inner, "labels")) or _texts(object_at(payload, "labels"))
    annotations = _texts(object_at(inner, "annotations"))
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
        title=_title(title or text.splitlines()[0] if title or text else ""),
        text=_cut(text, TEXT_CHARACTERS),
        status=text_at(inner, "status") or "firing",
        labels=labels,
        annotations=annotations,
        starts_at=_time(starts),
        fingerprint=text_at(inner, "fingerprint") or _fingerprint(labels, title),
        raw=_raw(payload),
    )


def from_words(title: str, text: str, now: datetime | None) -> Alert:
    """An alert that a person typed: a workflow's name and a question."""
    title = _title(title)
    return Alert(
        source="person",
        title=title,
        text=_cut(text, TEXT_CHARACTERS),
        labels={"workflow": title} if title and " " not in title else {},
        starts_at=now,
        fingerprint=_fingerprint({}, title),
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
        title=_title(ticket.summary),
        text=_cut(text, TEXT_CHARACTERS),
        labels=labels,
        starts_at=ticket.created,
        fingerprint=_fingerprint(labels),
        raw=_cut(f"{ticket.key} {ticket.summary}\n\n{text}".strip(), RAW_CHARACTERS),
    )


def _texts(value: Mapping[str, Json]) -> dict[str, str]:
    return {
        _cut(str(key), 200): _cut(str(item), VALUE_CHARACTERS)
        for key, item in value.items()
        if isinstance(item, str | int | float) and item != ""
    }


def _time(text: str) -> datetime | None:
    """The instant, or None for what is none; Go's year 0001 means "not set"."""
    try:
        time = parse_iso(text if re.search(r"(Z|[+-]\d\d:?\d\d)$", text) else f"{text}Z")
    except (ValueError, OverflowError):
        return None
    return time if time > datetime(1971, 1, 1, tzinfo=UTC) else None


def _fingerprint(labels: Mapping[str, str], title: str = "") -> str:
    return digest("\n".join([title, *(f"{key}={labels[key]}" for key in sorted(labels))]))[:16]


def _raw(payload: JsonObject) -> str:
    return _cut(json.dumps(payload, indent=1, ensure_ascii=False), RAW_CHARACTERS)


def _title(text: str) -> str:
    """One line: a title is printed and committed where a second one would pass for ours."""
    return one_line(text, TITLE_CHARACTERS)


def _cut(text: str, limit: int) -> str:
    return safe_text(text, limit=limit)

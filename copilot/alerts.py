"""Alerts as the investigation keeps them: redacted, storable, and told apart from heartbeats."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from copilot.redaction_checks import names_a_secret
from copilot.settings import AlertRule
from copilot.values import Alert, JsonObject, object_at, text_at
from copilot.window import iso, parse_iso


class Redacts(Protocol):
    """What masks a text; in `redact_json` the names say what else is a secret."""

    def redact(self, text: str) -> str:
        """Return the text with a token for every secret."""

    def redact_json(self, value: dict[str, str]) -> dict[str, str]:
        """Return the values with a token for every secret."""


HEARTBEAT = (
    re.compile(r"\balways (be )?firing\b|\bfires always\b", re.IGNORECASE),
    re.compile(
        r"(alerting|monitoring) pipeline is functional|dead ?man'?s ?(snitch|switch)"
        r"|to certify that \w+ is working",
        re.IGNORECASE,
    ),
)


def dismissal(alert: Alert, rules: Sequence[AlertRule]) -> str:
    """Why *alert* needs no investigation, or an empty text.

    The operator's rules come first. A heartbeat is known by saying of itself both that it always
    fires and what for: an alert about a heartbeat that stopped says one of the two at most.
    """
    for rule in rules:
        if rule.fits(alert.labels):
            return rule.reason
    words = alert.words()
    if all(pattern.search(words) for pattern in HEARTBEAT):
        return "the alert says of itself that it always fires, to show that alerting works"
    return ""


def redacted(alert: Alert, redactor: Redacts) -> Alert:
    """The alert with every secret in it masked."""
    return Alert(
        source=alert.source,
        title=redactor.redact(alert.title),
        text=redactor.redact(alert.text),
        status=alert.status,
        labels=_redacted(alert.labels, redactor),
        annotations=_redacted(alert.annotations, redactor),
        starts_at=alert.starts_at,
        ends_at=alert.ends_at,
        fingerprint=alert.fingerprint,
        raw=redactor.redact(alert.raw),
    )


def as_json(alert: Alert) -> JsonObject:
    """The alert as the journal keeps it and the model reads it; `raw` is in STATE.md only."""
    return {
        "source": alert.source,
        "title": alert.title,
        "text": alert.text,
        "status": alert.status,
        "starts_at": iso(alert.starts_at) if alert.starts_at else None,
        **({"ends_at": iso(alert.ends_at)} if alert.ends_at else {}),
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "fingerprint": alert.fingerprint,
    }


def from_json(data: JsonObject) -> Alert:
    """The alert that `as_json` made *data* of."""
    starts, ends = text_at(data, "starts_at"), text_at(data, "ends_at")
    return Alert(
        source=text_at(data, "source"),
        title=text_at(data, "title"),
        text=text_at(data, "text"),
        status=text_at(data, "status"),
        labels={key: str(value) for key, value in object_at(data, "labels").items()},
        annotations={key: str(value) for key, value in object_at(data, "annotations").items()},
        starts_at=parse_iso(starts) if starts else None,
        ends_at=parse_iso(ends) if ends else None,
        fingerprint=text_at(data, "fingerprint"),
    )


def _redacted(texts: Mapping[str, str], redactor: Redacts) -> dict[str, str]:
    if any(map(names_a_secret, texts)):
        return redactor.redact_json(dict(texts))
    return {key: redactor.redact(value) for key, value in texts.items()}

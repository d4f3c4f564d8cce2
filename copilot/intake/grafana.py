"""Alerts as Grafana posts them, and its signature over them.

Grafana writes Alertmanager's core with fields of its own; addresses in it may be relative and are
decoration. The alerting before version 8 wrote one alert with matches; that is read too.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from copilot.credentials import Secret
from copilot.errors import SenderError, UsageError
from copilot.intake import alertmanager, fields
from copilot.intake.bounds import TEXT_CHARACTERS
from copilot.intake.parcel import FIRING, RESOLVED, Parcel
from copilot.settings.daemon import GrafanaSettings
from copilot.values import Alert, Json, JsonObject, text_at
from copilot.window import from_epoch

SECONDS = re.compile(r"\d{1,12}", re.ASCII)


def parcel(payload: Json) -> Parcel:
    """The alerts of a Grafana payload. Raises UsageError naming what is wrong with it."""
    if not isinstance(payload, dict) or not payload:
        raise UsageError("this is no Grafana payload: a JSON object with alerts is wanted")
    if "alerts" not in payload and "ruleName" in payload:
        return Parcel("grafana", (_rule(payload),))
    return alertmanager.group(payload, "grafana")


def verify(
    body: bytes, headers: Mapping[str, str], rules: GrafanaSettings, secret: Secret, *,
    now: datetime,
) -> None:  # fmt: skip
    """Return when the headers carry Grafana's signature over *body*, else raise SenderError.

    It is the hex HMAC-SHA-256 of the body, or of `timestamp:body` where the rules name a header
    for the time; then a time too far from *now* is a replay. *headers* are in lower case.
    """
    signed = body
    if rules.timestamp_header:
        sent = headers.get(rules.timestamp_header.lower(), "")
        _check_time(sent, now, rules.tolerance)
        signed = sent.encode() + b":" + body
    wanted = hmac.new(secret.reveal().encode(), signed, hashlib.sha256).hexdigest()
    given = headers.get(rules.signature_header.lower(), "").strip().lower()
    if not hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace")):
        raise SenderError(
            f"{rules.signature_header} does not fit the body; compare the secrets of both sides"
        )


def _check_time(text: str, now: datetime, tolerance: timedelta) -> None:
    sent = from_epoch(int(text)) if SECONDS.fullmatch(text) else None
    if sent is None or abs(now - sent) > tolerance:
        raise SenderError("the signature's timestamp is missing, no time, or too far from now")


def _rule(payload: JsonObject) -> Alert:
    """The one alert of the alerting before version 8."""
    name = text_at(payload, "ruleName")
    state = text_at(payload, "state").lower()
    return Alert(
        source="grafana",
        title=fields.title(name or text_at(payload, "title")),
        text=fields.cut(text_at(payload, "message", "title"), TEXT_CHARACTERS),
        status=RESOLVED if state == "ok" else FIRING,
        labels={"alertname": fields.title(name)},
        raw=fields.raw(payload),
    )

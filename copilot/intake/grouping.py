"""Parcels become arrivals: redacted, told apart, weighed, and in a storm put together.

An alert is the same firing as another when fingerprint and start agree; alerts are the same
trouble when the configured identity labels agree, and nothing else counts. Labels in which two
copies of one alert differ are dropped first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from copilot import alerts
from copilot.identity import identity
from copilot.inbox.values import Arrival, Severity
from copilot.intake import fields
from copilot.intake.parcel import RESOLVED, Parcel
from copilot.intake.rule_use import RuleUse
from copilot.intake.storms import together
from copilot.redact import Redactor
from copilot.settings import AlertRule, SettingsFile
from copilot.values import Alert, digest, object_at
from copilot.window import iso

AHEAD = timedelta(days=1)
"""A start further ahead than any clock is wrong is no start."""
HEARTBEAT = "heartbeat"
STORM = "storm"


class Grouping:
    """The rules of one configuration, applied to parcels."""

    def __init__(self, settings: SettingsFile, redactor: Redactor, use: RuleUse) -> None:
        self._rules = settings.ignore_alerts
        self._identity_labels = settings.identity_labels
        self._intake = settings.intake
        self._redactor = redactor
        self._use = use
        use.expect(map(_rule_name, self._rules))
        self._label_rules = {name: f"identity label {name}" for name in self._identity_labels}
        use.expect(self._label_rules.values())

    def arrivals(self, parcel: Parcel, now: datetime) -> list[Arrival]:
        """An arrival for each alert of the parcel; in a storm all are of one incident."""
        once = _Once(self._redactor)
        found = [self._arrival(parcel, alert, once, now) for alert in parcel.alerts]
        self._count_labels(found)
        opening = {one.identity for one in found if not one.ignored}
        if len(opening) <= self._intake.storm_over:
            return found
        self._use.count(STORM)
        labels = self._redactor.redact_json(self._kept(parcel.labels))
        return together(found, labels, self._identity_labels)

    def _arrival(self, parcel: Parcel, alert: Alert, once: "_Once", now: datetime) -> Arrival:
        labels = self._kept(alert.labels)
        # The sender's fingerprint is over all labels, so it is of no use once one was dropped.
        known = once.redact(alert.fingerprint) if len(labels) == len(alert.labels) else ""
        fingerprint = known or fields.fingerprint(labels, "" if labels else alert.title)
        # Without a start the key lasts: by the clock, its end would be that of another alert.
        key = digest(f"{fingerprint} {iso(alert.starts_at) if alert.starts_at else 'undated'}")
        start = alert.starts_at if alert.starts_at and alert.starts_at <= now + AHEAD else now
        text = "\n".join(filter(None, (alert.text, *_remarks(alert, parcel, now))))
        whole = replace(alert, labels=labels, fingerprint=fingerprint, text=text)
        safe = alerts.redacted(whole, once)
        return Arrival(
            alert={**alerts.as_json(safe), "raw": safe.raw},
            key=key,
            identity=identity(safe.labels, safe.title or safe.text, self._identity_labels),
            group=digest(parcel.group) if parcel.group else "",
            source=parcel.source,
            status="resolved" if alert.status == RESOLVED else "firing",
            starts_at=start,
            ends_at=alert.ends_at if alert.status == RESOLVED else None,
            severity=self._severity(safe.labels),
            ignored=self._ignored(safe),
            is_dated=alert.starts_at is not None,
        )

    def _kept(self, labels: Mapping[str, str]) -> dict[str, str]:
        dropped = self._intake.drop_labels
        return {name: value for name, value in labels.items() if name not in dropped}

    def _severity(self, labels: Mapping[str, str]) -> Severity:
        word = labels.get(self._intake.severity_label, "").strip().lower()
        return self._intake.severities.get(word, "normal")

    def _ignored(self, alert: Alert) -> str:
        """Why the alert needs no investigation; the rule that says so is counted."""
        reason = alerts.dismissal(alert, self._rules)
        if reason:
            fitting = (_rule_name(rule) for rule in self._rules if rule.fits(alert.labels))
            self._use.count(next(fitting, HEARTBEAT))
        return reason

    def _count_labels(self, arrivals: Sequence[Arrival]) -> None:
        carried = [object_at(one.alert, "labels") for one in arrivals]
        self._use.count_all(
            {
                rule: sum(bool(labels.get(name)) for labels in carried)
                for name, rule in self._label_rules.items()
            }
        )


class _Once:
    """Redacts for one parcel: its alerts share most of their texts, and each is looked at once."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._seen: dict[str, str] = {}

    def redact(self, text: str) -> str:
        found = self._seen.get(text)
        if found is None:
            found = self._seen[text] = self._redactor.redact(text)
        return found

    def redact_json(self, value: dict[str, str]) -> dict[str, str]:
        return self._redactor.redact_json(value)


def _rule_name(rule: AlertRule) -> str:
    return "ignore " + ", ".join(f"{name}={value}" for name, value in rule.labels.items())


def _remarks(alert: Alert, parcel: Parcel, now: datetime) -> list[str]:
    """What is odd about the alert, in words that its text ends with."""
    start, end = alert.starts_at, alert.ends_at
    remarks = []
    if start and start > now + AHEAD:
        remarks.append(f"(Its sender says that it starts {iso(start)}, which lies ahead.)")
    if start and end and end < start:
        remarks.append(f"(Its sender says that it ended {iso(end)}, before it started.)")
    if parcel.truncated:
        remarks.append(f"… {parcel.truncated} more alerts were cut by the sender")
    return remarks

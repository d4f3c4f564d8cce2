"""What the web routes ask of the daemon."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import cast, get_args

from copilot import alerts
from copilot.credentials import Secret
from copilot.daemon.caps import Allowance
from copilot.daemon.desk import Desk
from copilot.daemon.jobs import next_job
from copilot.daemon.right_of_way import RightOfWay
from copilot.daemon.room import Room
from copilot.daemon.standing import Standing
from copilot.engine.engine import Engine
from copilot.errors import InboxError, NotFoundError, UsageError
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Entry, Status, Stored
from copilot.intake import grafana
from copilot.intake.door import Door
from copilot.metrics import Metrics
from copilot.values import JsonObject, object_at, text_at
from copilot.web.backend import Delivery, Receipt, Wanted
from copilot.window import iso
from copilot.workspace import RunOptions, Workspace

CLI = "cli"


@dataclass
class DaemonBackend:
    """The daemon as the routes see it. Safe for many threads."""

    workspace: Callable[[], Workspace]
    door: Callable[[], Door]
    inbox: Inbox
    engine: Engine
    desk: Desk
    counters: Metrics
    allowance: Callable[[Entry], Allowance]
    grafana_secret: Secret | None
    standing: Callable[[], Standing]
    way: RightOfWay
    room: Room
    is_leaving: Callable[[], bool]
    """Whether it was told to, however busy it still is."""

    def begin(self, delivery: Delivery) -> "Future[Sequence[Receipt]]":
        """Where each alert went, told when synced to the disk. Raises UsageError, InboxError."""
        self._check_open()
        match delivery.kind:
            case "alertmanager" | "generic" as kind:
                taken = self.door().begin(delivery.body, kind, map=delivery.map)
            case _:
                self._check_signature(delivery)
                taken = self.door().begin(delivery.body, "grafana", map=delivery.map)
        self.way.comes(taken)
        return cast("Future[Sequence[Receipt]]", taken)

    def turned_away(self, kind: str, status: int) -> None:
        """Count a delivery that was refused before it was looked at."""
        self.counters.alert_received(kind, f"http_{status}")

    def alerts(self, wanted: Wanted) -> Sequence[JsonObject]:
        """The newest alerts, or those of one incident."""
        if wanted.incident:
            return [_alert(one) for one in self.inbox.alerts(wanted.incident)[: wanted.limit]]
        return [_alert(one) for one in self.inbox.newest(wanted.limit)]

    def incidents(self, wanted: Wanted) -> Sequence[JsonObject]:
        """The newest incidents."""
        found = self.inbox.list(status=_status(wanted.status), limit=wanted.limit)
        return [_incident(one) for one in found]

    def incident(self, incident: str) -> JsonObject:
        """All that is known of one incident. Raises NotFoundError."""
        entry = self._entry(incident)
        run = self.engine.run(f"inv:{entry.id}:{entry.runs}") if entry.runs else None
        front = self.workspace().notes.front(incident)
        shown: JsonObject = {**_incident(entry)}
        if run:
            shown["run"] = {
                "id": run.id,
                "status": run.status,
                "attempts": run.attempts,
                "executor": run.executor,
                "error": run.error,
            }
        if front:
            shown |= {"verdict": front.verdict, "outcome": front.outcome, "turns": front.turns}
        return shown

    def cancel(self, incident: str, reason: str) -> JsonObject:
        """The incident, which nobody investigates any more. Raises NotFoundError, UsageError."""
        entry = self._entry(incident)
        if entry.status not in ("waiting", "queued", "running", "waiting_model"):
            raise UsageError(f"{incident} is {entry.status}; there is nothing to cancel")
        self.inbox.cancel(incident, reason or "cancelled by an operator")
        if entry.status in ("queued", "running"):
            self.engine.cancel(f"inv:{entry.id}:{entry.runs}")
        return _incident(self._entry(incident))

    def retry(self, incident: str) -> JsonObject:
        """The incident, waiting to go on after its last good step."""
        entry = self._entry(incident)
        if entry.status in ("waiting", "queued", "running"):
            raise UsageError(f"{incident} is {entry.status} already")
        self.inbox.retry(incident)
        return _incident(self._entry(incident))

    def investigate(self, asked: JsonObject) -> JsonObject:
        """The incident that was opened, or found, and is queued now for what a person asks."""
        self._check_open()
        entry = self._asked(asked)
        if entry.status in ("queued", "running"):
            return {**_incident(entry), "joined": True}
        allowed = self.allowance(entry)
        if allowed == "nothing":
            raise UsageError(
                f"the dollars of this hour or day are used, so {entry.id} is not investigated now; "
                "raise daemon.spend, or ask again later"
            )
        if entry.status not in ("waiting", "waiting_model"):
            entry = self.inbox.retry(entry.id)
        question = self.workspace().redactor.redact(text_at(asked, "question"))
        job = next_job(self._chosen(asked), entry, allowed, question)
        self.desk.hand_out(entry, job)
        return {**_incident(self._entry(entry.id)), "record": job.record, "joined": False}

    def readiness(self) -> Sequence[str]:
        """Why no alerts should be sent here now; empty when all is well."""
        found = ["draining: this daemon is about to leave"] if self.is_leaving() else []
        room = self.room.problem(self.workspace().settings.state)
        return [*found, *filter(None, [room]), *self.standing().problems()]

    def degraded(self) -> Sequence[str]:
        """What works less well than it should; alerts are taken all the same."""
        return self.standing().troubles()

    def metrics(self) -> bytes:
        """All counters in Prometheus' text format."""
        return self.counters.text()

    def _asked(self, asked: JsonObject) -> Entry:
        """The incident that a person means, in the notes already."""
        incident = text_at(asked, "incident")
        if not incident:
            alert = alerts.from_json(object_at(asked, "alert"))
            if not alert.title and not alert.text:
                raise UsageError("give the id of an incident, or an alert with a title")
            incident = self.door().take_alerts([alert], CLI)[0].incident
        entry = self._entry(incident)
        self.desk.note(entry, self.inbox.alerts(incident))
        return entry

    def _chosen(self, asked: JsonObject) -> Workspace:
        """The workspace with what the person wants of this run."""
        workspace = self.workspace()
        options = workspace.run_options
        return workspace.with_run(
            RunOptions(
                model=text_at(asked, "model") or options.model,
                turns=int(text_at(asked, "turns") or options.turns),
                usd=float(text_at(asked, "usd") or options.usd),
                policy=text_at(asked, "policy") or options.policy,
            )
        )

    def _check_open(self) -> None:
        if self.is_leaving():
            raise InboxError("the daemon is leaving; send it again to the next", retryable=True)
        if problem := self.room.problem(self.workspace().settings.state):
            raise InboxError(problem, retryable=True)

    def _check_signature(self, delivery: Delivery) -> None:
        if self.grafana_secret:
            rules = self.workspace().settings.intake.grafana
            now = self.workspace().now()
            grafana.verify(delivery.body, delivery.headers, rules, self.grafana_secret, now=now)

    def _entry(self, incident: str) -> Entry:
        entry = self.inbox.incident(incident)
        if entry is None:
            raise NotFoundError(f"no such incident: {incident[:80]!r}")
        return entry


def _status(word: str) -> Status | None:
    if not word:
        return None
    if word not in get_args(Status):
        raise UsageError(f"{word[:40]!r} is no status; use one of {', '.join(get_args(Status))}")
    return cast("Status", word)


def _incident(entry: Entry) -> JsonObject:
    return {
        "incident": entry.id,
        "title": entry.title,
        "status": entry.status,
        "reason": entry.reason,
        "severity": entry.severity,
        "alerts": entry.alerts,
        "resolved": entry.resolved,
        "previous": entry.previous,
        "began": iso(entry.began),
        "opened": iso(entry.opened),
        "due": iso(entry.due),
        "updated": iso(entry.updated),
        "runs": entry.runs,
    }


def _alert(stored: Stored) -> JsonObject:
    return {
        "incident": stored.incident,
        "title": text_at(stored.alert, "title"),
        "status": stored.status,
        "severity": stored.severity,
        "source": stored.source,
        "starts_at": iso(stored.starts_at),
        "ends_at": iso(stored.ends_at) if stored.ends_at else None,
        "count": stored.count,
        "first_seen": iso(stored.first_seen),
        "last_seen": iso(stored.last_seen),
        "ignored": stored.ignored,
        "labels": object_at(stored.alert, "labels"),
    }

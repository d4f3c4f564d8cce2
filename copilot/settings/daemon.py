"""What copilot.yaml may say of the daemon: where alerts come from, and what runs side by side."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from copilot.settings.kinds import Length, Name, WorkspacePath
from copilot.strict_model import Strict

Severity = Literal["critical", "high", "normal", "low"]
LabelName = Annotated[str, Field(min_length=1, max_length=200)]


def _address(text: str) -> str:
    """`HOST:PORT` as it is; port 0 takes a free one."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{text!r} is no HOST:PORT, as in 127.0.0.1:8080")
    return text


def _database(text: str) -> str:
    """An empty text, or the URL of a PostgreSQL database."""
    if text and not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("give postgresql://… for several hosts, or leave it out: a file in state/")
    return text


class SpendSettings(Strict):
    """Caps over all investigations; the last part of each is kept for high severities."""

    hour_usd: Annotated[float, Field(gt=0)] = 20.0
    day_usd: Annotated[float, Field(gt=0)] = 100.0
    reserve: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """The share of each cap that only critical and high incidents may use."""
    degrade_at: Annotated[float, Field(gt=0, le=1)] = 0.7
    """From this share of a cap on, investigations get the cheaper model and fewer turns."""
    cheaper_model: str = "claude-haiku-5-5"
    fewer_turns: Annotated[int, Field(ge=1)] = 20


class DaemonSettings(Strict):
    """How `copilot serve` runs."""

    listen: Annotated[str, AfterValidator(_address)] = "127.0.0.1:8080"
    """Anything but loopback needs COPILOT_INTAKE_TOKEN or COPILOT_INTAKE_BASIC."""
    hosts: tuple[str, ...] = ()
    """Names that a request may give in its Host header besides the address and localhost."""
    database: Annotated[str, AfterValidator(_database)] = ""
    """postgresql://… shares the work between several daemons; empty: files in `state`.
    A password comes from PGPASSWORD or PGPASSFILE."""
    workers: Annotated[int, Field(ge=1, le=500)] = 4
    """Investigations side by side in this daemon."""
    workers_everywhere: Annotated[int, Field(ge=0)] = 0
    """Investigations side by side over all daemons; 0: no such limit. The last to start sets it."""
    starts_per_hour: Annotated[int, Field(ge=0)] = 0
    """Investigations begun in an hour, over all daemons; 0: no such limit. As above."""
    calls_per_source: Annotated[int, Field(ge=1)] = 8
    """Calls under way from this daemon to one logbook, tracker or library."""
    lease: Length = timedelta(seconds=30)
    """PostgreSQL only: a daemon silent for so long has lost its investigations to the others."""
    drain: Length = timedelta(seconds=15)
    """At SIGTERM: how long calls under way may take to be recorded."""
    time_limit: Length = timedelta(hours=2)
    """Of one investigation, from its first start, restarts included."""
    model_pause: Length = timedelta(seconds=60)
    """How long nobody asks a model that is away; then one investigation tries."""
    model_silence: Length = timedelta(seconds=30)
    """A model that answers nobody for so long is as good as away: incidents get a triage report."""
    retention: Length = timedelta(days=90)
    """Of what the queue remembers; longer than any sender repeats an alert."""
    spend: SpendSettings = SpendSettings()


class GrafanaSettings(Strict):
    """How Grafana signs its alerts; the secret is COPILOT_GRAFANA_SECRET."""

    signature_header: str = "X-Grafana-Alerting-Signature"
    timestamp_header: str = ""
    """Named: the signature is over `timestamp:body`, and an old timestamp is refused."""
    tolerance: Length = timedelta(minutes=5)


class AlertMap(Strict):
    """Where a payload of another sender holds what an alert needs: jmespath expressions."""

    alerts: str = "@"
    """The alert, or the list of alerts, in the payload; the others are asked of each."""
    title: str
    text: str = ""
    status: str = ""
    resolved: tuple[str, ...] = ("resolved", "ok", "closed", "inactive", "cleared")
    """Values of `status`, in any case, that mean the trouble is over."""
    starts_at: str = ""
    """When the trouble began, the same in every message about it: so its end is matched."""
    ends_at: str = ""
    fingerprint: str = ""
    """The sender's mark of the alert; without one the labels are it."""
    labels_at: str = ""
    """An object, a list of key and value, or texts `name:value`: each of it is a label."""
    labels: Mapping[LabelName, str] = Field(default_factory=dict)
    """The label's name and the expression of its value."""
    annotations: Mapping[LabelName, str] = Field(default_factory=dict)


class IntakeSettings(Strict):
    """How alerts are taken in and grouped."""

    spool: WorkspacePath = Path("state/spool")
    """A maildir: write a file in tmp, rename it into new."""
    debounce: Length = timedelta(seconds=10)
    """How long more alerts of the incident are awaited before it is investigated."""
    cooldown: Length = timedelta(minutes=15)
    """An alert that fires again so soon after it was resolved is the same incident."""
    storm_over: Annotated[int, Field(ge=1)] = 10
    """A group that would open more incidents than this opens one, of the group."""
    drop_labels: tuple[str, ...] = ("prometheus_replica", "replica", "__replica__", "receive")
    """Labels that differ between two copies of one alert."""
    severity_label: str = "severity"
    severities: Mapping[str, Severity] = Field(
        default_factory=lambda: dict[str, Severity](
            page="critical", critical="critical", emergency="critical", fatal="critical",
            highest="critical", p1="critical", sev1="critical",
            error="high", high="high", major="high", p2="high", sev2="high",
            warning="normal", normal="normal", medium="normal", p3="normal", sev3="normal",
            minor="low", info="low", low="low", lowest="low", p4="low", sev4="low",
            p5="low", sev5="low",
        )
    )  # fmt: skip
    backlog: Annotated[int, Field(ge=1)] = 100_000
    """Incidents that may wait; beyond it senders get 503."""
    grafana: GrafanaSettings = GrafanaSettings()
    maps: Mapping[Name, AlertMap] = Field(default_factory=dict)
    """Senders of your own, posted to /v1/alerts/generic?map=NAME."""


class TicketPoller(Strict):
    """New tickets are alerts."""

    name: Name
    tracker: Name
    text: str = ""
    status: tuple[str, ...] = ()
    project: str = ""
    every: Length = timedelta(minutes=2)


class SearchPoller(Strict):
    """A saved search of a logbook that found something is an alert."""

    name: Name
    logbook: Name
    text: str = ""
    levels: tuple[str, ...] = ()
    fields: Mapping[LabelName, str] = Field(default_factory=dict)
    at_least: Annotated[int, Field(ge=1)] = 1
    window: Length = timedelta(minutes=10)
    lag: Length = timedelta(minutes=10)
    """An entry that comes into the logbook so late is still found."""
    every: Length = timedelta(minutes=5)
    labels: Mapping[LabelName, str] = Field(default_factory=dict)


class StallDetector(Strict):
    """Workflows whose last progress is too old."""

    name: Name
    logbook: Name
    field: LabelName
    """The field that names the workflow."""
    progress: str = ""
    """Words that an entry of progress holds; empty: any entry of the workflow is progress."""
    progress_fields: Mapping[LabelName, str] = Field(default_factory=dict)
    terminal: str = ""
    """Words of an entry after which a workflow is over and cannot stall."""
    terminal_fields: Mapping[LabelName, str] = Field(default_factory=dict)
    threshold: Length
    horizon: Length = timedelta(days=7)
    """A workflow that is silent for longer is forgotten."""
    lag: Length = timedelta(minutes=10)
    """When the whole logbook is silent for so long, it is the logbook that stalled."""
    exclude: tuple[str, ...] = ()
    """Names of workflows that may rest; `*` stands for any text."""
    severity: Severity = "normal"
    every: Length = timedelta(minutes=5)

    @model_validator(mode="after")
    def _is_sane(self) -> Self:
        if self.horizon <= self.threshold:
            raise ValueError("horizon must be longer than threshold")
        if (self.terminal or self.terminal_fields) and not (self.progress or self.progress_fields):
            raise ValueError(
                "terminal needs progress: else the last word of a workflow is progress"
            )
        return self


class PollerSettings(Strict):
    """What is asked again and again."""

    tickets: tuple[TicketPoller, ...] = ()
    searches: tuple[SearchPoller, ...] = ()
    stalls: tuple[StallDetector, ...] = ()

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [
            *(one.name for one in self.tickets),
            *(one.name for one in self.searches),
            *(one.name for one in self.stalls),
        ]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two pollers are called {', '.join(twice)}")
        return self

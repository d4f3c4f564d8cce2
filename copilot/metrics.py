"""What the daemon counts, under the names that its dashboards and alert rules use.

The only door to prometheus_client. Each `Metrics` has a registry of its own, so that two daemons
of one process share nothing. No label ever holds the id of an incident or a ticket: each value of
a label is a series that is kept for ever.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from datetime import datetime
from typing import Protocol, TypeAlias, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from copilot.values import JsonObject, object_at, text_at

log = logging.getLogger(__name__)

SECONDS = (0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60)
RUN_SECONDS = (10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200)
TOKENS = (1e3, 3e3, 1e4, 3e4, 6e4, 1e5, 1.5e5, 2e5, 5e5, 1e6)
BYTES = tuple(4.0**power for power in range(4, 13))
"""From 256 bytes to 16 MiB."""
Levels: TypeAlias = Mapping[tuple[str, ...], float]
"""Numbers by the values of their labels."""
Measured = TypeVar("Measured")
TOKEN_KINDS = ("input", "cache_read", "cache_write", "output")
FIXED = frozenset({"system", "tools"})
CONVERSATION = frozenset({"alert", "state", "conversation", "summary"})
"""Sources of a request that are no tool; the others are the names of tools."""
TOOLS = 200
"""Names of tools that have series of their own. A model may make up any number of names."""
NAME_CHARACTERS = 128
"""Of a tool's name: no service of a model takes a longer one."""
OTHER = "other"


class Recorded(Protocol):
    """An event of a journal, as far as it is counted."""

    @property
    def kind(self) -> str:
        """What happened."""
        ...

    @property
    def data(self) -> JsonObject:
        """What is known of it."""
        ...


class Metrics:
    """The counters of one daemon. Safe for many threads."""

    def __init__(self, version: str = "") -> None:
        # Without a second series for each counter, which nobody asks for.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the vendor gave it no types
        self._registry = CollectorRegistry()
        self._tools: set[str] = set()
        ProcessCollector(registry=self._registry)
        self._gauge("build_info", "The running version.", "version").labels(version).set(1)
        self._alerts = self._counter("alerts_received", "Alerts by outcome.", "source", "outcome")
        self._runs = self._counter("investigations", "Runs by how they ended.", "outcome")
        self._run_seconds = self._histogram(
            "investigation_duration_seconds",
            "Time from the start of a run to its end.",
            RUN_SECONDS,
        )
        self._aside = self._counter(
            "stood_aside_seconds", "Seconds that work waited while senders were answered late."
        )
        self._requests = self._counter("model_requests", "Tries by outcome.", "model", "outcome")
        self._tokens = self._counter("model_tokens", "Tokens that were paid for.", "model", "kind")
        self._usd = self._counter("model_cost_usd", "Dollars at list prices.", "model")
        self._context = self._histogram(
            "context_tokens", "Tokens that a request carries, estimated.", TOKENS, "source"
        )
        self._edits = self._counter("context_edits", "Times a lever acted.", "lever")
        self._calls = self._counter("tool_calls", "Calls of tools by outcome.", "tool", "outcome")
        self._tool_seconds = self._histogram(
            "tool_duration_seconds", "Time that a call took.", SECONDS, "tool"
        )
        self._result_bytes = self._histogram(
            "tool_result_bytes", "Size of what a call found.", BYTES, "tool", "placement"
        )
        self._refetches = self._counter("tool_refetches", "Calls that were made before.", "tool")
        self._lost = self._counter(
            "compaction_artifacts_lost", "Identifiers that a summary lost; they were put back."
        )
        self._commits = self._histogram(
            "notes_commit_duration_seconds", "Time that a commit to the notes took.", SECONDS
        )
        self._redactions = self._counter("redactions", "Secrets that were masked.", "rule")
        self._success = self._gauge(
            "connector_last_success_timestamp_seconds", "When a source last answered.", "connector"
        )

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)

    def watch(self, name: str, measure: Callable[[], float]) -> None:
        """Ask *measure* at each scrape: `incidents_open`, `queue_depth` or `scratch_bytes`.

        A measure that fails shows as NaN: it must not take the other counters with it.
        """
        self._gauge(name, WATCHED[name]).set_function(
            lambda: _measured(f"copilot_{name}", measure, instead=math.nan)
        )

    def watch_polls(self, counts: Callable[[], Levels], well: Callable[[], Levels]) -> None:
        """Ask at each scrape how often each poll ran, failed and so on, and which are well."""
        says = "Polls by outcome, skipped ones too."
        polls = CounterMetricFamily("copilot_polls", says, labels=("poller", "outcome"))
        says = "1 while the poll's last run ended well, or none has ended yet."
        ok = GaugeMetricFamily("copilot_poll_ok", says, labels=("poller",))
        self._registry.register(_Watched(polls, counts))
        self._registry.register(_Watched(ok, well))

    def watch_degraded(self, reasons: Callable[[], Levels]) -> None:
        """Ask at each scrape what keeps incidents from a language model: 1 by reason, else 0."""
        says = "1 while incidents get a triage report only."
        family = GaugeMetricFamily("copilot_degraded", says, labels=("reason",))
        self._registry.register(_Watched(family, reasons))

    def alert_received(self, source: str, outcome: str) -> None:
        """One alert, or one delivery that was refused."""
        self._alerts.labels(source, outcome).inc()

    def investigation_ended(self, outcome: str, seconds: float) -> None:
        """One run of an investigation."""
        self._runs.labels(outcome).inc()
        self._run_seconds.observe(seconds)

    def stood_aside(self, seconds: float) -> None:
        """Work waited so long for senders to be answered."""
        self._aside.inc(seconds)

    def model_request(self, model: str, outcome: str) -> None:
        """One try: `ok`, or the kind of the error."""
        self._requests.labels(model, outcome).inc()

    def commit_took(self, seconds: float) -> None:
        """The time of one commit to the notes."""
        self._commits.observe(seconds)

    def redacted(self, counts: Mapping[str, int]) -> None:
        """Secrets masked in one text, by rule."""
        for rule, count in counts.items():
            self._redactions.labels(rule).inc(count)

    def connector_answered(self, connector: str, at: datetime) -> None:
        """A source gave a whole answer."""
        self._success.labels(connector).set(at.timestamp())

    def observe(self, event: Recorded) -> None:
        """Count one new event of any journal. What is replayed at a resume must not come here."""
        data = event.data
        match event.kind:
            case "request":
                self._carried(data)
            case "result":
                self._answered(data)
            case "clear":
                self._edits.labels(f"clearing:{text_at(data, 'by')}").inc()
            case "compact":
                failed = ":failed" if data.get("failed") else ""
                self._edits.labels(f"compaction:{text_at(data, 'by')}{failed}").inc()
                self._lost.inc(_number(data, "lost"))
        if usage := object_at(data, "usage"):
            self._paid(data, usage)

    def _carried(self, data: JsonObject) -> None:
        """The estimate of a request, split by the bytes of its sources."""
        sizes, estimate = object_at(data, "bytes"), _number(data, "estimate")
        shares = dict.fromkeys(("fixed", "conversation", "tool_results"), 0.0)
        for source in sizes:
            shares[_kind_of(source)] += _number(sizes, source)
        total = sum(shares.values()) or 1.0
        for kind, size in shares.items():
            self._context.labels(kind).observe(estimate * size / total)

    def _answered(self, data: JsonObject) -> None:
        tool = self._tool(text_at(data, "tool")[:NAME_CHARACTERS] or "unknown")
        self._calls.labels(tool, "ok" if data.get("ok") else "error").inc()
        self._tool_seconds.labels(tool).observe(_number(data, "ms") / 1000)
        if "repeats" in data:
            self._refetches.labels(tool).inc()
        else:
            placement = text_at(data, "placement") or "inline"
            shown = len(text_at(data, "text").encode("utf-8", "replace"))
            self._result_bytes.labels(tool, placement).observe(_number(data, "bytes") or shown)

    def _tool(self, name: str) -> str:
        """The name, or the one that stands for all that came when there were enough."""
        if name not in self._tools and len(self._tools) >= TOOLS:
            return OTHER
        self._tools.add(name)
        return name

    def _paid(self, data: JsonObject, usage: JsonObject) -> None:
        """Whatever was paid for, a turn, a summary or a task: each says so in the same words."""
        model = text_at(data, "model") or "unknown"
        for kind in TOKEN_KINDS:
            self._tokens.labels(model, kind).inc(_number(usage, kind))
        self._usd.labels(model).inc(_number(data, "usd"))

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(name, says, labels, namespace="copilot", registry=self._registry)

    def _gauge(self, name: str, says: str, *labels: str) -> Gauge:
        return Gauge(name, says, labels, namespace="copilot", registry=self._registry)

    def _histogram(
        self, name: str, says: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(
            name, says, labels, namespace="copilot", registry=self._registry, buckets=buckets
        )


WATCHED: Mapping[str, str] = {
    "incidents_open": "Incidents that are not over.",
    "queue_depth": "Incidents that wait for a worker.",
    "scratch_bytes": "Size of all offloaded results.",
}


class _Watched(Collector):
    """Numbers that are kept elsewhere; *empty* is the family that they belong to."""

    def __init__(
        self, empty: CounterMetricFamily | GaugeMetricFamily, measure: Callable[[], Levels]
    ) -> None:
        self._empty = empty
        self._measure = measure

    def collect(self) -> Iterator[Metric]:
        """The family with all that is known now."""
        found = copy(self._empty)
        found.samples = []
        nothing: Levels = {}
        for labels, level in sorted(_measured(found.name, self._measure, instead=nothing).items()):
            found.add_metric(labels, level)
        yield found


def _measured(name: str, measure: Callable[[], Measured], *, instead: Measured) -> Measured:
    try:
        return measure()
    except Exception:  # whatever it is: one number is missing, and the log says why
        log.exception("%s could not be measured", name)
        return instead


def _kind_of(source: str) -> str:
    if source in FIXED:
        return "fixed"
    return "conversation" if source in CONVERSATION else "tool_results"


def _number(data: JsonObject, key: str) -> float:
    """The number under *key*, 0 when there is none or it can be no count."""
    text = text_at(data, key)
    try:
        found = float(text or 0)
    except ValueError:
        return 0.0
    return found if math.isfinite(found) and found > 0 else 0.0

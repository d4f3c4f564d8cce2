"""The counters: their names, what of a journal they count, and that no incident names a series."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from copilot.metrics import Metrics
from copilot.values import JsonObject

NAMES = {
    "build_info", "alerts_received_total", "incidents_open", "queue_depth", "investigations_total",
    "investigation_duration_seconds", "model_requests_total", "model_tokens_total",
    "model_cost_usd_total", "context_tokens", "context_edits_total", "tool_calls_total",
    "tool_duration_seconds", "tool_result_bytes", "tool_refetches_total",
    "compaction_artifacts_lost_total", "scratch_bytes", "notes_commit_duration_seconds",
    "redactions_total", "connector_last_success_timestamp_seconds", "polls_total", "poll_ok",
    "degraded", "stood_aside_seconds_total",
}  # fmt: skip


@dataclass(frozen=True)
class Happened:
    kind: str
    data: JsonObject = field(default_factory=dict)


def samples(metrics: Metrics) -> Mapping[str, float]:
    """Every line of the text, as series and value."""
    lines = metrics.text().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {series.removeprefix("copilot_"): float(value) for series, _, value in pairs}


def test_the_names_are_those_that_dashboards_use() -> None:
    metrics = Metrics("1.2.3")
    for name in ("incidents_open", "queue_depth", "scratch_bytes"):
        metrics.watch(name, lambda: 0)
    metrics.watch_polls(dict, dict)
    metrics.watch_degraded(dict)

    lines = metrics.text().decode().splitlines()

    ours = {line.split()[2] for line in lines if line.startswith("# TYPE copilot_")}
    assert ours == {f"copilot_{name}" for name in NAMES}
    assert 'copilot_build_info{version="1.2.3"} 1.0' in lines
    assert not any("_created" in line for line in lines)
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)


def test_two_daemons_of_one_process_share_nothing() -> None:
    first, second = Metrics(), Metrics()

    first.alert_received("spool", "opened")

    assert samples(first)['alerts_received_total{outcome="opened",source="spool"}'] == 1
    assert 'alerts_received_total{outcome="opened",source="spool"}' not in samples(second)


def test_what_is_watched_is_asked_at_each_scrape() -> None:
    metrics, depths = Metrics(), iter([3, 5])
    metrics.watch("queue_depth", lambda: next(depths))

    assert [samples(metrics)["queue_depth"] for _ in range(2)] == [3, 5]


def test_a_measure_that_fails_leaves_the_others_standing(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    metrics.watch("scratch_bytes", lambda: 1 / 0)
    metrics.watch("queue_depth", lambda: 7)
    metrics.watch_polls(lambda: {("stalls", "failed"): 1 // 0}, dict)

    found = samples(metrics)

    assert str(found["scratch_bytes"]) == "nan"
    assert found["queue_depth"] == 7
    assert "scratch_bytes" in caplog.text


def test_an_answer_counts_its_tokens_and_its_dollars() -> None:
    metrics = Metrics()
    usage: JsonObject = {"input": 10, "cache_read": 200, "cache_write": 30, "output": 4}
    answer: JsonObject = {"model": "claude-x", "usage": usage, "usd": "0.0125"}

    metrics.observe(Happened("response", answer))
    metrics.observe(Happened("response", {**answer, "usd": None}))

    found = samples(metrics)
    assert found['model_tokens_total{kind="cache_read",model="claude-x"}'] == 400
    assert found['model_tokens_total{kind="output",model="claude-x"}'] == 8
    assert found['model_cost_usd_total{model="claude-x"}'] == 0.0125


@pytest.mark.parametrize("kind", ["compact", "result", "support"])
def test_whatever_was_paid_for_is_counted(kind: str) -> None:
    metrics = Metrics()

    metrics.observe(Happened(kind, {"usage": {"output": 9}, "usd": "1.5", "model": "m"}))

    assert samples(metrics)['model_cost_usd_total{model="m"}'] == 1.5


def test_a_request_is_split_into_fixed_conversation_and_results() -> None:
    metrics = Metrics()
    sizes: JsonObject = {"system": 100, "tools": 300, "alert": 100, "conversation": 100,
                         "summary": 0, "search_logbook": 300, "get_ticket": 100}  # fmt: skip

    metrics.observe(Happened("request", {"bytes": sizes, "estimate": 5000}))

    found = samples(metrics)
    assert found['context_tokens_sum{source="fixed"}'] == 2000
    assert found['context_tokens_sum{source="conversation"}'] == 1000
    assert found['context_tokens_sum{source="tool_results"}'] == 2000
    assert found['context_tokens_bucket{le="1000.0",source="conversation"}'] == 1


def test_levers_are_counted_by_what_they_did_and_who() -> None:
    metrics = Metrics()

    metrics.observe(Happened("clear", {"by": "server"}))
    metrics.observe(Happened("compact", {"by": "threshold", "failed": False, "lost": 3}))
    metrics.observe(Happened("compact", {"by": "client", "failed": True}))

    found = samples(metrics)
    assert found['context_edits_total{lever="clearing:server"}'] == 1
    assert found['context_edits_total{lever="compaction:threshold"}'] == 1
    assert found['context_edits_total{lever="compaction:client:failed"}'] == 1
    assert found["compaction_artifacts_lost_total"] == 3


def test_a_call_counts_once_and_a_repeated_one_as_such() -> None:
    metrics = Metrics()
    result: JsonObject = {"tool": "search_logbook", "ok": True, "bytes": 70_000,
                          "placement": "pointer", "text": "{}"}  # fmt: skip

    metrics.observe(Happened("result", result))
    metrics.observe(Happened("result", {**result, "repeats": 2}))
    metrics.observe(Happened("result", {"tool": "read_notes", "ok": False, "text": "no such"}))

    found = samples(metrics)
    assert found['tool_calls_total{outcome="ok",tool="search_logbook"}'] == 2
    assert found['tool_calls_total{outcome="error",tool="read_notes"}'] == 1
    assert found['tool_refetches_total{tool="search_logbook"}'] == 1
    assert found['tool_result_bytes_sum{placement="pointer",tool="search_logbook"}'] == 70_000
    assert found['tool_result_bytes_sum{placement="inline",tool="read_notes"}'] == 7


@pytest.mark.parametrize("kind", ["request", "response", "result", "clear", "compact", "ended"])
@pytest.mark.parametrize(
    "data", [{}, {"usage": {"output": "x"}, "usd": "-1", "bytes": "?", "estimate": "inf"}]
)
def test_an_odd_event_counts_for_nothing_and_breaks_nothing(kind: str, data: JsonObject) -> None:
    metrics = Metrics()

    metrics.observe(Happened(kind, data))

    assert sum(value for key, value in samples(metrics).items() if "usd" in key) == 0


def test_the_plain_counts_have_their_labels() -> None:
    metrics = Metrics()

    metrics.investigation_ended("reported", 90.0)
    metrics.model_request("claude-x", "overloaded")
    metrics.observe(Happened("result", {"tool": "get_ticket", "ok": True, "ms": 300}))
    metrics.commit_took(0.02)
    metrics.redacted({"aws": 2})
    metrics.watch_polls(lambda: {("stalls", "skipped"): 1}, lambda: {("stalls",): 0})
    metrics.connector_answered("main", datetime(2026, 1, 31, tzinfo=UTC))

    found = samples(metrics)
    assert found['investigations_total{outcome="reported"}'] == 1
    assert found['investigation_duration_seconds_bucket{le="120.0"}'] == 1
    assert found['model_requests_total{model="claude-x",outcome="overloaded"}'] == 1
    assert found['tool_duration_seconds_count{tool="get_ticket"}'] == 1
    assert found["notes_commit_duration_seconds_count"] == 1
    assert found['redactions_total{rule="aws"}'] == 2
    assert found['polls_total{outcome="skipped",poller="stalls"}'] == 1
    assert found['connector_last_success_timestamp_seconds{connector="main"}'] == 1769817600


def test_no_label_can_hold_an_incident() -> None:
    text = Metrics().text().decode()

    assert "incident=" not in text
    assert "ticket=" not in text


def test_names_of_tools_that_a_model_makes_up_come_to_an_end() -> None:
    metrics = Metrics()
    metrics.observe(Happened("result", {"tool": "search_logbook", "ok": True}))
    for number in range(1000):
        metrics.observe(Happened("result", {"tool": f"{number}_{'x' * 10_000}", "ok": False}))
    metrics.observe(Happened("result", {"tool": "search_logbook", "ok": True}))

    calls = {name: count for name, count in samples(metrics).items() if "tool_calls_total" in name}
    assert len(calls) == 201
    assert sum(calls.values()) == 1002
    assert calls['tool_calls_total{outcome="ok",tool="search_logbook"}'] == 2
    assert max(map(len, calls)) < 200

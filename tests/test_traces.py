"""Claims about spans: which there are, what they say, and that nothing is sent unasked."""

import logging
import sys
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from copilot import app, traces
from tests.bench import ALERT, made_workspace


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Spans of this process; a provider can be set only once."""
    found = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(found))
    trace.set_tracer_provider(provider)
    return found


@pytest.fixture
def spans(exporter: InMemorySpanExporter, tmp_path: Path) -> tuple[ReadableSpan, ...]:
    """The spans of one offline investigation."""
    exporter.clear()
    app.run(made_workspace(tmp_path), ALERT, app.Wishes())
    return exporter.get_finished_spans()


def test_an_investigation_is_one_span_with_its_incident(spans: tuple[ReadableSpan, ...]) -> None:
    [agent] = [span for span in spans if span.name == "invoke_agent copilot"]

    assert agent.attributes
    assert str(agent.attributes["gen_ai.conversation.id"]).startswith("inc-")


def test_each_call_of_a_tool_is_a_span_below_it(spans: tuple[ReadableSpan, ...]) -> None:
    [agent] = [span for span in spans if span.name == "invoke_agent copilot"]
    tools = [span for span in spans if span.name.startswith("execute_tool ")]

    assert "execute_tool search_logbook" in {span.name for span in tools}
    assert {span.parent.span_id for span in tools if span.parent} == {agent.context.span_id}


def test_no_span_holds_a_line_of_a_log(spans: tuple[ReadableSpan, ...]) -> None:
    assert "cannot resolve host" not in "".join(span.to_json() for span in spans)


def test_nothing_is_exported_unless_a_collector_is_named() -> None:
    assert not traces.export({}, "1")


def test_without_the_extra_a_line_of_the_log_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)

    with caplog.at_level(logging.WARNING):
        exported = traces.export({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "1")

    assert not exported
    assert "its extra `otel`" in caplog.text

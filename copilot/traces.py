"""Spans around an investigation and around each call of a tool, in OpenTelemetry's GenAI words.

The model's SDK makes the spans of its own requests. Nothing is recorded until `export` is asked to,
and no span holds a payload. The names of attributes are those of semantic-conventions-genai.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context, get_current
from opentelemetry.trace import SpanKind, Status, StatusCode

LOG = logging.getLogger(__name__)
AGENT = "copilot"
WANTED = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""The standard variables; one of them set means that somebody collects spans."""


@contextmanager
def investigation(incident: str, model: str) -> Iterator[None]:
    """The span of one run over an incident."""
    about = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": incident,
        "gen_ai.request.model": model,
    }
    with trace.get_tracer(AGENT).start_as_current_span(
        f"invoke_agent {AGENT}", kind=SpanKind.INTERNAL, attributes=about
    ):
        yield


def here() -> Context:
    """The span that is open on this thread, for calls on other threads."""
    return get_current()


class ToolSpan:
    """The span of one call of a tool, below the one that was open where it was asked for."""

    def __init__(self, tool: str, call: str, parent: Context) -> None:
        about = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.call.id": call,
            "gen_ai.tool.type": "function",
        }
        tracer = trace.get_tracer(AGENT)
        self._span = tracer.start_span(f"execute_tool {tool}", parent, attributes=about)

    def end(self, *, ok: bool) -> None:
        """Close the span; a refused call is an error of the tool."""
        if not ok:
            self._span.set_attribute("error.type", "tool_error")
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


def export(environ: Mapping[str, str], version: str) -> bool:
    """Send spans to where the standard OTEL_ variables say; whether anybody wants them.

    Needs the extra `otel`; without it one line of the log says so.
    """
    if not any(environ.get(name) for name in WANTED):
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        LOG.warning("spans are wanted; install the package with its extra `otel`")
        return False
    named = Resource.create({"service.name": AGENT, "service.version": version})
    provider = TracerProvider(resource=named)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return True

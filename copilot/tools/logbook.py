"""The tools over logbooks: statistics first, then lines."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from connectors.logbook import Filters, Overview, Search
from copilot.errors import UsageError
from copilot.tools.arguments import Arguments, Query
from copilot.tools.base import Case, Outcome, Tool, pick
from copilot.tools.logbook_rows import entries_outcome, pattern_row, why_incomplete
from copilot.values import JsonObject, parse_reference, text_at
from copilot.window import Window, iso, parse_duration, parse_iso

LEVELS = Literal["FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"]
SEARCH_LIMIT = 500
CONTEXT_LIMIT = 20
TOP_TEMPLATES = 8


class Scoped(Query):
    """The part that every logbook tool shares: which logbook, which time, which entries."""

    logbook: str = Field("", description="Name, where there are several")
    since: str = Field("", description="Absolute UTC, 2026-01-31T12:00:00Z; empty = open")
    until: str = Field("", description="End, excluded")
    text: str = Field("", max_length=1000, description='Words AND-ed; "a phrase", -not, prefix*')
    levels: tuple[LEVELS, ...] = ()
    sources: tuple[str, ...] = Field((), description="Exact file or index names")
    fields: dict[str, str] = Field(default_factory=dict, description="Exact field values")

    def window(self) -> Window:
        """The window asked for. Raises UsageError."""
        return window_of(self.since, self.until)

    def filters(self) -> Filters:
        """The filters asked for."""
        return Filters(self.levels, self.sources, self.fields, self.text)

    def scope(self, case: Case) -> JsonObject:
        """The scope as executed, for the envelope."""
        filters = self.model_dump(
            mode="json", include={"text", "levels", "sources", "fields"}, exclude_defaults=True
        )
        name = pick(case.logbooks, self.logbook, "logbook").name
        return {"logbook": name, "window": str(self.window())} | (
            {"filters": filters} if filters else {}
        )


class FieldsArguments(Arguments):
    """Arguments of `logbook_fields`."""

    logbook: str = ""


class OverviewArguments(Scoped):
    """Arguments of `logbook_overview`."""

    bucket: str = Field("", description="5m, 1h; empty: about 24 buckets")


class SearchArguments(Scoped):
    """Arguments of `search_logbook`."""

    order: Literal["newest", "oldest", "ranked"] = "newest"
    limit: int = Field(40, ge=1, le=SEARCH_LIMIT)
    cursor: str = Field("", max_length=500, description="From the last page")


class PatternsArguments(Scoped):
    """Arguments of `logbook_patterns`."""

    baseline_since: str = Field("", description="A healthy time to compare with")
    baseline_until: str = ""


class ContextArguments(Arguments):
    """Arguments of `logbook_context`."""

    reference: str = Field("", description="R0007:41, or give source and line")
    source: str = ""
    line: int = Field(0, ge=0)
    logbook: str = ""
    before: int = Field(5, ge=0, le=CONTEXT_LIMIT)
    after: int = Field(10, ge=0, le=CONTEXT_LIMIT)


class TraceArguments(Arguments):
    """Arguments of `logbook_trace`."""

    id: str = Field(min_length=2, max_length=500, description="The identifier, whole")
    logbook: str = ""
    since: str = ""
    until: str = ""
    limit: int = Field(200, ge=1, le=SEARCH_LIMIT)


def window_of(since: str, until: str) -> Window:
    """The window of two ISO texts. Raises UsageError: a model's window is absolute or refused."""
    ends = []
    for name, text in (("since", since), ("until", until)):
        try:
            ends.append(parse_iso(text) if text else None)
        except (ValueError, OverflowError):
            raise UsageError(
                f"{name}={text!r} is not an absolute UTC time; write it as 2026-01-31T12:00:00Z"
            ) from None
    return Window(*ends)


def _fields(arguments: FieldsArguments, case: Case) -> Outcome:
    logbook = pick(case.logbooks, arguments.logbook, "logbook")
    found = logbook.fields()
    rows: list[JsonObject] = [
        {"field": item.name, "entries": item.count, "values": [list(v) for v in item.values[:5]]}
        for item in found.fields
    ]
    return Outcome(
        scope={"logbook": logbook.name},
        facts={"time_field": found.time_field, "entries": found.total},
        rows=tuple(rows),
        why_incomplete=found.coverage.why_incomplete,
        first=found.first,
        last=found.last,
    )


def _overview(arguments: OverviewArguments, case: Case) -> Outcome:
    width = parse_duration(arguments.bucket) if arguments.bucket else None
    logbook = pick(case.logbooks, arguments.logbook, "logbook")
    found: Overview = logbook.overview(arguments.window(), arguments.filters(), width)
    facts: JsonObject = {
        "bucket_s": int(found.bucket / timedelta(seconds=1)),
        "buckets": [[iso(item.start), item.count, item.errors] for item in found.buckets],
        "levels": dict(found.levels),
        "sources": dict(found.sources[:20]),
        "source_count": len(found.sources),
        "holes": [str(hole) for hole in found.holes],
    }
    rows = [pattern_row(item, item.samples[0]) for item in found.top[:TOP_TEMPLATES]]
    return Outcome(
        scope=arguments.scope(case),
        facts=facts,
        rows=tuple(rows),
        total=found.total,
        why_incomplete=why_incomplete(found.coverage, arguments.window()),
        first=found.first,
        last=found.last,
        hint="; ".join(found.coverage.notes),
    )


def _search(arguments: SearchArguments, case: Case) -> Outcome:
    logbook = pick(case.logbooks, arguments.logbook, "logbook")
    found = logbook.search(
        Search(
            arguments.filters(),
            arguments.window(),
            arguments.order,
            arguments.limit,
            arguments.cursor,
        )
    )
    scope = arguments.scope(case) | {"order": arguments.order}
    return entries_outcome(found, scope, arguments.window())


def _patterns(arguments: PatternsArguments, case: Case) -> Outcome:
    logbook = pick(case.logbooks, arguments.logbook, "logbook")
    baseline = None
    if arguments.baseline_since or arguments.baseline_until:
        baseline = window_of(arguments.baseline_since, arguments.baseline_until)
    found = logbook.patterns(arguments.window(), baseline, arguments.filters())
    rows = [pattern_row(item, item.samples[0]) for item in found.rose]
    gone = [pattern_row(item, item.samples[0]) | {"vanished": True} for item in found.vanished]
    more = [
        pattern_row(item, sample)
        for item in (*found.rose, *found.vanished)
        for sample in item.samples[1:]
    ]
    return Outcome(
        scope=arguments.scope(case) | ({"baseline": str(baseline)} if baseline else {}),
        facts={
            "templates": len(rows),
            "vanished": len(gone),
            "baseline_entries": found.baseline_total.value,
        },
        rows=(*rows, *gone, *more),
        total=found.total,
        why_incomplete=why_incomplete(found.coverage, arguments.window()),
        hint="; ".join(found.coverage.notes),
    )


def _context(arguments: ContextArguments, case: Case) -> Outcome:
    source, line, document = arguments.source, arguments.line, ""
    if arguments.reference:
        reference = parse_reference(arguments.reference)
        if reference is None or not reference.line:
            raise UsageError(f"{arguments.reference!r} is not a reference such as R0007:41")
        row = case.scratch.row(reference.handle, reference.line)
        source, line = str(row.get("source", "")), int(str(row.get("line") or 0))
        document = text_at(row, "document") if not line else ""
    if not document and (not source or not line):
        raise UsageError("give a reference to a log line, or source and line")
    logbook = pick(case.logbooks, arguments.logbook, "logbook")
    before = min(arguments.before, CONTEXT_LIMIT - 1)
    after = min(arguments.after, CONTEXT_LIMIT - 1 - before)
    found = logbook.context(document or source, line, before, after)
    around: JsonObject = {"around_document": document} if document else {"around_line": line}
    return entries_outcome(found, {"logbook": logbook.name, "source": source, **around})


def _trace(arguments: TraceArguments, case: Case) -> Outcome:
    logbook = pick(case.logbooks, arguments.logbook, "logbook")
    window = window_of(arguments.since, arguments.until)
    found = logbook.trace(arguments.id, window, arguments.limit)
    scope: JsonObject = {"logbook": logbook.name, "window": str(window), "id": arguments.id}
    return entries_outcome(found, scope, window)


TOOLS = (
    Tool("logbook_fields", "Fields of a logbook with sample values.", FieldsArguments, _fields),
    Tool(
        "logbook_overview",
        "Counts and errors over time, levels, sources, the most frequent "
        "message templates, holes. Start here.",
        OverviewArguments,
        _overview,
    ),
    Tool(
        "search_logbook",
        "Log entries that match. Answers count, top hit, range and digest; the lines go to scratch "
        "under a handle.",
        SearchArguments,
        _search,
    ),
    Tool(
        "logbook_patterns",
        "Message templates of a window by lift against a healthy baseline window, and templates "
        "that vanished. The quickest way to what changed.",
        PatternsArguments,
        _patterns,
    ),
    Tool(
        "logbook_context",
        "The lines around one line of one source, at most 20; by time where a log has no lines.",
        ContextArguments,
        _context,
    ),
    Tool(
        "logbook_trace",
        "Every entry that holds one identifier, oldest first, over all sources.",
        TraceArguments,
        _trace,
    ),
)

"""The tools over results that are already in scratch: a slice, a pattern, a question.

They show parts of rows that have references, so they make no handles of their own; only the table
that query_scratch computes is new, and is kept so that its figures can be cited. What they show was
shown by the source before, or was written by a query: no identifier counts as shown by them.
"""

from pydantic import Field

from copilot.errors import ScratchError
from copilot.scratch.query import Bounds, select
from copilot.scratch.question import Condition, Operator, Question, ask
from copilot.scratch.reading import Line, Span
from copilot.scratch.searching import Match, Search, search
from copilot.tools.arguments import Arguments
from copilot.tools.base import Case, Outcome, Tool
from copilot.values import Json, JsonObject, parse_reference

READ_BYTES = 4000
SEARCH_BYTES = 3200
QUERY_BYTES = 3200
HANDLE = Field(max_length=20, description="Such as R0007")


class ReadScratch(Arguments):
    """Arguments of `read_scratch`."""

    handle: str = HANDLE
    first: int = Field(1, description="First line, from 1")
    count: int = Field(10, ge=1, le=200)
    start: int = Field(0, ge=0, description="First column of each line")
    stop: int | None = Field(None, description="Column to stop before")


class SearchScratch(Arguments):
    """Arguments of `search_scratch`."""

    pattern: str = Field(min_length=1, max_length=1000, description="RE2; (?i) ignores case")
    handles: tuple[str, ...] = Field((), max_length=50, description="Empty: all of the incident")
    context: int = Field(0, ge=0, le=5)
    limit: int = Field(20, ge=1, le=100)


class Where(Arguments):
    """One condition of `query_scratch`."""

    column: str = Field(max_length=200)
    operator: Operator = "="
    value: str | int | float | bool | list[str | int | float]


class QueryScratch(Arguments):
    """Arguments of `query_scratch`."""

    handle: str = HANDLE
    sql: str = Field("", max_length=4000, description="One SELECT over the table rows; or typed:")
    columns: tuple[str, ...] = Field((), description="Also count, min(x), max(x), sum(x), avg(x)")
    where: tuple[Where, ...] = ()
    group_by: tuple[str, ...] = ()
    order_by: str = Field("", description="-x turns round")
    top: int = Field(20, ge=1, le=200)


def _read(arguments: ReadScratch, case: Case) -> Outcome:
    handle, first = _place(arguments.handle, arguments.first)
    span = Span(first, arguments.count, arguments.start, arguments.stop)
    found = case.scratch.read(handle, span, budget_bytes=READ_BYTES)
    rows: list[JsonObject] = [
        {"ref": f"{handle}:{line.number}", "columns": _columns(line), "text": line.text}
        for line in found.lines
    ]
    facts: JsonObject = {"lines": found.total_lines}
    if found.next_line:
        facts["next_first"] = found.next_line
    if found.next_column:
        facts["next_start"] = found.next_column
    more = "more lines" if found.next_line else ""
    return Outcome(
        scope={"handle": handle},
        rows=tuple(rows),
        facts=facts,
        why_incomplete=more,
        stored=False,
    )


def _search(arguments: SearchScratch, case: Case) -> Outcome:
    found = search(
        case.scratch,
        Search(
            pattern=arguments.pattern,
            handles=arguments.handles,
            context=arguments.context,
            limit=arguments.limit,
            budget_bytes=SEARCH_BYTES,
        ),
    )
    shown = len(found.matches)
    why = found.why_incomplete or (
        f"limit: {shown} of {found.total} shown" if shown < found.total else ""
    )
    return Outcome(
        scope={"handles": list(arguments.handles) or "all", "pattern": arguments.pattern},
        rows=tuple(_match(match) for match in found.matches),
        facts={"matches": found.total, "lines_searched": found.lines_searched},
        why_incomplete=why,
        stored=False,
    )


def _columns(line: Line) -> str:
    """Which part of the line is shown."""
    if not line.is_cut and not line.start:
        return "all"
    return f"{line.start}-{line.start + len(line.text)} of {line.length}"


def _match(match: Match) -> JsonObject:
    row: JsonObject = {"ref": str(match.reference), "field": match.field, "text": match.text}
    for name, lines in (("before", match.before), ("after", match.after)):
        if lines:
            row[name] = [f"{reference} {text}" for reference, text in lines]
    return row


def _query(arguments: QueryScratch, case: Case) -> Outcome:
    handle, _ = _place(arguments.handle, 1)
    bounds = Bounds(arguments.top, QUERY_BYTES)
    if arguments.sql:
        table = select(case.scratch, handle, arguments.sql, bounds)
    else:
        where = tuple(
            Condition(item.column, item.operator, _json(item.value)) for item in arguments.where
        )
        question = Question(arguments.columns, where, arguments.group_by, arguments.order_by)
        table = ask(case.scratch, handle, question, bounds)
    rows: list[JsonObject] = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return Outcome(
        scope={"handle": handle},
        rows=tuple({"source": f"query over {handle}", "values": row} for row in rows),
        why_incomplete=table.why_incomplete,
    )


def _json(value: str | float | bool | list[str | int | float]) -> str | float | bool | list[Json]:
    return list(value) if isinstance(value, list) else value


def _place(handle: str, first: int) -> tuple[str, int]:
    """The handle, also when a whole reference was written. Raises ScratchError otherwise."""
    reference = parse_reference(handle)
    if reference is None:
        raise ScratchError(f"{handle[:40]!r} is no handle; handles look like R0007")
    return reference.handle, reference.line or first


TOOLS = (
    Tool(
        "read_scratch",
        "Lines of a stored result, within a fixed budget.",
        ReadScratch,
        _read,
        shows=False,
    ),
    Tool(
        "search_scratch",
        "Lines of stored results that match a pattern, with references and the total.",
        SearchScratch,
        _search,
        shows=False,
    ),
    Tool(
        "query_scratch",
        "A small table from a stored result: filter, group, count. Keys are columns, inner ones "
        'as "outer.key", lists are JSON (json_array_length, json_each); ref is the reference.',
        QueryScratch,
        _query,
        shows=False,
    ),
)

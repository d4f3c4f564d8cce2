"""`usage.csv`: tokens and dollars by request, source and lever. A pure function of the journal."""

import csv
import io
from collections.abc import Iterable
from typing import get_args

from copilot.context.savings import LEVERS, Lever
from copilot.context.usage_rows import Row, rows
from copilot.journal import Event
from copilot.values import text_at
from copilot.window import iso
from policies.schema import ToolName

UNKNOWN = "n/a"
TOOLS: tuple[str, ...] = get_args(ToolName)
"""In the catalogue's order, those that are not installed included: so the columns stay."""
SOURCES = ("system", "tools", "alert", "state", "conversation", "summary")
COLUMNS = (
    "turn", "time", "model", "kind", "input", "cache_read", "cache_write", "output",
    "compactions", "compaction_tokens", "usd", "estimate",
    *(f"bytes_{source}" for source in SOURCES),
    *(f"bytes_{tool}" for tool in TOOLS), "bytes_other",
    "edits", "edits_results", "edits_freed", "edits_applied",
    "saved_offload", "saved_clearing", "saved_compaction",
    "broken_clearing", "broken_compaction", "broken_other",
    "miss", "miss_reported", "stop_reason", "ms",
)  # fmt: skip
Cell = str | int


def usage_csv(events: Iterable[Event]) -> str:
    """One line a request with the columns of `COLUMNS`, and a header. Unknown prices are `n/a`."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells(row) for row in rows(events))
    return out.getvalue()


def cells(row: Row) -> dict[str, Cell]:
    """The row by the names of `COLUMNS`. What does not apply is empty, what is not known `n/a`."""
    total = row.usage.total
    made = row.compactions
    return {
        "turn": row.turn,
        "time": iso(row.time),
        "model": row.model,
        "kind": row.kind,
        "input": total.input,
        "cache_read": total.cache_read,
        "cache_write": total.cache_write,
        "output": total.output,
        "compactions": len(made),
        "compaction_tokens": sum(one.prompt + one.output for one in made),
        "usd": UNKNOWN if row.usd is None else str(row.usd),
        "estimate": "" if row.estimate is None else row.estimate,
        **_sizes(row),
        **_levers(row),
        "miss": row.miss,
        "miss_reported": row.miss_reported,
        "stop_reason": row.stop_reason,
        "ms": "" if row.ms is None else row.ms,
    }


def broken_by(row: Row) -> Lever | None:
    """The lever that broke the cache before this request, if one did."""
    return next((lever for lever in LEVERS if row.miss == lever), None)


def freed_tokens(row: Row) -> int:
    """What the levers took out since the request before, less what they put in its place."""
    return round(sum(act.freed_bytes for act in row.acts) * row.per_byte)


def _sizes(row: Row) -> dict[str, Cell]:
    known = {f"bytes_{name}": row.bytes.get(name, 0) for name in (*SOURCES, *TOOLS)}
    other = sum(size for name, size in row.bytes.items() if f"bytes_{name}" not in known)
    return {**known, "bytes_other": other}


def _levers(row: Row) -> dict[str, Cell]:
    """What the levers did, kept out of this request, and broke of the cache."""
    by = broken_by(row)
    saved: dict[str, Cell] = {f"saved_{lever}": "" for lever in LEVERS}
    for lever, tokens in row.saved.items():
        saved[f"saved_{lever}"] = UNKNOWN if tokens is None else tokens
    return {
        "edits": "; ".join(act.name for act in row.acts),
        "edits_results": sum(act.results for act in row.acts) if row.acts else "",
        "edits_freed": freed_tokens(row) if row.acts else "",
        "edits_applied": "; ".join(map(_applied, row.applied)),
        **saved,
        "broken_clearing": row.broken if by == "clearing" else 0,
        "broken_compaction": row.broken if by == "compaction" else 0,
        "broken_other": row.broken if by is None else 0,
    }


def _applied(edit: object) -> str:
    """`clear_tool_uses_20250919 12 results 6301 tokens`, as the service reported it."""
    kind, uses, turns, tokens = (
        text_at(edit, key)  # type: ignore[arg-type]  # JSON of the service
        for key in ("type", "cleared_tool_uses", "cleared_thinking_turns", "cleared_input_tokens")
    )
    what = f"{uses} results" if uses else f"{turns} turns" if turns else ""
    return " ".join(filter(None, (kind, what, tokens and f"{tokens} tokens")))

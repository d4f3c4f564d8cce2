"""Tokens and dollars, by request and by source. A pure function of the journal."""

import csv
import io
from collections.abc import Iterable

from copilot.journal import Event
from copilot.ledger import TOKEN_KEYS
from copilot.values import list_at, object_at, text_at
from copilot.window import iso

COLUMNS = (
    "turn", "time", "model", "input", "cache_read", "cache_write", "output", "usd",
    "estimate", "bytes_system", "bytes_tools", "bytes_alert", "bytes_conversation",
    "bytes_results", "stop_reason", "attempts", "ms",
)  # fmt: skip


def usage_csv(events: Iterable[Event]) -> str:
    """One line a request with the columns of `COLUMNS`, and a header. Unknown prices are `n/a`."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    sizes: dict[str, int] = {}
    for event in events:
        if event.kind == "request":
            found = object_at(event.data, "bytes")
            sizes = {key: int(text_at(found, key) or 0) for key in found}
        if event.kind != "response":
            continue
        usage = object_at(event.data, "usage")
        named = ("system", "tools", "alert", "conversation")
        writer.writerow(
            {key: text_at(usage, key) or 0 for key in TOKEN_KEYS}
            | {f"bytes_{key}": sizes.get(key, 0) for key in named}
            | {
                "turn": event.turn,
                "time": iso(event.time),
                "model": text_at(event.data, "model"),
                "usd": text_at(event.data, "usd") or "n/a",
                "estimate": text_at(event.data, "estimate"),
                "bytes_results": sum(v for k, v in sizes.items() if k not in named),
                "stop_reason": text_at(event.data, "stop_reason"),
                "attempts": max(1, len(list_at(event.data, "attempts"))),
                "ms": text_at(event.data, "ms"),
            }
        )
    return out.getvalue()

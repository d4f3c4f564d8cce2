"""Why a request did not find in the prompt cache what the one before it left there. Pure.

Where the service says so itself (`diagnostics`), its word stands beside ours; the cause is named
from the journal either way, since "messages_changed" does not say which lever changed them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from copilot.journal import Event
from copilot.models.usage import Usage
from copilot.values import object_at, text_at

LIFETIME = timedelta(minutes=5)
"""Of the cache behind the messages, counted from its last use."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One answered request, as the cache saw it."""

    model: str
    time: datetime
    """When it was sent."""
    read: int
    cached: int
    """Tokens that the cache holds after it."""
    is_billed: bool
    """False when the service counted no tokens at all, as rules do not."""


def sent(model: str, time: datetime, usage: Usage) -> Sent:
    """That request as the cache saw it; of several samplings the last that is no summary."""
    entry = next((one for one in reversed(usage.billed) if one.kind != "compaction"), Usage())
    cached = entry.cache_read + entry.cache_write
    return Sent(model, time, entry.cache_read, cached, is_billed=usage.total.prompt > 0)


def cause(before: Sent | None, now: Sent, between: Iterable[str]) -> str:
    """Why *now* had to read afresh, in one word; empty when the cache held what it could.

    *between* are the levers and kinds of events since the request *before*.
    """
    if not now.is_billed:
        return ""
    if before is None:
        return "first_request"
    if not (before.cached or now.cached):
        return "not_cached"
    if now.read >= before.cached:
        return ""
    happened = set(between)
    named = {
        "model_changed": before.model != now.model,
        "compaction": "compaction" in happened,
        "clearing": "clearing" in happened,
        "pause": now.time - before.time > LIFETIME,
        "last_answer": "limit" in happened,  # tools are withheld: that alone loses the messages
        "support_changed": "support" in happened,
        "unknown": True,
    }
    return next(name for name, holds in named.items() if holds)


def reported(response: Event) -> str:
    """What the service says of the miss, or an empty text."""
    diagnostics = object_at(object_at(response.data, "raw"), "diagnostics")
    return text_at(object_at(diagnostics, "cache_miss_reason"), "type")

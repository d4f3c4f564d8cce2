"""When to clear and when to compact: decisions over the view, pure and recorded before they act.

Clearing takes rare, large bites: each one breaks the prompt cache from the first cleared result
on, so a bite must free enough to pay for the tail that is written again (`pays_back`). The same
decision serves both sides; whether the service or we empty the results is a question of support.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from copilot.context.compaction import Kind
from copilot.context.placement import BYTES_PER_TOKEN, MESSAGE_CHARACTERS
from copilot.context.request import Frame
from copilot.context.room import request_room
from copilot.context.view import ToolUse, View
from copilot.models.support import Support
from copilot.values import JsonObject, compact
from policies.schema import Policy

PLACEHOLDER_BYTES = 200
RANKS = ("first", "early", "normal")
"""Of tools, by `clear` of their policy: whose results go before whose."""
Numbered = tuple[int, ToolUse]
"""A tool use and its place, counted from the oldest."""
WINDOW_SHARE = 0.8
"""Of the model's window: beyond it the view is compacted whatever the policy's trigger."""
MAX_BAD = 2
"""Compactions in a row that failed or lost too much, after which code writes the summary."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Of one model, in any one unit per token: fresh or cached reading, and writing the cache."""

    write: float
    read: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """How large the request is by our best guess, and how long the investigation may go on."""

    tokens: int
    per_byte: float
    """Tokens a byte, corrected by what the service reported."""
    window: int
    turns_left: int
    prices: Prices


@dataclass(frozen=True, slots=True)
class Bite:
    """The results to clear. `up_to` counts tool uses from the oldest, protected ones included."""

    calls: tuple[str, ...]
    up_to: int
    freed: int
    """Tokens."""
    by: Literal["server", "client"]
    next: str
    """The first call that the next bite may take."""


def bite(view: View, frame: Frame, support: Support, outlook: Outlook) -> Bite | None:
    """What to clear now, or None: too small a request, nothing old enough, or not worth it.

    We take the results marked `first` alone where they are enough, else with them those marked
    `early`, else all. The service knows no such order: it clears the oldest, whatever they are.
    """
    clearing = frame.policy.clearing
    by = _who(clearing.by, support.clear_tool_uses, allowed=not support.binds_thinking)
    if by is None or outlook.tokens <= clearing.trigger_tokens:
        return None
    uses = list(view.tool_uses())
    old = _old(uses, frame)
    best, freed = list[Numbered](), 0
    for part in _helpings(old, frame.policy) if by == "client" else filter(None, [old]):
        span = _span(part, outlook.per_byte, uses[-1].turn)
        if span.freed >= at_least(view, frame, outlook, span):
            best, freed = part, span.freed
            if outlook.tokens - freed <= clearing.trigger_tokens:
                break
    if not best:
        return None
    calls, up_to = tuple(use.call for _, use in best), best[-1][0]
    left = (
        use.call
        for number, use in enumerate(uses, start=1)
        if use.call not in calls and use.tool not in frame.protected and not use.is_cleared
        if number > up_to or (number, use) in old
    )
    return Bite(calls, up_to, freed, by, next(left, ""))


def _old(uses: Sequence[ToolUse], frame: Frame) -> list[Numbered]:
    """The results that may go, oldest first."""
    newest_turn = uses[-1].turn if uses else 0
    behind = enumerate(uses[: max(0, len(uses) - frame.policy.clearing.keep)], start=1)
    return [
        (number, use)
        for number, use in behind
        if not use.is_cleared and use.tool not in frame.protected and use.turn < newest_turn
        if use.bytes > 2 * PLACEHOLDER_BYTES
    ]


def _helpings(old: Sequence[Numbered], policy: Policy) -> Iterator[list[Numbered]]:
    """Growing parts of *old*, oldest first: the first rank, with it the second, then all."""
    ranks = [RANKS.index(policy.tool(use.tool).clear) for _, use in old]
    for last in sorted(set(ranks)):
        yield [item for item, rank in zip(old, ranks, strict=True) if rank <= last]


@dataclass(frozen=True, slots=True)
class Span:
    """What a bite would take: from which call on, how many tokens, grown over how many turns."""

    first: str
    freed: int
    turns: int


def _span(taken: Sequence[Numbered], per_byte: float, newest_turn: int) -> Span:
    freed = sum(use.bytes - PLACEHOLDER_BYTES for _, use in taken) * per_byte
    oldest = taken[0][1]
    return Span(oldest.call, int(freed), newest_turn - oldest.turn + 1)


def at_least(view: View, frame: Frame, outlook: Outlook, span: Span) -> int:
    """The smallest bite worth the cache that it breaks, in tokens.

    `auto`, two bounds. The tail, what is behind the first cleared result and stays, must be written
    again once, and every turn that is left then reads that much less: the bite must pay for it.
    And the tail is written at each bite, while what waits to be cleared is read at each turn: the
    two cost least together when bites are as large as the square root of both (the economic order
    quantity, Harris 1913).
    """
    said = frame.policy.clearing.at_least_tokens
    if said != "auto":
        return said
    behind, is_behind = 0, False
    for piece in view.pieces:
        is_behind |= piece.call == span.first
        behind += piece.bytes * is_behind
    tail = max(0, int(behind * outlook.per_byte) - span.freed)
    again = tail * pays_back(outlook.prices)
    grown = span.freed / max(1, span.turns)
    return math.ceil(max(again / max(1, outlook.turns_left), math.sqrt(2 * again * grown)))


def pays_back(prices: Prices) -> float:
    """Turns that clearing one token before a tail of one token takes to pay: (write-read)/read.

    About 11.5 at classic prices, 24 on the 5.5 models (Anthropic's price page, 2026-11).
    """
    return (prices.write - prices.read) / prices.read if prices.read else math.inf


def compaction(frame: Frame, support: Support, outlook: Outlook, bad: int) -> Kind | None:
    """Which kind of compaction is due now, or None. *bad* counts failed ones in a row."""
    policy = frame.policy.compaction
    fixed = int(frame.bytes / BYTES_PER_TOKEN)
    due = outlook.tokens > max(policy.trigger_tokens, fixed + policy.summary_tokens)
    full = is_full(frame, outlook)
    if policy.by == "off" or not (due or full):
        return None
    if bad >= MAX_BAD:
        return "state"
    if outlook.tokens + policy.summary_tokens > outlook.window and policy.by != "server":
        return "state"  # nobody can read it any more to summarise it
    if policy.by in ("auto", "server") and policy.kind != "threshold" and support.on_demand:
        return "on_demand"
    if policy.by in ("auto", "server") and support.threshold and not full:
        return None  # the service does it within the next request
    return "client" if policy.by in ("auto", "client") else None


def is_full(frame: Frame, outlook: Outlook) -> bool:
    """Whether the request is so large that the answer or the report would soon find no room."""
    room = min(int(outlook.window * WINDOW_SHARE), request_room(frame, outlook.window))
    return outlook.tokens > room


def placeholder(result: JsonObject) -> str:
    """What stands in place of a cleared result: how to have it again, and how large it is."""
    return compact(
        {
            "cleared": result.get("handle") or "not kept",
            "tool": result.get("tool"),
            "arguments": _short(result.get("arguments")),
            "total": result.get("total"),
            "again": "by its handle",
        }
    )


def _short(value: object) -> str:
    return str(value)[:MESSAGE_CHARACTERS]


def _who(by: str, server: bool, *, allowed: bool) -> Literal["server", "client"] | None:
    """Who clears: `auto` prefers the service, since its clearing leaves thoughts valid."""
    if by in ("auto", "server") and server:
        return "server"
    return "client" if by in ("auto", "client") and allowed else None

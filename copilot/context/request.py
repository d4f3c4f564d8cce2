"""From the view to the request: a pure function, so that the same journal sends the same bytes.

The system prompt and the tools never change within an investigation; what is volatile goes last.
Betas follow from the features that a request uses and are never set by hand.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from copilot.context.view import THOUGHTS, Piece, View, joined
from copilot.journal import Event
from copilot.models.model import Json, Request
from copilot.models.support import NOTHING, Support
from copilot.values import compact
from policies.schema import Policy

CLEARING = "context-management-2025-06-27"
ON_DEMAND = "compact-2026-09-04"
THRESHOLD = "compact-2026-01-12"
DIAGNOSTICS = "cache-diagnosis-2026-04-07"
LEAST_THRESHOLD = 50_000
"""Tokens; the service refuses a smaller trigger of its threshold compaction."""


@dataclass(frozen=True)
class Frame:
    """What stays byte for byte the same through an investigation, and the policy it obeys."""

    model: str
    system: str
    tools: tuple[Json, ...]
    max_tokens: int
    policy: Policy
    effort: str = "auto"

    @cached_property
    def protected(self) -> tuple[str, ...]:
        """Tools whose results are never cleared: from the policy, and only those that there are."""
        names = sorted(tool["name"] for tool in self.tools)
        return tuple(name for name in names if self.policy.tool(name).clear == "never")

    def system_blocks(self) -> tuple[Json, ...]:
        """The system prompt; its breakpoint covers the tools as well."""
        return (_marked({"type": "text", "text": self.system}, self.policy.caching.system),)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Bytes of what every request carries."""
        tools = sum(len(compact(tool).encode()) for tool in self.tools)
        return {"system": len(self.system.encode()), "tools": tools}

    @cached_property
    def bytes(self) -> int:
        """The size of what every request carries."""
        return sum(self.sizes.values())


def build(
    view: View, frame: Frame, support: Support = NOTHING, *, max_tokens: int | None = None
) -> Request:
    """The next request; its answer may take *max_tokens*, else what the frame says."""
    edits = list(_edits(view, frame, support))
    messages = joined(view.pieces)
    if not view.is_paused:
        messages = marked_messages(messages, frame.policy, joints=view.joints)
    extra = sampling(frame, support)
    if support.diagnostics:
        extra["diagnostics"] = {"previous_message_id": view.last_message_id or None}
    return Request(
        model=frame.model,
        system=frame.system_blocks(),
        tools=frame.tools,
        messages=tuple(messages),
        max_tokens=max_tokens or frame.max_tokens,
        # Not an empty tool list: that would lose the cache and unbind the thinking.
        tool_choice={"type": "none"} if view.is_closed else None,
        betas=tuple(_betas(view, edits, extra)),
        context_management={"edits": edits} if edits else None,
        extra=extra,
    )


def thinks(frame: Frame, support: Support) -> bool:
    """Whether the model is let to think."""
    return support.adaptive_thinking and frame.policy.thinking.mode == "adaptive"


def sampling(frame: Frame, support: Support) -> dict[str, Json]:
    """Thinking and effort: a request that differs in them does not read the messages' cache."""
    chosen: dict[str, Json] = {}
    if thinks(frame, support):
        chosen["thinking"] = {"type": "adaptive"}
    if frame.effort != "auto":
        chosen["output_config"] = {"effort": frame.effort}
    return chosen


def build_request(events: Iterable[Event], frame: Frame, support: Support = NOTHING) -> Request:
    """The request that follows *events*."""
    return build(View(events), frame, support)


def _edits(view: View, frame: Frame, support: Support) -> Iterator[Json]:
    """The service's edits in the order that it asks for: thinking, tool uses, compaction."""
    keep = frame.policy.thinking.keep_turns
    if thinks(frame, support) and support.clear_thinking and keep != "all":
        yield {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": keep}}
    if view.clear_up_to and support.clear_tool_uses:
        # We choose the bite and the service takes it: `keep` grows with the conversation, so
        # that the same results stay cleared and the cached beginning stays as it is.
        uses = sum(
            block.get("type") == "tool_use" for piece in view.pieces for block in piece.blocks
        )
        edit: Json = {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "tool_uses", "value": 1},
            "keep": {"type": "tool_uses", "value": uses - view.clear_up_to},
            "exclude_tools": list(frame.protected),
        }
        inputs = [tool["name"] for tool in frame.tools if _clears_inputs(frame, tool)]
        yield edit | ({"clear_tool_inputs": inputs} if inputs else {})
    compaction = frame.policy.compaction
    wanted = compaction.by in ("auto", "server") and compaction.kind != "on_demand"
    if wanted and support.threshold and not support.on_demand and not view.signed_block:
        trigger = max(compaction.trigger_tokens, LEAST_THRESHOLD)
        yield {
            "type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": trigger},
            "pause_after_compaction": True,
            "instructions": compaction.instructions,
        }


def _clears_inputs(frame: Frame, tool: Json) -> bool:
    return frame.policy.tool(tool["name"]).clear_inputs


def _betas(view: View, edits: Iterable[Json], extra: Iterable[str]) -> Iterator[str]:
    kinds = {edit["type"] for edit in edits}
    if kinds & {"clear_thinking_20251015", "clear_tool_uses_20250919"}:
        yield CLEARING
    blocks = tuple(block_betas(view.pieces))
    if "compact_20260112" in kinds and THRESHOLD not in blocks:
        yield THRESHOLD
    yield from blocks
    if "diagnostics" in extra:
        yield DIAGNOSTICS


def block_betas(pieces: Iterable[Piece]) -> Iterator[str]:
    """The beta of each kind of summary block that stands in *pieces*."""
    signed = {
        "signature" in block
        for piece in pieces
        for block in piece.blocks
        if block.get("type") == "compaction"
    }
    if False in signed:
        yield THRESHOLD
    if True in signed:
        yield ON_DEMAND


def marked_messages(
    messages: list[Json], policy: Policy, *, joints: Sequence[str] = ()
) -> list[Json]:
    """The messages with at most three cache marks: the newest block, and up to two more.

    After a clearing these stand before the results of the calls in *joints*; else one is on the
    service's summary, and one in between when a turn adds more blocks than are looked back (20).
    """
    ttl = policy.caching.messages
    if ttl == "off" or not messages:
        return messages
    newest = len(messages[-1]["content"])
    places = {(len(messages) - 1, newest - 1)}
    if joints:
        places |= _just_before(messages, joints[:2])
    else:
        if messages[0]["content"][0].get("type") == "compaction":
            places.add((0, 0))
        if newest > policy.caching.between_blocks:
            places.add((len(messages) - 1, newest - 1 - policy.caching.between_blocks))
    for message, block in places:
        content = list(messages[message]["content"])
        content[block] = _marked(content[block], ttl)
        messages[message] = messages[message] | {"content": content}
    return messages


def _just_before(messages: list[Json], calls: Sequence[str]) -> set[tuple[int, int]]:
    """The places of the blocks before the results of *calls*; thoughts cannot carry a mark."""
    places = [
        (i, j, block)
        for i, message in enumerate(messages)
        for j, block in enumerate(message["content"])
    ]
    return {
        (i, j)
        for (i, j, block), (_, _, following) in pairwise(places)
        if following.get("tool_use_id") in calls and block.get("type") not in THOUGHTS
    }


def _marked(block: Json, ttl: str) -> Json:
    """The block with a cache mark; five minutes is what a mark says by itself."""
    if ttl == "off":
        return block
    mark: Json = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    return block | {"cache_control": mark}

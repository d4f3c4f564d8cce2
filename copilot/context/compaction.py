"""One request for a summary, and what came of it. Pure; both sides of compaction share it.

The cut is at a joint: whole turns, every call with its results. The tail behind it stays verbatim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from copilot.context.instructions import SUMMARY
from copilot.context.request import ON_DEMAND, Frame, block_betas, marked_messages, sampling
from copilot.context.view import Piece, joined
from copilot.models.model import Json, Request, Response, verdict
from copilot.models.support import Support

Kind = Literal["on_demand", "client", "state", "threshold"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the model made of the older turns. Both are empty when it failed."""

    block: Json | None = None
    """The service's signed block, to be sent back as it is."""
    text: str = ""

    @property
    def content(self) -> str:
        """What it says, whichever kind it is."""
        return str(self.block.get("content") or "") if self.block else self.text


def split(pieces: Sequence[Piece], keep_from: int) -> tuple[list[Piece], list[Piece]]:
    """The pieces before turn *keep_from*, and those from it on."""
    older = [piece for piece in pieces if piece.turn < keep_from]
    return older, [piece for piece in pieces if piece.turn >= keep_from]


def summary_request(older: Sequence[Piece], frame: Frame, support: Support, kind: Kind) -> Request:
    """The request for a summary of *older*. All else is as in any request: so the cache holds.

    For the same reason nothing but words forbids a call; an answer that calls is no summary.
    """
    policy = frame.policy.compaction
    wanted = policy.instructions or SUMMARY
    messages = joined(older)
    betas = [beta for beta in block_betas(older) if kind != "on_demand" or beta != ON_DEMAND]
    plain = Request(
        model=frame.model,
        system=frame.system_blocks(),
        tools=frame.tools,
        messages=tuple(marked_messages(messages, frame.policy)),
        max_tokens=policy.summary_tokens,
        betas=tuple(betas),
        extra=sampling(frame, support),
    )
    if kind == "on_demand":
        wish = {"type": "summarize", "instructions": wanted}
        extra = {**plain.extra, "compaction": wish}
        return replace(plain, betas=(*betas, ON_DEMAND), extra=extra)
    ask: Json = {"role": "user", "content": [{"type": "text", "text": wanted}]}
    if messages[-1]["role"] == "user":
        ask = {"role": "user", "content": [*messages.pop()["content"], *ask["content"]]}
    return replace(plain, messages=(*messages, ask))


def summary_in(response: Response, kind: Kind) -> Summary:
    """The summary in the answer; a failed one is a 200 with nothing in it, or a null."""
    if kind == "on_demand":
        blocks = [block for block in response.content if block.get("type") == "compaction"]
        whole = len(blocks) == 1 and bool(blocks[0].get("content"))
        return Summary(block=blocks[0]) if whole else Summary()
    return Summary(text=response.text) if verdict(response) == "done" else Summary()

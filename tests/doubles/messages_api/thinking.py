"""Thinking: which kinds a model takes, and signatures bound to what came before them.

A signature of the double says for which model, prefix and text it was made, so that another double
(after a restart) can check it too.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tests.doubles.messages_api.catalog import Kind
from tests.doubles.messages_api.fields import BINDING_BETA
from tests.doubles.messages_api.refusal import Json, Refusal, extra
from tests.doubles.messages_api.tokens import canonical, readable, system_blocks, walk

THOUGHTS = frozenset({"thinking", "redacted_thinking"})
MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)


@dataclass(frozen=True, slots=True)
class Seal:
    """What a signature vouches for."""

    model: str
    fixed: str
    """System and tools."""
    prefix: str
    """All messages before the block."""
    text: str
    before: str
    """The thinking block before this one, so that only leading ones can be left out."""

    def encoded(self) -> str:
        """The signature."""
        return base64.b64encode(json.dumps(asdict(self)).encode()).decode()


def opened(signature: object) -> Seal | None:
    """The seal, or None when the double never made such a signature."""
    try:
        return Seal(**json.loads(base64.b64decode(str(signature), validate=True)))
    except (ValueError, TypeError, binascii.Error):
        return None


def digest(*parts: object) -> str:
    """A short hash of any JSON values."""
    return hashlib.sha256(b"\0".join(canonical(part) for part in parts)).hexdigest()[:16]


def fixed_digest(body: Json) -> str:
    """The hash of system and tools, cache marks left out."""
    parts = (
        [readable(b) for b in blocks] for blocks in (system_blocks(body), body.get("tools") or [])
    )
    return digest(*parts)


def chained(prefix: str, role: str, block: Json, summaries: Mapping[str, str]) -> str:
    """The hash of the conversation after *block*. A summary stands for what it replaced."""
    if block["type"] in THOUGHTS:
        return prefix
    if block["type"] == "compaction" and block.get("content") is not None:
        return summaries.get(digest(block["content"]), digest("unknown summary", readable(block)))
    return digest(prefix, role, readable(block))


def prefix_digest(messages: list[Json], summaries: Mapping[str, str]) -> str:
    """The hash of a whole conversation."""
    prefix = ""
    for _, _, role, block in walk(messages):
        prefix = chained(prefix, role, block, summaries)
    return prefix


def thinks(body: Json, kind: Kind) -> bool:
    """True when the model thinks on this request."""
    return kind.always_thinks or (body.get("thinking") or {}).get("type", "disabled") != "disabled"


def check_thinking(body: Json, kind: Kind, betas: frozenset[str]) -> None:
    """Refuse a kind of thinking that the model does not have."""
    thinking = body.get("thinking")
    if thinking is None:
        return
    if thinking.get("type") not in kind.thinking:
        allowed = ", ".join(sorted(kind.thinking))
        raise Refusal(
            f"thinking.type: `{thinking.get('type')}` is not supported by {body['model']}; "
            f"supported: {allowed}"
        )
    if "block_binding" in thinking and BINDING_BETA not in betas:
        raise extra(f"thinking.{thinking['type']}.block_binding")
    if thinking["type"] == "enabled" and thinking.get("budget_tokens", 0) < 1024:
        path = "thinking.enabled.budget_tokens"
        raise Refusal(f"{path}: Input should be greater than or equal to 1024")


def misplaced_thoughts(
    body: Json, kind: Kind, summaries: Mapping[str, str]
) -> list[tuple[int, int]]:
    """The places of blocks that belong to another conversation. Refuses those changed or forged."""
    last = max((i for i, m in enumerate(body["messages"]) if m["role"] == "assistant"), default=-1)
    fixed, prefix, before, wrong = fixed_digest(body), "", "", []
    for index, place, role, block in walk(body["messages"]):
        prefix = chained(prefix, role, block, summaries)
        if block["type"] not in THOUGHTS:
            continue
        seal = opened(block.get("signature", block.get("data")))
        if seal is None:
            raise Refusal(
                f"messages.{index}.content.{place}: Invalid `signature` in `thinking` block"
            )
        if seal.text != digest(block.get("thinking", "")):
            path = f"messages.{index}.content.{place}"
            raise Refusal(
                f"{path}: {MODIFIED}" if index == last
                else f"{path}: Invalid `signature` in `thinking` block"
            )  # fmt: skip
        if seal.model != body["model"] or not kind.binds_thinking:
            continue  # another model's thinking is dropped without a word
        if (seal.fixed, seal.prefix) != (fixed, prefix) or (before and seal.before != before):
            wrong.append((index, place))
        before = digest(block)
    return wrong


def refuse_or_drop(body: Json, places: list[tuple[int, int]]) -> Json:
    """The body without the blocks at *places*, where the request asked for that; else a refusal."""
    if not places:
        return body
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    if binding.get("prefix_mismatch_behavior") != "drop_block":
        index, place = places[0]
        raise Refusal(
            f"messages.{index}.content.{place}: Invalid `signature` in `thinking` block. "
            "The block is bound to a different conversation."
        )
    kept = [
        {**message, "content": [b for place, b in enumerate(message["content"]) if (index, place) not in places]}
        if isinstance(message["content"], list) else message
        for index, message in enumerate(body["messages"])
    ]  # fmt: skip
    return {**body, "messages": kept}


def signed(content: list[Json], body: Json, summaries: Mapping[str, str]) -> list[Json]:
    """The reply's blocks, each thinking block signed for the conversation that it belongs to."""
    fixed, prefix = fixed_digest(body), prefix_digest(body["messages"], summaries)
    thoughts = [block for *_, block in walk(body["messages"]) if block["type"] in THOUGHTS]
    before = digest(thoughts[-1]) if thoughts else ""
    blocks = []
    for block in content:
        if block["type"] == "thinking" and "signature" not in block:
            seal = Seal(body["model"], fixed, prefix, digest(block["thinking"]), before)
            block = {**block, "signature": seal.encoded()}  # noqa: PLW2901
        before = digest(block) if block["type"] in THOUGHTS else before
        prefix = chained(prefix, "assistant", block, summaries)
        blocks.append(block)
    return blocks

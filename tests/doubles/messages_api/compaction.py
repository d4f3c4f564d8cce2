"""Both kinds of compaction: the rules of their blocks and of the request that asks for a summary."""

import base64
import binascii
import json
from collections.abc import Callable

from tests.doubles.messages_api.catalog import Kind
from tests.doubles.messages_api.clearing import COMPACT, edits_of
from tests.doubles.messages_api.fields import (
    BETA_FIELDS,
    FIELDS,
    SUMMARIZE_BETA,
    THRESHOLD_BETA,
)
from tests.doubles.messages_api.refusal import Json, Refusal, extra, wrong_tag
from tests.doubles.messages_api.thinking import digest
from tests.doubles.messages_api.tokens import walk

LONGEST_INSTRUCTIONS = 16_384
Summariser = Callable[[Json, str | None], str | None]
"""(request as the model reads it, instructions) -> the summary, or None for a failed one."""


def plain_summary(body: Json, instructions: str | None) -> str:
    """A short summary that keeps nothing but counts; tests bring their own."""
    blocks = list(walk(body["messages"]))
    calls = sum(block["type"] == "tool_use" for *_, block in blocks)
    asked = f" Instructions had {len(instructions)} characters." if instructions else ""
    return f"Summary of {len(body['messages'])} messages with {calls} tool calls.{asked}"


def compactions(body: Json) -> list[tuple[int, int, Json]]:
    """The compaction blocks of a request with their places."""
    return [(i, j, b) for i, j, _, b in walk(body["messages"]) if b["type"] == "compaction"]


def check_compactions(body: Json, betas: frozenset[str]) -> None:
    """Refuse compaction blocks without their beta, out of place, doubled or tampered with."""
    blocks = compactions(body)
    signed = [place for place in blocks if "signature" in place[2]]
    for index, place, block in blocks:
        needed = SUMMARIZE_BETA if "signature" in block else THRESHOLD_BETA
        if needed not in betas:
            raise wrong_tag(f"messages.{index}.content.{place}", "compaction")
    if not signed:
        return
    if len(blocks) > 1:
        raise _refusal("block_ambiguous", "more than one compaction block was sent")
    index, place, block = signed[0]
    if (index, place) != (0, 0):
        path = f"messages.{index}.content.{place}"
        raise _refusal(
            "block_misplaced", f"{path}: the compaction block must be first in `messages`"
        )
    if any(edit["type"] == COMPACT for edit in edits_of(body)):
        raise Refusal(f"`{COMPACT}` cannot be used with a signed compaction block")
    _check_seal(block, body["messages"])


def check_summary_request(body: Json, kind: Kind) -> None:
    """Refuse a request for a summary that the service would not make."""
    wish = body["compaction"]
    if wish.get("type") != "summarize" or not kind.summarizes:
        raise wrong_tag("compaction", wish.get("type"))
    for name in sorted(set(wish) - {"type", "instructions"}):
        raise extra(f"compaction.summarize.{name}")
    if len(wish.get("instructions") or "") > LONGEST_INSTRUCTIONS:
        path = "compaction.summarize.instructions"
        raise Refusal(f"{path}: String should have at most {LONGEST_INSTRUCTIONS} characters")
    output = body.get("output_config") or {}
    together = {
        "context_management": bool(body.get("context_management")),
        "stop_sequences": bool(body.get("stop_sequences")),
        "output_config.format": "format" in output,
        "output_config.task_budget.remaining": "remaining" in (output.get("task_budget") or {}),
        "tool_choice": (body.get("tool_choice") or {}).get("type") in ("any", "tool"),
    }
    for field in (name for name, is_set in together.items() if is_set):
        raise Refusal(f"`{field}` cannot be used together with `compaction`")
    blocks = [(role, block) for *_, role, block in walk(body["messages"])]
    if all(block["type"] == "compaction" for _, block in blocks):
        raise _refusal("nothing_to_summarize", "there is nothing to summarize")
    if blocks[-1][0] == "assistant" and any(
        block["type"] == "tool_use" for block in body["messages"][-1]["content"]
        if isinstance(block, dict)
    ):  # fmt: skip
        raise _refusal("incomplete_turn", "the last `tool_use` has no `tool_result`")


def after_last_compaction(body: Json) -> Json:
    """The body as the model reads it: nothing before the last summary, no failed summaries."""
    places = [(i, j) for i, j, block in compactions(body) if block.get("content") is not None]
    start, offset = places[-1] if places else (0, 0)
    messages = []
    for index, message in enumerate(body["messages"][start:]):
        content = message["content"]
        if isinstance(content, list):
            content = [
                block
                for block in (content[offset:] if index == 0 else content)
                if block["type"] != "compaction" or block.get("content") is not None
            ]
        if content:
            messages.append({**message, "content": content})
    return {**body, "messages": messages}


def forgotten(body: Json) -> Json:
    """The body as a server reads it that knows neither edits nor compaction, and does not say so."""
    messages = []
    for message in body.get("messages", []):
        content = message["content"]
        if isinstance(content, list):
            content = [block for block in content if block.get("type") != "compaction"]
        if content:
            messages.append({**message, "content": content})
    known = {name: value for name, value in body.items() if name in FIELDS}
    return {**known, "messages": messages}


def check_absent(body: Json) -> None:
    """Refuse edits and compaction as a gateway does that never heard of them, beta or not."""
    for name in sorted(set(BETA_FIELDS) & set(body)):
        raise extra(name)
    for index, place, _ in compactions(body):
        raise wrong_tag(f"messages.{index}.content.{place}", "compaction")


def signed_block(summary: str, prefix: str, last_role: str) -> Json:
    """The block that an on-demand compaction answers with."""
    seal = {
        "content": digest(summary),
        "prefix": prefix,
        "last_role": last_role,
        "tools": digest([]),
    }
    signature = base64.b64encode(json.dumps(seal).encode()).decode()
    return {"type": "compaction", "content": summary, "signature": signature, "tool_changes": []}


def sealed_prefix(block: Json) -> str | None:
    """The hash of what a signed block replaced, or None when the signature is forged."""
    seal = _opened(block)
    return seal["prefix"] if seal else None


def _check_seal(block: Json, messages: list[Json]) -> None:
    seal = _opened(block)
    if seal is None:
        raise _refusal("signature_invalid", "the compaction block's signature is invalid")
    if seal["content"] != digest(block.get("content")):
        raise _refusal("content_mismatch", "the compaction block's content was changed")
    if seal["tools"] != digest(block.get("tool_changes", [])):
        raise _refusal("tool_changes_mismatch", "the compaction block's tool_changes were changed")
    alone = len(messages[0]["content"]) == 1
    following = messages[1]["role"] if alone and len(messages) > 1 else messages[0]["role"]
    # A user message may be new; an assistant's is always a kept one, and has to take its turn.
    if (not alone or len(messages) > 1) and (
        following == "system" or following == seal["last_role"] == "assistant"
    ):
        raise Refusal(
            f"messages: the first kept message has role {following!r}, as the last summarized one"
        )


def _opened(block: Json) -> dict[str, str] | None:
    try:
        raw = base64.b64decode(str(block.get("signature")), validate=True)
        seal: dict[str, str] = json.loads(raw)
        return seal if {"content", "prefix", "last_role", "tools"} <= set(seal) else None
    except (ValueError, TypeError, binascii.Error):
        return None


def _refusal(code: str, message: str) -> Refusal:
    return Refusal(message, code=f"compaction_{code}")

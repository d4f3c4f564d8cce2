"""Deterministic token estimates: bytes of what the model reads, divided by a constant."""

import json
from collections.abc import Iterable, Iterator

from tests.doubles.messages_api.refusal import Json

UNREAD = frozenset({"cache_control", "signature", "encrypted_content"})
BYTES_PER_TOKEN = 3
MESSAGE_OVERHEAD = 3


def canonical(value: object) -> bytes:
    """The bytes that stand for *value* wherever the double compares or counts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")


def readable(block: Json) -> Json:
    """The block without what the model never reads."""
    return {key: value for key, value in block.items() if key not in UNREAD}


def count(block: Json) -> int:
    """The tokens of one tool, system block or content block."""
    return -(-len(canonical(readable(block))) // BYTES_PER_TOKEN)


def blocks_of(message: Json) -> list[Json]:
    """The content as blocks; a plain text is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def system_blocks(body: Json) -> list[Json]:
    """The system prompt as blocks."""
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else system


def walk(messages: Iterable[Json]) -> Iterator[tuple[int, int, str, Json]]:
    """Yield each content block as (message index, block index, role, block)."""
    for index, message in enumerate(messages):
        for place, block in enumerate(blocks_of(message)):
            yield index, place, message["role"], block


def prompt_tokens(body: Json) -> int:
    """The tokens of the whole prompt: tools, system and messages."""
    fixed = sum(count(block) for block in [*(body.get("tools") or []), *system_blocks(body)])
    said = sum(count(block) for *_, block in walk(body["messages"]))
    return fixed + said + MESSAGE_OVERHEAD * len(body["messages"])

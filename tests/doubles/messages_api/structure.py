"""The rules of the conversation: roles, non-empty content, known blocks, every call answered."""

import itertools

from tests.doubles.messages_api.fields import TOOL_NAME
from tests.doubles.messages_api.refusal import Json, Refusal, extra, wrong_tag
from tests.doubles.messages_api.tokens import walk

MAX_MESSAGES = 100_000
BLOCK_FIELDS = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "document": frozenset({"type", "source", "title", "context", "cache_control", "citations"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "server_tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "compaction": frozenset(
        {"type", "content", "encrypted_content", "signature", "tool_changes", "cache_control"}
    ),
}
ASSISTANT_ONLY = frozenset({"tool_use", "thinking", "redacted_thinking", "server_tool_use"})
USER_ONLY = frozenset({"tool_result", "image", "document"})
EMPTY_TEXT = "messages: text content blocks must be non-empty"
PREFILL = (
    "This model does not support assistant message prefill. "
    "The conversation must end with a user message."
)
Place = tuple[int, int, Json]


def check_shape(messages: list[Json]) -> None:
    """Refuse messages and blocks that are not what they should be, each for itself."""
    if not messages:
        raise Refusal("messages: at least one message is required")
    if len(messages) > MAX_MESSAGES:
        raise Refusal(f"messages: List should have at most {MAX_MESSAGES} items")
    for index, message in enumerate(messages):
        _check_message(index, message)
    for index, place, role, block in walk(messages):
        _check_block(f"messages.{index}.content.{place}", role, block)


def check_order(messages: list[Json], *, may_end_open: bool) -> None:
    """Refuse a conversation whose messages do not follow from each other.

    *may_end_open* says whether an assistant message may stand last.
    """
    _check_start(messages)
    _check_system_turns(messages)
    _check_pairs(messages)
    if messages[-1]["role"] == "assistant" and not may_end_open:
        raise Refusal(PREFILL)


def _check_message(index: int, message: Json) -> None:
    for field in sorted(set(message) - {"role", "content"}):
        raise extra(f"messages.{index}.{field}")
    if message.get("role") not in ("user", "assistant", "system"):
        raise Refusal(f"messages.{index}.role: Input should be 'user', 'assistant' or 'system'")
    content = message.get("content")
    if not isinstance(content, str | list):
        raise Refusal(f"messages.{index}.content: Input should be a valid list or string")
    if not content:
        raise Refusal(f"messages.{index}: all messages must have non-empty content")


def _check_block(path: str, role: str, block: Json) -> None:
    kind = block.get("type")
    known = BLOCK_FIELDS.get(str(kind))
    if known is None:
        raise wrong_tag(path, kind)
    for field, value in block.items():
        # Null is refused as if the field did not exist; only a failed compaction is null by right.
        if field not in known or (value is None and (kind, field) != ("compaction", "content")):
            raise extra(f"{path}.{kind}.{field}")
    if (role != "assistant" and kind in ASSISTANT_ONLY) or (role != "user" and kind in USER_ONLY):
        raise Refusal(f"{path}: `{kind}` blocks are not allowed in `{role}` messages")
    _check_content(path, role, block)


def _check_content(path: str, role: str, block: Json) -> None:
    match block["type"]:
        case "text":
            _check_text(block)
            if role == "user" and block.get("citations"):
                raise Refusal(f"{path}.text.citations: citations are not allowed in user messages")
        case "tool_use":
            if not isinstance(block.get("input"), dict):
                raise Refusal(f"{path}.tool_use.input: Input should be a valid dictionary")
            if not TOOL_NAME.fullmatch(str(block.get("name"))):
                raise Refusal(f"{path}.tool_use.name: String should match pattern")
        case "tool_result" if isinstance(block.get("content"), list):
            _check_result(f"{path}.tool_result", block["content"])
        case "compaction" if block.get("content") == "":
            raise Refusal(f"{path}.compaction.content: compaction content must be non-empty")


def _check_result(path: str, parts: list[Json]) -> None:
    for place, part in enumerate(parts):
        if part.get("type") not in ("text", "image", "document"):
            raise wrong_tag(f"{path}.content.{place}", part.get("type"))
        if part["type"] == "text":
            _check_text(part)


def _check_text(block: Json) -> None:
    if not str(block.get("text", "")).strip():
        raise Refusal(EMPTY_TEXT)


def _check_start(messages: list[Json]) -> None:
    first = messages[0]
    starts_with_summary = any(
        index == place == 0 and block["type"] == "compaction"
        for index, place, _, block in walk(messages[:1])
    )
    if first["role"] != "user" and not starts_with_summary:
        raise Refusal('messages: first message must use the "user" role')


def _check_system_turns(messages: list[Json]) -> None:
    for index, (before, message) in enumerate(itertools.pairwise(messages), start=1):
        if message["role"] == "system" and before["role"] != "user":
            raise Refusal(f"messages.{index}: `system` messages must follow a user message")


def _check_pairs(messages: list[Json]) -> None:
    """Refuse an open call, an answer to no call, a doubled answer, a text before the answers."""
    turns = _turns(messages)
    seen: set[str] = set()
    for number, (role, places) in enumerate(turns):
        asked = _asked(turns[number - 1]) if number else []
        if role == "user":
            _check_answers(places, asked)
        if role == "assistant":
            own = _asked((role, places))
            if seen & set(own) or len(set(own)) < len(own):
                raise Refusal(f"messages.{places[0][0]}: `tool_use` ids must be unique")
            seen.update(own)
            answers = turns[number + 1][1] if number + 1 < len(turns) else []
            _check_answered(places, own, answers)


def _turns(messages: list[Json]) -> list[tuple[str, list[Place]]]:
    """The conversation as the service reads it: neighbours of one role are one turn."""
    turns: list[tuple[str, list[Place]]] = []
    for index, place, role, block in walk(messages):
        if not turns or turns[-1][0] != role:
            turns.append((role, []))
        turns[-1][1].append((index, place, block))
    return turns


def _asked(turn: tuple[str, list[Place]]) -> list[str]:
    return [block["id"] for *_, block in turn[1] if block["type"] == "tool_use"]


def _check_answered(places: list[Place], asked: list[str], answers: list[Place]) -> None:
    leading = itertools.takewhile(lambda place: place[2]["type"] == "tool_result", answers)
    answered = {block["tool_use_id"] for *_, block in leading}
    if missing := [call for call in asked if call not in answered]:
        raise Refusal(
            f"messages.{places[-1][0]}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
            "corresponding `tool_result` block in the next message."
        )


def _check_answers(places: list[Place], asked: list[str]) -> None:
    seen: set[str] = set()
    for index, place, block in places:
        if block["type"] != "tool_result":
            continue
        path, call = f"messages.{index}.content.{place}", block.get("tool_use_id", "")
        if call not in asked:
            raise Refusal(
                f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous "
                "message."
            )
        if call in seen:
            raise Refusal(
                f"{path}: each tool_use must have a single result. Found multiple `tool_result` "
                f"blocks with id: {call}"
            )
        seen.add(call)

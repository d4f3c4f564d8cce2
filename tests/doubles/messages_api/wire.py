"""A message as the events of a stream."""

import json
from collections.abc import Iterator

from tests.doubles.messages_api.refusal import Json

PIECE = 24


def events(message: Json) -> Iterator[Json]:
    """Yield the events, in the service's order. Late fields come in the last `message_delta`."""
    late = {"stop_reason", "stop_sequence", "stop_details", "context_management"}
    start = {key: value for key, value in message.items() if key not in late}
    usage = {key: value for key, value in message["usage"].items() if key != "iterations"}
    start.update(
        content=[], stop_reason=None, stop_sequence=None, usage={**usage, "output_tokens": 1}
    )
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        head, deltas = _split(block)
        yield {"type": "content_block_start", "index": index, "content_block": head}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {
        key: message[key]
        for key in ("stop_reason", "stop_sequence", "stop_details")
        if key in message
    }
    last: Json = {"type": "message_delta", "delta": delta, "usage": message["usage"]}
    if "context_management" in message:
        last["context_management"] = message["context_management"]
    yield last
    yield {"type": "message_stop"}


def frame(event: Json) -> bytes:
    """One server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _split(block: Json) -> tuple[Json, list[Json]]:
    """The block as it starts, and the deltas that fill it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, _pieces("text_delta", "text", block["text"])
        case "thinking":
            deltas = _pieces("thinking_delta", "thinking", block["thinking"])
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*deltas, signature]
        case "tool_use":
            given = block["input"]
            text = given if isinstance(given, str) else json.dumps(given)
            deltas = _pieces("input_json_delta", "partial_json", text if given else "")
            return {**block, "input": {}}, deltas
        case "compaction" if "signature" not in block:
            return {"type": "compaction"}, [{**block, "type": "compaction_delta"}]
        case _:
            return block, []


def _pieces(type: str, key: str, text: str) -> list[Json]:
    starts = range(0, len(text), PIECE)
    return [{"type": type, key: text[start : start + PIECE]} for start in starts]

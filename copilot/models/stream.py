"""From the events of a streamed answer back to the message that a plain call would have sent.

The SDK's own accumulator adds null fields that the service then refuses (anthropic-sdk-python
#1828) and does not notice an answer that ends early. Here a field is in the message only when it
came over the wire, and an answer without `message_stop` is no answer.
"""

import json
from collections.abc import Iterable

from copilot.models.model import Json

PARTIAL_JSON = "partial_json"


class BrokenStreamError(Exception):
    """What came over the wire does not make a whole message."""


class Block:
    """One content block while its deltas come in. Texts are joined once, at the end."""

    def __init__(self, start: Json) -> None:
        self._block = start
        self._texts: dict[str, list[str]] = {}

    def add(self, delta: Json) -> None:
        """Take in one delta: texts are appended, a citation joins its list, the rest is set."""
        for key, value in delta.items():
            if key == "type" or (value is None and key != "content"):
                continue
            if key == "citation":
                self._block["citations"] = [*(self._block.get("citations") or ()), value]
            elif isinstance(value, str):
                self._texts.setdefault(key, []).append(value)
            else:
                self._block[key] = value

    def finished(self) -> Json:
        """The whole block. A tool input that is no object stays the text that it is."""
        for key, texts in self._texts.items():
            text = "".join(texts)
            if key == PARTIAL_JSON:
                self._block["input"] = _parsed(text) if text else self._block.get("input", {})
            else:
                self._block[key] = (self._block.get(key) or "") + text
        return self._block


def assemble(events: Iterable[Json]) -> Json:
    """Return the message that *events* spell out. Raises BrokenStreamError when a part is missing.

    Each event is the JSON of one `data:` line. Unknown event types are passed over.
    """
    try:
        return whole(_assembled(events))
    except (KeyError, TypeError, AttributeError) as error:
        raise BrokenStreamError(f"an event is malformed ({error!r})") from error


def whole(message: Json) -> Json:
    """Return *message* when it can be used. Raises BrokenStreamError when it is no message."""
    content = message.get("content")
    if message.get("type") != "message" or not isinstance(content, list):
        raise BrokenStreamError("the answer is JSON, but not a message")
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise BrokenStreamError("the answer holds a block without a type")
        named = isinstance(block.get("id"), str) and isinstance(block.get("name"), str)
        if block["type"] == "tool_use" and not named:
            raise BrokenStreamError("the answer holds a tool call without an id or a name")
    return message


def refuse_constant(word: str) -> object:
    """Raise ValueError: NaN and Infinity are no JSON, and could not be sent back."""
    raise ValueError(f"{word} is not JSON")


def _assembled(events: Iterable[Json]) -> Json:
    message: Json | None = None
    blocks: dict[int, Block] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            message = dict(event["message"])
        elif message is None and kind != "ping":
            raise BrokenStreamError(f"a stream began with {kind!r} instead of message_start")
        elif kind == "content_block_start":
            blocks[event["index"]] = Block(dict(event["content_block"]))
        elif kind == "content_block_delta":
            _block(blocks, event["index"]).add(event["delta"])
        elif kind == "message_delta" and message is not None:
            _amend(message, event)
        elif kind == "message_stop" and message is not None:
            message["content"] = [blocks[index].finished() for index in sorted(blocks)]
            return message
    raise BrokenStreamError("the stream ended before message_stop")


def _block(blocks: dict[int, Block], index: int) -> Block:
    if index not in blocks:
        raise BrokenStreamError(f"a delta came for block {index}, which was never started")
    return blocks[index]


def _amend(message: Json, event: Json) -> None:
    """Put the stop reason, the final counts and the applied edits where a plain answer has them."""
    message.update(event.get("delta") or {})
    counts = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
    message["usage"] = {**(message.get("usage") or {}), **counts}
    message.update({k: v for k, v in event.items() if k not in ("type", "delta", "usage")})


def _parsed(text: str) -> Json | str:
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text

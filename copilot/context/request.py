"""From the journal to the request: a pure function, so that the same journal sends the same bytes.

The system prompt and the tools never change within an investigation; what is volatile goes last.
`Conversation` is that function fed one event at a time, so that turn 400 costs what turn 40 does.
Clearing and compaction will change the view that is built here, never the journal.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from copilot.context.placement import BYTES_PER_TOKEN
from copilot.journal import Event
from copilot.models.model import Json, Request, Response, assistant_message, verdict
from copilot.values import compact, text_at

EPHEMERAL: Json = {"type": "ephemeral"}
ONE_HOUR: Json = {"type": "ephemeral", "ttl": "1h"}


@dataclass(frozen=True, slots=True)
class Frame:
    """What stays byte for byte the same through an investigation."""

    model: str
    system: str
    tools: tuple[Json, ...]
    max_tokens: int
    caching: bool = True

    def system_blocks(self) -> tuple[Json, ...]:
        """The system prompt; its breakpoint covers the tools as well."""
        block: Json = {"type": "text", "text": self.system}
        return (block | {"cache_control": ONE_HOUR} if self.caching else block,)


class Conversation:
    """The messages that a run of events adds up to, with their size and digest."""

    def __init__(self, frame: Frame, events: Iterable[Event] = ()) -> None:
        """Begin with *events*, in their order."""
        self._frame = frame
        self._messages: list[Json] = []
        self._closed = False
        self.paused = False
        """True when the last answer is to be sent back as it is, and nothing after it."""
        self._hash = hashlib.sha256()
        self._sizes: dict[str, int] = {
            "system": len(frame.system.encode()),
            "tools": sum(len(compact(tool).encode()) for tool in frame.tools),
        }
        for event in events:
            self.add(event)

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes by source: system, tools, alert, conversation, and each tool's results."""
        return dict(self._sizes)

    @property
    def tokens(self) -> int:
        """An upper guess of the tokens that the next request has."""
        return int(sum(self._sizes.values()) / BYTES_PER_TOKEN)

    @property
    def digest(self) -> str:
        """The SHA-256 over all blocks so far: equal digests mean equal conversations."""
        return self._hash.copy().hexdigest()

    def add(self, event: Event) -> None:
        """Take in one event; kinds that say nothing to the model change nothing."""
        data = event.data
        match event.kind:
            case "started":
                self._say("user", "alert", {"type": "text", "text": text_at(data, "message")})
            case "response" if not data.get("dropped"):
                response = Response(data["raw"])  # type: ignore[arg-type]  # their JSON, as received
                blocks = assistant_message(response)["content"]
                self._say("assistant", "conversation", *blocks)
                self.paused = bool(blocks) and verdict(response) == "pause"
            case "result":
                block: Json = {
                    "type": "tool_result",
                    "tool_use_id": data["call"],
                    "content": data["text"],
                }
                mark = {} if data.get("ok", True) else {"is_error": True}
                self._say("user", text_at(data, "tool"), block | mark)
            case "nudge" | "limit":
                self._closed |= event.kind == "limit"
                self._say("user", "conversation", {"type": "text", "text": text_at(data, "text")})
            case _:
                pass

    def request(self, *, enlarged: int = 0) -> Request:
        """The next request; its answer may be twice as long for each time *enlarged*."""
        messages = list(self._messages)
        if self._frame.caching and messages and not self.paused:
            last = messages[-1]
            marked = last["content"][-1] | {"cache_control": EPHEMERAL}
            messages[-1] = {"role": last["role"], "content": [*last["content"][:-1], marked]}
        return Request(
            model=self._frame.model,
            system=self._frame.system_blocks(),
            tools=self._frame.tools,
            messages=tuple(messages),
            max_tokens=self._frame.max_tokens * 2**enlarged,
            # Not an empty tool list: that would lose the cache and unbind the thinking.
            tool_choice={"type": "none"} if self._closed else None,
        )

    def _say(self, role: str, source: str, *blocks: Json) -> None:
        """Add blocks; neighbours of one role become one message, as the service would join them."""
        if not blocks:
            return
        self.paused &= role == "assistant"
        if self._messages and self._messages[-1]["role"] == role:
            before = self._messages[-1]["content"]
            self._messages[-1] = {"role": role, "content": [*before, *blocks]}
        else:
            self._messages.append({"role": role, "content": list(blocks)})
        for block in blocks:
            text = compact(block).encode("utf-8", "replace")
            self._hash.update(text)
            self._sizes[source] = self._sizes.get(source, 0) + len(text)


def build_request(events: Iterable[Event], frame: Frame) -> Request:
    """The request that follows *events*."""
    return Conversation(frame, events).request()

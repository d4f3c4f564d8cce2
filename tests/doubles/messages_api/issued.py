"""What one service gave out: its thoughts, paused turns and summaries, wanted back as they were."""

from dataclasses import dataclass, field

from tests.doubles.messages_api import compaction, thinking
from tests.doubles.messages_api.catalog import Kind
from tests.doubles.messages_api.refusal import Json, Refusal
from tests.doubles.messages_api.tokens import canonical


@dataclass(slots=True)
class Issued:
    """The service's recollection of its own answers."""

    _paused: set[bytes] = field(default_factory=set)
    _thoughts: dict[str, list[Json]] = field(default_factory=dict)
    _prefixes: dict[str, str] = field(default_factory=dict)

    def remember(self, content: list[Json], reason: str) -> None:
        """Take note of an answer."""
        if reason == "pause_turn":
            self._paused.add(canonical(content))
        thoughts = [block for block in content if block["type"] in thinking.THOUGHTS]
        for block in content:
            if block["type"] == "tool_use" and thoughts:
                self._thoughts[block["id"]] = thoughts

    def compacted(self, block: Json, body: Json) -> None:
        """Take note of what a threshold summary stands for."""
        if block["content"] is not None:
            prefix = thinking.prefix_digest(body["messages"], self._prefixes)
            self._prefixes[thinking.digest(block["content"])] = prefix

    def prefixes(self, body: Json) -> dict[str, str]:
        """The prefix that each summary in *body* stands for, by the digest of its text."""
        sealed = {
            thinking.digest(block["content"]): prefix
            for *_, block in compaction.compactions(body)
            if (prefix := compaction.sealed_prefix(block)) is not None
        }
        return {**self._prefixes, **sealed}

    def may_stand_last(self, message: Json) -> bool:
        """True for an assistant message that may end a request: a paused turn, a compaction."""
        content = message["content"]
        if not isinstance(content, list):
            return False
        return content[-1]["type"] == "compaction" or canonical(content) in self._paused

    def check_thoughts(self, body: Json, kind: Kind) -> None:
        """Refuse a tool round whose thinking was left out."""
        assistants = [m for m in body["messages"] if m["role"] == "assistant"]
        if (
            not assistants
            or not thinking.thinks(body, kind)
            or body["messages"][-1]["role"] != "user"
        ):
            return
        content = assistants[-1]["content"]
        blocks = content if isinstance(content, list) else []
        wanted = next(
            (self._thoughts[b["id"]] for b in blocks if b.get("id") in self._thoughts), []
        )
        answered = any(
            isinstance(block, dict) and block.get("type") == "tool_result"
            for block in body["messages"][-1]["content"]
        )
        if answered and any(thought not in blocks for thought in wanted):
            index = body["messages"].index(assistants[-1])
            raise Refusal(f"messages.{index}.content.0: {thinking.MODIFIED}")

"""Cache diagnostics: what differs from the request of an earlier answer, and what that cost."""

from dataclasses import dataclass, field

from tests.doubles.messages_api.refusal import Json
from tests.doubles.messages_api.thinking import digest
from tests.doubles.messages_api.tokens import prompt_tokens, readable, system_blocks, walk


@dataclass(frozen=True, slots=True)
class Print:
    """The fingerprint of one request."""

    model: str
    system: str
    tools: str
    messages: tuple[str, ...]
    edits: str
    tokens: int


@dataclass(slots=True)
class Diagnostics:
    """The fingerprints of the requests that were answered, by the id of the answer."""

    _prints: dict[str, Print] = field(default_factory=dict)

    def remember(self, message_id: str, body: Json) -> None:
        """Take note of an answered request."""
        self._prints[message_id] = _print(body)

    def report(self, body: Json) -> Json | None:
        """The `diagnostics` of the answer to *body*; None when the prefix is the same."""
        previous = (body.get("diagnostics") or {}).get("previous_message_id")
        if previous is None:
            return None
        old, new = self._prints.get(previous), _print(body)
        if old is None:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        if old.edits != new.edits:
            return {"cache_miss_reason": {"type": "unavailable"}}
        for name in ("model", "system", "tools", "messages"):
            before, now = getattr(old, name), getattr(new, name)
            if name == "messages":
                now = now[: len(before)]
            if before != now:
                reason = {"type": f"{name}_changed", "cache_missed_input_tokens": old.tokens}
                return {"cache_miss_reason": reason}
        return None


def _print(body: Json) -> Print:
    return Print(
        model=str(body["model"]),
        system=digest([readable(block) for block in system_blocks(body)]),
        tools=digest([readable(tool) for tool in body.get("tools") or []]),
        messages=tuple(digest(role, readable(block)) for *_, role, block in walk(body["messages"])),
        edits=digest(body.get("context_management")),
        tokens=prompt_tokens(body),
    )

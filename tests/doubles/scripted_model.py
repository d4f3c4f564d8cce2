"""A model that plays a script: which turn it is, it reads off the request, like any pure model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from copilot.errors import ModelError
from copilot.models.model import Json, Request, Response

Call = tuple[str, dict[str, Any]]
Turn = Sequence[Call] | str | ModelError | Json
"""Calls, a text, an error to raise, or a whole raw message."""


@dataclass
class ScriptedModel:
    """Answers turn n with the n-th entry of the script; past its end it repeats the last."""

    script: Sequence[Turn]
    name: str = "scripted"
    requests: list[Request] = field(default_factory=list)

    def count_tokens(self, request: Request) -> int | None:
        """Return nothing: nobody counts here."""
        return None

    def respond(self, request: Request) -> Response:
        """Return the scripted answer to *request*."""
        self.requests.append(request)
        turn = sum(message["role"] == "assistant" for message in request.messages)
        entry = self.script[min(turn, len(self.script) - 1)]
        if isinstance(entry, ModelError):
            raise entry
        if isinstance(entry, dict):
            return Response(entry)
        if isinstance(entry, str):
            return Response(message([{"type": "text", "text": entry}], "end_turn"))
        blocks: list[Json] = [
            {"type": "tool_use", "id": f"toolu_{turn:03d}_{n}", "name": name, "input": arguments}
            for n, (name, arguments) in enumerate(entry)
        ]
        return Response(message(blocks, "tool_use"))


def message(content: list[Json], stop_reason: str | None) -> Json:
    """A raw message with some usage."""
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }

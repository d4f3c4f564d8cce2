"""What goes to a model and what comes back: pure values, and the one interface all models share.

A `Request` is the exact body; a `Response` keeps the raw message. Both hold plain JSON, because
signatures and the prompt cache depend on sending back what was received, byte for byte. This is
the vendor boundary: past the properties below nobody should need to look inside the JSON.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from copilot.models.usage import Usage, read_usage

__all__ = [
    "Json",
    "Model",
    "Request",
    "Response",
    "ToolCall",
    "Usage",
    "Verdict",
    "assistant_message",
    "verdict",
]

Json = dict[str, Any]
Verdict = Literal["tools", "done", "cut", "pause", "refused", "full", "compacted", "broken"]

VERDICTS: Mapping[str, Verdict] = {
    "tool_use": "tools",
    "end_turn": "done",
    "stop_sequence": "done",
    "max_tokens": "cut",
    "pause_turn": "pause",
    "refusal": "refused",
    "model_context_window_exceeded": "full",
    "compaction": "compacted",
}
# The service refuses these fields when they come back as null (anthropic-sdk-python #1828).
REFUSED_WHEN_NULL = frozenset({"encrypted_content", "citations", "tool_changes"})
# Some gateways answer 200 with an error's text as the assistant's words (claude-code #44354).
ERROR_TEXT = "prompt is too long"
ERROR_TEXT_MAX_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Request:
    """One call, complete. `extra` holds thinking, output_config, compaction, diagnostics."""

    model: str
    system: tuple[Json, ...]
    tools: tuple[Json, ...]
    messages: tuple[Json, ...]
    max_tokens: int
    tool_choice: Json | None = None
    betas: tuple[str, ...] = ()
    context_management: Json | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> Json:
        """The JSON body in a stable key order; what is empty or None is left out."""
        optional = {
            "system": list(self.system),
            "tools": list(self.tools),
            "tool_choice": self.tool_choice,
            "context_management": self.context_management,
            **{key: self.extra[key] for key in sorted(self.extra)},
        }
        present = {key: value for key, value in optional.items() if value not in (None, [])}
        return {
            "model": self.model,
            "max_tokens": self.max_tokens,
            **present,
            "messages": list(self.messages),
        }

    def encoded(self) -> bytes:
        """The body as UTF-8 JSON without spaces. A lone surrogate, which UTF-8 lacks, is a `?`."""
        text = json.dumps(self.body(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", errors="replace")

    @property
    def digest(self) -> str:
        """The SHA-256 of body and betas, in hex: equal digests mean equal calls."""
        return hashlib.sha256(self.encoded() + b"\n" + ",".join(self.betas).encode()).hexdigest()

    @property
    def size(self) -> int:
        """The length of the body in bytes."""
        return len(self.encoded())


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call. `input` is a text when the model wrote something that is no JSON object."""

    id: str
    name: str
    input: Json | str


@dataclass(frozen=True, slots=True)
class Response:
    """One answer. `raw` is the message as received, nothing added and nothing taken away."""

    raw: Json
    request_id: str | None = None

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped; None when the answer broke off."""
        reason = self.raw.get("stop_reason")
        return reason if isinstance(reason, str) else None

    @property
    def content(self) -> tuple[Json, ...]:
        """The blocks, in order."""
        blocks = self.raw.get("content")
        return tuple(block for block in blocks if isinstance(block, dict)) if blocks else ()

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that ask for an answer, in order."""
        return tuple(
            ToolCall(block["id"], block["name"], _input_of(block))
            for block in self.content
            if block.get("type") == "tool_use"
        )

    @property
    def text(self) -> str:
        """The text blocks, joined by blank lines; empty when there are none."""
        texts = (block.get("text", "") for block in self.content if block.get("type") == "text")
        return "\n\n".join(text for text in texts if text)

    @property
    def usage(self) -> Usage:
        """The tokens as the service counted them."""
        return read_usage(self.raw.get("usage") or {})

    @property
    def applied_edits(self) -> tuple[Json, ...]:
        """What the service cleared for this request; compaction is never among them."""
        report = self.raw.get("context_management") or {}
        return tuple(report.get("applied_edits") or ())


class Model(Protocol):
    """Whatever can take the next turn of an investigation."""

    @property
    def name(self) -> str:
        """The id that a person would write in `--model`."""

    def respond(self, request: Request) -> Response:
        """Return the answer, complete. Raises ModelError, and nothing else."""

    def count_tokens(self, request: Request) -> int | None:
        """Return the tokens of *request* after its edits, or None when nobody can tell."""


def verdict(response: Response) -> Verdict:
    """What an answer means for the loop, in one word.

    `cut` is max_tokens: the last call's input may be cut and still parse, so no call of it runs.
    `full` is a window that is used up. `broken` is an answer that must not be used at all.
    """
    plain = VERDICTS.get(response.stop_reason or "", "broken")
    # Local servers are seen to end the turn and call a tool; an open call must be answered.
    if plain in ("tools", "done") and response.tool_calls:
        return "tools"
    if plain == "tools":
        return "broken"
    return "full" if plain == "done" and _is_error_text(response.text) else plain


def assistant_message(response: Response) -> Json:
    """The answer as the next request must carry it: the blocks as received, minus what is refused.

    Dropped are fields that the service sends as null but refuses as null, and empty texts (they
    poison a conversation for good, claude-code #62396). An input that is no object is wrapped.
    """
    blocks = [
        {key: value for key, value in block.items() if not _is_refused_null(key, value)}
        for block in response.content
        if not (block.get("type") == "text" and not block.get("text"))
    ]
    for block in blocks:
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
            block["input"] = {"invalid_json": str(block.get("input"))}
    return {"role": "assistant", "content": blocks}


def _input_of(block: Json) -> Json | str:
    value = block.get("input")
    return value if isinstance(value, dict) else str(value)


def _is_error_text(text: str) -> bool:
    return len(text) <= ERROR_TEXT_MAX_CHARACTERS and text.strip().lower().startswith(ERROR_TEXT)


def _is_refused_null(key: str, value: object) -> bool:
    return value is None and key in REFUSED_WHEN_NULL

"""What each model takes and holds, as the service knows it. Independent of our own price table."""

import re
from dataclasses import dataclass

from tests.doubles.messages_api.refusal import Json, Refusal

MILLION = 1_000_000
DATED = re.compile(r"-\d{8}$")


@dataclass(frozen=True, slots=True)
class Kind:
    """One model."""

    window: int = MILLION
    max_output: int = 128_000
    cache_minimum: int = 512
    thinking: frozenset[str] = frozenset({"adaptive", "disabled"})
    always_thinks: bool = False
    forces_tools: bool = True
    prefills: bool = False
    binds_thinking: bool = False
    summarizes: bool = True


ALWAYS_ON = frozenset({"adaptive"})
OLD = frozenset({"enabled", "disabled"})
CATALOG = {
    "claude-fable-5-2": Kind(thinking=ALWAYS_ON, always_thinks=True, binds_thinking=True),
    "claude-fable-5-1": Kind(thinking=ALWAYS_ON, always_thinks=True, binds_thinking=True),
    "claude-opus-5-5": Kind(
        thinking=ALWAYS_ON, always_thinks=True, forces_tools=False, binds_thinking=True
    ),
    "claude-opus-5": Kind(),
    "claude-opus-4-8": Kind(cache_minimum=1024),
    "claude-opus-4-6": Kind(cache_minimum=4096, thinking=OLD | {"adaptive"}),
    "claude-sonnet-5-5": Kind(
        thinking=frozenset({"adaptive", "between_tools", "disabled"}),
        forces_tools=False,
        binds_thinking=True,
    ),
    "claude-sonnet-5": Kind(cache_minimum=1024),
    "claude-sonnet-4-6": Kind(
        max_output=64_000, cache_minimum=1024, thinking=OLD | {"adaptive"}
    ),
    "claude-sonnet-4-5": Kind(
        window=200_000, max_output=64_000, cache_minimum=1024, thinking=OLD,
        prefills=True, summarizes=False,
    ),
    "claude-haiku-5-5": Kind(binds_thinking=True),
    "claude-haiku-4-5": Kind(
        window=200_000, max_output=64_000, cache_minimum=4096, thinking=OLD,
        prefills=True, summarizes=False,
    ),
}  # fmt: skip


def kind_of(model: object) -> Kind:
    """The model's facts. Refuses an unknown one as the service does."""
    name = str(model)
    known = CATALOG.get(name) or CATALOG.get(DATED.sub("", name))
    if known is None:
        raise Refusal(f"model: {name}", status=404, type="not_found_error")
    return known


def description(name: str, betas: frozenset[str]) -> Json:
    """The answer of `GET /v1/models/<name>`."""
    kind = kind_of(name)
    edits = ("clear_tool_uses_20250919", "clear_thinking_20251015", "compact_20260112")
    capabilities: Json = {
        "context_management": {"supported": True, **{edit: {"supported": True} for edit in edits}},
        "thinking": {
            "supported": True,
            "types": {type_: {"supported": True} for type_ in sorted(kind.thinking)},
        },
    }
    if "compact-2026-09-04" in betas:
        capabilities["compaction"] = {
            "supported": kind.summarizes,
            "summarize": {"supported": kind.summarizes},
        }
    return {
        "type": "model",
        "id": name,
        "display_name": name.replace("-", " ").title(),
        "created_at": "2026-09-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": kind.window,
        "max_tokens": kind.max_output,
        "capabilities": capabilities,
    }

"""What an endpoint can do of its own for the context: a value, kept in the journal.

Found out in this order: what the operator says, what the Models API says, one small probe, and then
the effect that is seen. An endpoint that accepts a lever and ignores it does not support it.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from copilot.models.model import Json, Request


@dataclass(frozen=True, slots=True)
class Support:
    """The server-side levers of one model at one address. All false: do everything here."""

    clear_tool_uses: bool = False
    clear_thinking: bool = False
    on_demand: bool = False
    """A summary when we ask for one (beta compact-2026-09-04)."""
    threshold: bool = False
    """A summary when the service finds the request too large (compact_20260112)."""
    adaptive_thinking: bool = False
    binds_thinking: bool = False
    """Thoughts are bound to everything before them: nothing earlier may be changed here."""
    diagnostics: bool = False
    """It says why the prompt cache was missed."""

    def as_json(self) -> dict[str, bool]:
        """The value as the journal keeps it."""
        return asdict(self)

    def without(self, *features: str) -> "Support":
        """The same endpoint after it refused or ignored *features*."""
        return replace(self, **dict.fromkeys(features, False))

    def but(self, said: Mapping[str, bool]) -> "Support":
        """The same endpoint where an operator knows better."""
        return replace(self, **said)


NOTHING = Support()
REFUSED = (
    (re.compile(r"clear_thinking"), ("clear_thinking",)),
    (re.compile(r"compact-2026-01-12|compact_20260112"), ("threshold",)),
    (re.compile(r"compact-2026-09-04|\bcompaction\b"), ("on_demand", "threshold")),
    (re.compile(r"clear_tool_uses"), ("clear_tool_uses", "clear_thinking")),
    (
        re.compile(r"context[-_]management"),
        ("clear_tool_uses", "clear_thinking", "threshold"),
    ),
    (re.compile(r"diagnos"), ("diagnostics",)),
    (re.compile(r"\bthinking\b.{0,40}(not supported|Extra inputs)"), ("adaptive_thinking",)),
)
"""What a 400 says of a lever that the endpoint does not know, and which levers those are."""


def from_json(data: Mapping[str, Any]) -> Support:
    """The value that `as_json` made *data* of; what is missing is not supported."""
    return Support(**{item.name: data.get(item.name) is True for item in fields(Support)})


def from_capabilities(described: Json, *, binds_thinking: bool) -> Support:
    """What the Models API says of a model. Missing parts are not supported."""
    capabilities = described.get("capabilities") or {}
    context = capabilities.get("context_management") or {}
    types = (capabilities.get("thinking") or {}).get("types") or {}
    return Support(
        clear_tool_uses=_supported(context.get("clear_tool_uses_20250919")),
        clear_thinking=_supported(context.get("clear_thinking_20251015")),
        on_demand=_supported((capabilities.get("compaction") or {}).get("summarize")),
        threshold=_supported(context.get("compact_20260112")),
        adaptive_thinking=_supported(types.get("adaptive")),
        binds_thinking=binds_thinking,
        diagnostics=True,  # the Models API and cache diagnostics are both Claude API only
    )


def refused_features(request: Request, said: str) -> tuple[str, ...]:
    """The levers of *request* that a refusal names; empty when it is about something else."""
    uses = str(request.context_management) + str(sorted(request.extra)) + str(request.betas)
    if not uses.replace("None[]()", ""):
        return ()
    return next((features for pattern, features in REFUSED if pattern.search(said)), ())


def _supported(part: Any) -> bool:
    return part is True or (isinstance(part, dict) and part.get("supported") is True)

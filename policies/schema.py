"""What a context policy may say: how each tool's results are carried, and when which lever acts.

Values only. A policy is chosen before an investigation starts and never changes during it, so that
a request stays a function of journal, policy and settings.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from copilot.strict_model import Strict

ToolName = Literal[
    "logbook_fields",
    "logbook_overview",
    "search_logbook",
    "logbook_patterns",
    "logbook_context",
    "logbook_trace",
    "search_tickets",
    "get_ticket",
    "search_documents",
    "read_document",
    "read_scratch",
    "search_scratch",
    "query_scratch",
    "read_notes",
    "write_notes",
    "record_finding",
    "search_incidents",
    "task",
    "propose_ticket_comment",
    "submit_report",
]
TOOL_NAMES: tuple[ToolName, ...] = get_args(ToolName)
McpName = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_]{2,63}$")]
Placement = Literal["inline", "offload", "auto"]
Clear = Literal["never", "normal", "early", "first"]
By = Literal["auto", "server", "client", "off"]
Tokens = Annotated[int, Field(ge=0, le=2_000_000)]
Count = Annotated[int, Field(ge=0, le=1000)]


class ToolPolicy(Strict):
    """How the results of one tool are carried."""

    placement: Placement = "auto"
    """inline: the rows are shown. offload: a pointer is shown, however few rows there are.
    auto: as inline up to inline_tokens, else as offload."""
    inline_tokens: Tokens = 1200
    """The most that is shown of a result; a larger one becomes a pointer."""
    pointer_tokens: Tokens = 500
    """The most that a pointer may take, with all that it shows."""
    top_hits: Count = 3
    """How many of the first rows a pointer shows."""
    digest: Count = 5
    """How many templates of the rows' messages a pointer shows, with their counts."""
    tail: Count = 0
    """How many of the last rows a pointer shows."""
    clear: Clear = "normal"
    """When an old result's body leaves the request: never, or where we clear those marked first
    before those marked early before the normal ones. The service clears the oldest, whatever they
    are."""
    clear_inputs: bool = False
    """Whether the arguments of a cleared call go too."""
    why: str = ""
    """For the reader of the policy."""


class Clearing(Strict):
    """When old results leave the request. They stay one call away by their handle."""

    by: By = "auto"
    """server: the service clears. client: we do. auto: whoever can. off: nothing is cleared."""
    trigger_tokens: Tokens = 12_000
    """How large the request must be before anything is cleared."""
    keep: Annotated[int, Field(ge=1, le=100)] = 3
    """The newest results that are never cleared."""
    at_least_tokens: Tokens | Literal["auto"] = "auto"
    """The smallest bite that is worth the cache it breaks. auto: from the model's prices."""


class Compaction(Strict):
    """When old turns are replaced by a summary."""

    by: By = "auto"
    kind: Literal["auto", "on_demand", "threshold"] = "auto"
    """Which kind of the service's; auto prefers on_demand where the model has it."""
    trigger_tokens: Tokens = 60_000
    """How large the request must be. The threshold kind needs at least 50,000."""
    tail_turns: Annotated[int, Field(ge=0, le=50)] = 2
    """The newest turns that are kept as they are."""
    summary_tokens: Annotated[int, Field(ge=500, le=32_000)] = 4000
    """The most that a summary may take."""
    instructions: Annotated[str, Field(max_length=16_384)] = ""
    """Instead of our own instructions for the summary; empty keeps ours."""


class Thinking(Strict):
    """Whether the model thinks, and how much old thinking it carries."""

    mode: Literal["adaptive", "off"] = "adaptive"
    keep_turns: Annotated[int, Field(ge=1, le=1000)] | Literal["all"] = "all"


class Caching(Strict):
    """Where the prompt cache may end, and for how long it lives."""

    system: Literal["off", "5m", "1h"] = "1h"
    messages: Literal["off", "5m", "1h"] = "5m"
    between_blocks: Annotated[int, Field(ge=5, le=20)] = 15
    """A breakpoint in between when a turn adds more blocks than the service looks back."""

    @model_validator(mode="after")
    def _longer_first(self) -> Self:
        if self.messages == "1h" and self.system == "5m":
            raise ValueError("messages cannot outlive system: set system to 1h, or messages to 5m")
        return self


class Window(Strict):
    """How much of the model's window may be used."""

    limit_tokens: Annotated[int, Field(ge=4000, le=2_000_000)] | Literal["auto"] = "auto"
    """auto: what the model has."""
    answer_tokens: Annotated[int, Field(ge=500, le=64_000)] | Literal["auto"] = "auto"
    """The most that one answer may take. auto: `model.max_output_tokens` of the settings."""
    report_tokens: Annotated[int, Field(ge=500, le=64_000)] = 4000
    """What is always left free for the final report."""


class Policy(Strict):
    """A whole policy. `name` is that of its file."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    like: Annotated[str, Field(pattern=r"^([a-z][a-z0-9-]{0,39})?$")] = ""
    """The policy that this one begins as; what is written here takes the place of what it says."""
    why: str = ""
    offer: (
        Annotated[tuple[ToolName | Literal["mcp_servers"], ...], Field(min_length=1)]
        | Literal["all"]
    ) = "all"
    """The tools that the model is given; mcp_servers are those of all of them. Each definition is
    part of every request."""
    turn_tokens: Tokens = 6000
    """The most that all results of one turn may take together."""
    tools: Mapping[ToolName, ToolPolicy] = Field(default_factory=dict)
    mcp_tools: Mapping[McpName, ToolPolicy] = Field(default_factory=dict)
    """The same for tools of MCP servers, by the names that the model has for them."""
    other_tools: ToolPolicy = ToolPolicy()
    """For every tool that neither `tools` nor `mcp_tools` names."""
    clearing: Clearing = Clearing()
    compaction: Compaction = Compaction()
    thinking: Thinking = Thinking()
    caching: Caching = Caching()
    window: Window = Window()

    def offers(self, name: str) -> bool:
        """Whether the model is given the tool called *name*."""
        return (
            self.offer == "all"
            or name in self.offer
            or ("mcp_servers" in self.offer and name not in TOOL_NAMES)
        )

    def tool(self, name: str) -> ToolPolicy:
        """The policy for the tool called *name*, whether this policy names it or not."""
        named = (*self.tools.items(), *self.mcp_tools.items())
        return next((policy for known, policy in named if known == name), self.other_tools)

    @model_validator(mode="after")
    def _can_hand_in_a_report(self) -> Self:
        if not self.offers("submit_report"):
            raise ValueError("offer must name submit_report, or no report can be handed in")
        return self

    @model_validator(mode="after")
    def _clears_before_it_compacts(self) -> Self:
        both = "off" not in {self.clearing.by, self.compaction.by}
        if both and self.clearing.trigger_tokens >= self.compaction.trigger_tokens:
            raise ValueError(
                f"clearing.trigger_tokens ({self.clearing.trigger_tokens}) must be smaller than "
                f"compaction.trigger_tokens ({self.compaction.trigger_tokens}), or nothing is ever "
                "cleared"
            )
        return self

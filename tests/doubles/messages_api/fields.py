"""The rules of the top level: known fields, betas, tools, tool_choice, limits."""

import re

from tests.doubles.messages_api.catalog import Kind
from tests.doubles.messages_api.refusal import Json, Refusal, extra, wrong_tag

CLEARING_BETA = "context-management-2025-06-27"
THRESHOLD_BETA = "compact-2026-01-12"
SUMMARIZE_BETA = "compact-2026-09-04"
BINDING_BETA = "thinking-binding-controls-2026-08-01"
BUDGET_BETA = "task-budgets-2026-03-13"
KNOWN_BETAS = frozenset(
    {
        CLEARING_BETA,
        THRESHOLD_BETA,
        SUMMARIZE_BETA,
        BINDING_BETA,
        BUDGET_BETA,
        "token-counting-2024-11-01",
        "cache-diagnosis-2026-04-07",
    }
)
FIELDS = frozenset(
    {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "stop_sequences", "stream", "metadata", "service_tier", "cache_control", "diagnostics"}
)  # fmt: skip
BETA_FIELDS = {
    "context_management": frozenset({CLEARING_BETA, THRESHOLD_BETA}),
    "compaction": frozenset({SUMMARIZE_BETA}),
}
COUNT_REFUSES = frozenset({"max_tokens", "stream", "diagnostics", "metadata", "stop_sequences"})
TOOL_FIELDS = frozenset(
    {"type", "name", "description", "input_schema", "cache_control", "strict", "input_examples"}
)
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MAX_STRICT_TOOLS = 20


def check_betas(betas: frozenset[str]) -> None:
    """Refuse a beta that does not exist: a typo would silently turn its feature off."""
    for beta in sorted(betas - KNOWN_BETAS):
        raise Refusal(f"Unexpected value(s) `{beta}` for the `anthropic-beta` header.")


def check_fields(body: Json, betas: frozenset[str], *, counting: bool) -> None:
    """Refuse missing, unknown and beta-gated fields."""
    for field in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if field not in body:
            raise Refusal(f"{field}: Field required")
    for field in body:
        needed = BETA_FIELDS.get(field)
        if (needed is None and field not in FIELDS) or (needed and not needed & betas):
            raise extra(field)
        if counting and field in COUNT_REFUSES:
            raise extra(field)
    budget = (body.get("output_config") or {}).get("task_budget")
    if budget is not None:
        _check_budget(budget, betas)


def check_max_tokens(body: Json, kind: Kind) -> None:
    """Refuse an answer longer than the model's, and a streamed cache warm-up."""
    most = body["max_tokens"]
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise Refusal("max_tokens: Input should be a valid integer, 0 or greater")
    if most > kind.max_output:
        raise Refusal(
            f"max_tokens: {most} > {kind.max_output}, which is the maximum allowed number of "
            f"output tokens for {body['model']}"
        )
    if most == 0 and body.get("stream"):
        raise Refusal("max_tokens: 0 is not supported with `stream`")


def check_tools(body: Json) -> None:
    """Refuse tools with a bad name, a doubled name or a schema that is no object."""
    names: list[str] = []
    for index, tool in enumerate(body.get("tools") or []):
        path = f"tools.{index}.custom"
        if tool.get("type", "custom") != "custom":
            raise wrong_tag(f"tools.{index}", tool["type"])
        for field in sorted(set(tool) - TOOL_FIELDS):
            raise extra(f"{path}.{field}")
        if not TOOL_NAME.fullmatch(str(tool.get("name"))):
            raise Refusal(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if (tool.get("input_schema") or {}).get("type") != "object":
            raise Refusal(f"{path}.input_schema.type: Input should be 'object'")
        names.append(tool["name"])
    if len(set(names)) < len(names):
        raise Refusal("tools: Tool names must be unique.")
    if sum(bool(tool.get("strict")) for tool in body.get("tools") or []) > MAX_STRICT_TOOLS:
        raise Refusal("Schema is too complex for compilation.")


def check_tool_choice(body: Json, kind: Kind) -> None:
    """Refuse a choice without tools, of an unknown tool, or forced where the model does not bend."""
    choice = body.get("tool_choice")
    if choice is None:
        return
    names = {tool["name"] for tool in body.get("tools") or []}
    if choice.get("type") not in ("auto", "any", "tool", "none"):
        raise wrong_tag("tool_choice", choice.get("type"))
    if not names:
        raise Refusal("tool_choice: `tool_choice` may only be specified while providing `tools`.")
    if choice["type"] == "tool" and choice.get("name") not in names:
        raise Refusal(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")
    if choice["type"] in ("any", "tool") and not kind.forces_tools:
        raise Refusal(
            f"tool_choice: `{choice['type']}` is not supported by {body['model']}; use `auto`"
        )


def _check_budget(budget: Json, betas: frozenset[str]) -> None:
    if BUDGET_BETA not in betas:
        raise extra("output_config.task_budget")
    if budget.get("total", 0) < 20_000:
        path = "output_config.task_budget.total"
        raise Refusal(f"{path}: Input should be greater than or equal to 20000")

"""Where two policies differ, tool by tool. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from copilot.values import Json, compact
from policies.schema import TOOL_NAMES, Policy

UNCOMPARED: dict[str, bool | set[str]] = {
    "name": True, "why": True, "like": True, "tools": True, "mcp_tools": True,
    "other_tools": {"why"},
}  # fmt: skip
"""What says nothing of how results are carried, and the tools, which are compared one by one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One key, such as `tools.get_ticket.clear`, with what each policy says of it."""

    key: str
    first: str
    second: str


def differences(first: Policy, second: Policy) -> tuple[Difference, ...]:
    """Every key in which the two carry results differently: the general ones, then by tool.

    Tools are compared by what holds for them, whether a policy names them or not.
    """
    general = _differences(_general(first), _general(second))
    names = sorted({*TOOL_NAMES, *first.mcp_tools, *second.mcp_tools})
    return (*general, *_differences(_tools(first, names), _tools(second, names)))


def flat(value: Json, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each value with its dotted key, texts as they are and the rest as JSON."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, value if isinstance(value, str) else compact(value)


def _general(policy: Policy) -> dict[str, str]:
    return dict(flat(policy.model_dump(mode="json", exclude=UNCOMPARED)))


def _tools(policy: Policy, names: Sequence[str]) -> dict[str, str]:
    said: Json = {
        name: policy.tool(name).model_dump(mode="json", exclude={"why"}) for name in names
    }
    return dict(flat(said, "tools"))


def _differences(first: dict[str, str], second: dict[str, str]) -> Iterator[Difference]:
    """The keys with unlike values; both policies have the same keys."""
    for key, value in first.items():
        if value != second[key]:
            yield Difference(key, value, second[key])

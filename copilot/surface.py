"""The tools of an investigation: ours and those of MCP servers, as the policy offers them."""

import logging
from collections.abc import Sequence

from copilot.assembly import OFFLINE, model_name, policy_for
from copilot.mcp.offers import remote_tools, told_tools
from copilot.mcp.tools import told_tool
from copilot.tools.base import AnyTool
from copilot.tools.catalogue import TOOLS
from copilot.tools.registry import Registry
from copilot.values import JsonObject, list_at, text_at
from copilot.workspace import Workspace
from policies.schema import TOOL_NAMES, Policy

LOG = logging.getLogger(__name__)


def registry_for(workspace: Workspace, begun: JsonObject | None = None) -> Registry:
    """The tools of an investigation, ready to be called. Starts the MCP servers.

    *begun* is what its journal begins with, where it goes on.
    """
    policy = policy_for(workspace)
    tools = _ours(workspace, policy)
    if not _by_rules(workspace):
        tools += remote_tools(workspace, policy, _recorded(begun))
    return Registry(tools, workspace.redactor)


def described(workspace: Workspace, begun: JsonObject | None = None) -> Registry:
    """The same tools to be shown and counted. Starts no MCP server, so none of theirs is called.

    Theirs are those that the investigation began with, else what they said when last asked.
    """
    policy = policy_for(workspace)
    tools = _ours(workspace, policy)
    if not _by_rules(workspace):
        recorded = _recorded(begun)
        if recorded is None:
            told, unknown = told_tools(workspace, policy)
            if unknown:
                LOG.warning("%s", not_counted(unknown))
        else:
            told = tuple(told_tool(one) for one in recorded)
        tools += [tool for tool in told if policy.offers(tool.name)]
    return Registry(tools, workspace.redactor)


def tools_for(workspace: Workspace, policy: Policy) -> list[AnyTool]:
    """What *policy* offers here; no comment can be proposed where no tracker may be written to."""
    absent = set() if workspace.outbox.places else {"propose_ticket_comment"}
    return [tool for tool in TOOLS if policy.offers(tool.name) and tool.name not in absent]


def not_counted(unknown: Sequence[str]) -> str:
    """What to say of tools that no server has described yet."""
    return f"without {', '.join(unknown)}: `copilot doctor` asks the MCP servers for them"


def definitions_of_servers(registry: Registry) -> list[JsonObject]:
    """The tools that are not ours, as the model gets them."""
    return [one for one in registry.definitions() if text_at(one, "name") not in TOOL_NAMES]


def _ours(workspace: Workspace, policy: Policy) -> list[AnyTool]:
    absent = {"task"} if _by_rules(workspace) else set()
    return [tool for tool in tools_for(workspace, policy) if tool.name not in absent]


def _by_rules(workspace: Workspace) -> bool:
    """Whether rules investigate: they pass on no tasks, and know no tool that is not ours."""
    return model_name(workspace) == OFFLINE


def _recorded(begun: JsonObject | None) -> list[JsonObject] | None:
    """The tools of MCP servers that an investigation began with; None where nothing is written."""
    if begun is None or "mcp_tools" not in begun:
        return None
    return [one for one in list_at(begun, "mcp_tools") if isinstance(one, dict)]

"""What the MCP servers of a workspace offer to an investigation, after what is wrong is refused.

A server that cannot be reached, or a tool that may not be offered, is left out with a line in the
log: an investigation goes on without it. Names that clash are a mistake in the settings.
"""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from connectors.mcp_servers import McpServer
from copilot.errors import ConfigError
from copilot.mcp.settings import McpServerSettings
from copilot.mcp.tools import Offer, offer_of
from copilot.redact import Redactor
from copilot.tools.base import AnyTool
from copilot.workspace import Workspace
from policies.schema import TOOL_NAMES, Policy

log = logging.getLogger(__name__)

AT_ONCE = 8
"""Servers that are started side by side."""


def remote_tools(workspace: Workspace, policy: Policy) -> tuple[AnyTool, ...]:
    """The tools of all servers that *policy* offers. Starts the servers. Raises ConfigError."""
    entries = workspace.settings.mcp_servers
    check_names(entries, policy)
    wanted = [entry for entry in entries if any(map(policy.offers, entry.offered()))]
    offers = offers_of(wanted, workspace.mcp_servers, workspace.redactor)
    for offer in offers:
        for problem in offer.problems:
            log.warning("event=mcp_not_offered server=%s why=%r", offer.server, problem)
    return tuple(tool for offer in offers for tool in offer.tools if policy.offers(tool.name))


def offers_of(
    entries: Sequence[McpServerSettings], servers: Mapping[str, McpServer], redactor: Redactor
) -> tuple[Offer, ...]:
    """What each server offers, all of them started at once: the slowest one counts."""
    if not entries:
        return ()
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mcp-start") as pool:
        return tuple(
            pool.map(lambda entry: offer_of(entry, servers[entry.name], redactor), entries)
        )


def check_names(entries: Sequence[McpServerSettings], policy: Policy) -> None:
    """Return when every name is one tool's. Raises ConfigError for a clash or an unknown name."""
    names = [name for entry in entries for name in entry.offered()]
    native = sorted(set(names) & set(TOOL_NAMES))
    twice = sorted({name for name in names if names.count(name) > 1})
    if clash := native or twice:
        whose = "a tool of the copilot" if native else "another tool of an MCP server"
        raise ConfigError(
            f"mcp_servers: {clash[0]} is the name of {whose}; give the server another name in "
            "copilot.yaml"
        )
    if unknown := sorted(set(policy.mcp_tools) - set(names)):
        known = ", ".join(sorted(names)) or "none is configured"
        raise ConfigError(
            f"policy {policy.name}: mcp_tools names {unknown[0]}, which no MCP server of "
            f"copilot.yaml offers; there are: {known}"
        )

"""What the MCP servers of a workspace offer to an investigation, after what is wrong is refused.

A server that cannot be reached, or a tool that may not be offered, is left out with a line in the
log: an investigation goes on without it. Names that clash are a mistake in the settings.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from connectors.mcp_servers import McpServer
from copilot.errors import ConfigError
from copilot.mcp.told import Told
from copilot.mcp.tools import Offer, cost_of, offer_of, told_tool
from copilot.redact import Redactor
from copilot.settings import Settings
from copilot.settings.mcp import McpServerSettings
from copilot.tools.base import AnyTool
from copilot.values import JsonObject, canonical
from copilot.workspace import Workspace
from policies.schema import TOOL_NAMES, Policy

log = logging.getLogger(__name__)

AT_ONCE = 8
"""Servers that are started side by side."""
MAX_TOKENS = 8000
"""What the tools of all servers together may take of every request; all of ours take 6,000."""


def remote_tools(
    workspace: Workspace, policy: Policy, begun: Sequence[JsonObject] | None = None
) -> tuple[AnyTool, ...]:
    """The tools of all servers that *policy* offers. Starts the servers. Raises ConfigError.

    An investigation that goes on has those that it *begun* with, so that it sends the same bytes
    again: none that came later, and one that is not what it was refuses to be called.
    """
    entries = workspace.settings.mcp_servers
    check_names(entries, policy)
    wanted = [entry for entry in entries if any(map(policy.offers, entry.offered()))]
    offers = offers_of(wanted, workspace.mcp_servers, workspace.redactor)
    keep(workspace.settings, offers)
    tools, left_out = bounded(offers, policy.offers)
    for server, problem in [(one.server, why) for one in offers for why in one.problems] + left_out:
        log.warning("event=mcp_not_offered server=%s why=%r", server, problem)
    if begun is None:
        return tools
    live = {canonical(tool.definition()): tool for tool in tools}
    return tuple(live.get(canonical(one)) or told_tool(one) for one in begun)


def told_tools(workspace: Workspace, policy: Policy) -> tuple[tuple[AnyTool, ...], tuple[str, ...]]:
    """The same tools as their servers described them last; the names of those that nobody knows.

    Starts no server, so none of them can be called. Raises ConfigError.
    """
    entries = workspace.settings.mcp_servers
    check_names(entries, policy)
    told = _told(workspace.settings)
    offers: list[Offer] = []
    unknown: list[str] = []
    for entry in entries:
        known = told.of(entry)
        if known is None:
            unknown += filter(policy.offers, entry.offered())
        else:
            offers.append(Offer(entry.name, tuple(map(told_tool, known))))
    return bounded(offers, policy.offers)[0], tuple(unknown)


def keep(settings: Settings, offers: Sequence[Offer]) -> None:
    """Keep what was offered for what starts no server; where it cannot be kept, they ask again."""
    told = _told(settings)
    entries = {entry.name: entry for entry in settings.mcp_servers}
    for offer in offers:
        try:
            told.keep(entries[offer.server], offer)
        except OSError as error:
            log.warning("event=mcp_not_kept server=%s why=%r", offer.server, error.strerror)


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


def bounded(
    offers: Sequence[Offer], is_wanted: Callable[[str], bool]
) -> tuple[tuple[AnyTool, ...], list[tuple[str, str]]]:
    """The tools that are wanted, as many as may be, in the order of the settings.

    Beside them what was left out: a server's name, and why.
    """
    tools: list[AnyTool] = []
    left_out = []
    tokens = 0
    for offer in offers:
        for tool in offer.tools:
            cost = cost_of(tool)
            if not is_wanted(tool.name):
                continue
            if tokens + cost > MAX_TOKENS:
                why = (
                    f"{tool.name}: its definition takes {cost} tokens of every request, those "
                    f"before it {tokens}, and all MCP servers together may have {MAX_TOKENS}; name "
                    "fewer tools, or offer fewer by the policy"
                )
                left_out.append((offer.server, why))
                continue
            tools.append(tool)
            tokens += cost
    return tuple(tools), left_out


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


def _told(settings: Settings) -> Told:
    return Told(settings.state / "mcp_tools")

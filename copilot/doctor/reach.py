"""The services that the settings name: each is asked, and each MCP server started and ended."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from connectors.jira_tracker import JiraTracker, reach
from connectors.opensearch import OpenSearchLogbook
from connectors.opensearch import reach as reach_logbook
from copilot.doctor.check import Check, State
from copilot.errors import ConfigError, CredentialsError
from copilot.mcp.offers import MAX_TOKENS, bounded, keep, offers_of
from copilot.mcp.servers import close_servers, open_servers
from copilot.mcp.tools import Offer, cost_of
from copilot.redact import Redactor
from copilot.workspace import Workspace


def reached(workspace: Workspace, now: datetime) -> Iterator[Check]:
    """Whether the services answer that the settings name."""
    try:
        logbooks = workspace.logbooks
    except CredentialsError as error:
        yield Check("reach", "logbooks", "fail", str(error), "set that variable, then try again")
        logbooks = {}
    for name, book in logbooks.items():
        if isinstance(book, OpenSearchLogbook):
            for met in reach_logbook(book, now):
                worse: State = "fail" if met.fix else "ok"
                yield Check("reach", f"logbook {name}", worse, met.found, met.fix)
    for name, tracker in workspace.trackers.items():
        if isinstance(tracker, JiraTracker):
            for tried in reach(tracker):
                state: State = "fail" if tried.fix else "ok"
                yield Check("reach", f"tracker {name}", state, tried.found, tried.fix)
    yield from _mcp_servers(workspace)


def _mcp_servers(workspace: Workspace) -> Iterator[Check]:
    """Whether each MCP server starts and has the tools that the settings name; it is ended then.

    What they say of them is kept, for the commands that start no server.
    """
    settings = workspace.settings
    entries = settings.mcp_servers
    # No key for tokens is made here: what is shown gets a passing one.
    redactor = Redactor(b"doctor")
    servers = open_servers(entries, workspace.environ, settings.workspace, redactor.redact)
    offers = offers_of(entries, servers, redactor)
    close_servers(servers.values())
    keep(settings, offers)
    for offer in offers:
        name = f"MCP server {offer.server}"
        if offer.tools:
            names = ", ".join(tool.name for tool in offer.tools)
            found = f"offers {names}: about {offer.tokens} tokens of every request"
            yield Check("reach", name, "ok", found)
        for problem in offer.problems:
            fix = "mend its entry in mcp_servers of copilot.yaml; investigations go on without it"
            yield Check("reach", name, "fail", problem, fix)
    if len(offers) > 1:
        yield from _all_servers(workspace, offers)


def _all_servers(workspace: Workspace, offers: Sequence[Offer]) -> Iterator[Check]:
    """What the tools of all servers cost together, and those that are too many."""
    try:
        is_offered = workspace.policy.offers
    except ConfigError:  # told by the policy's own check
        return
    tools, left_out = bounded(offers, is_offered)
    tokens = sum(map(cost_of, tools))
    found = f"all of them: about {tokens} of at most {MAX_TOKENS} tokens of every request"
    yield Check("reach", "MCP servers", "ok", found)
    for server, problem in left_out:
        fix = "mend mcp_servers of copilot.yaml; investigations go on without that tool"
        yield Check("reach", f"MCP server {server}", "fail", problem, fix)

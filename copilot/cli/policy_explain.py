"""`copilot policy explain`: what would happen to a result of some size, and the sums behind it."""

import re
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from copilot.cli.options import as_json
from copilot.cli.session import Session, pass_session
from copilot.errors import UsageError

if TYPE_CHECKING:
    from copilot.context.bite_sum import SmallestBite
    from copilot.context.explain import Explanation
    from copilot.values import Json, JsonObject
    from copilot.workspace import Workspace

SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,3})?) ?(k|m)?(i)?b?", re.ASCII | re.IGNORECASE)
MOST_BYTES = 64_000_000
OTHER = "other_tools"
"""Stands for any tool that the policy does not name."""


@click.command("explain")
@click.argument("tool")
@click.option("--size", required=True, metavar="SIZE", help="Of its result, as 40KB or 2MiB.")
@click.option("--rows", type=click.IntRange(1, 1_000_000), help="How many; else by a usual line.")
@click.option("--model", metavar="NAME", help="The model whose prices count.")
@click.option("--policy", metavar="NAME", help="Instead of the policy in use.")
@as_json
@pass_session
def explain(
    session: Session,
    /,
    tool: str,
    size: str,
    rows: int | None,
    as_json: bool,
    **options: str | None,
) -> None:
    """Say what would happen to a result of TOOL of that size, when, and why.

    TOOL is also other_tools, or a tool of an MCP server of copilot.yaml, as clock_get_time.
    """
    from copilot.context.explain import explain as explained

    workspace = workspace_with(session, options)
    _known(tool, workspace)
    from copilot import assembly, surface

    frame = assembly.frame_for(workspace, surface.described(workspace))
    found = explained(
        tool,
        (bytes_of(size), rows or 0),
        frame,
        assembly.rates_for(frame.model),
        workspace.settings.budgets.turns,
    )
    if as_json:
        head: JsonObject = {
            "schema": "copilot.explanation/1", "policy": frame.policy.name, "model": frame.model,
        }  # fmt: skip
        session.screen.document({**head, **asdict(found)})
        return
    _print(session, found, frame.policy.name, frame.model)


def bytes_of(size: str) -> int:
    """How many bytes `40KB`, `2 MiB` or `300` are. Raises UsageError."""
    match = SIZE.fullmatch(size.strip())
    if not match:
        raise UsageError(f"{size[:40]!r} is no size; write it as 40KB, 2MiB or 300")
    unit = 1024 if match[3] else 1000
    power = {"k": 1, "m": 2}.get((match[2] or "").lower(), 0)
    found: int = round(float(match[1]) * unit**power)
    if not 1 <= found <= MOST_BYTES:
        raise UsageError(f"{size[:40]!r} is not between 1 byte and {MOST_BYTES // 10**6}MB")
    return found


def workspace_with(session: Session, options: "dict[str, str | None]") -> "Workspace":
    """The workspace with that model and policy; where it works by rules, with a model's prices."""
    from copilot import assembly

    given: dict[str, Json] = {
        key: value
        for key, value in (("model.name", options["model"]), ("policy", options["policy"]))
        if value
    }
    workspace = session.open(given)
    if assembly.model_name(workspace) != assembly.OFFLINE:
        return workspace
    session.screen.say(f"rules cost nothing; what follows is for {assembly.DEFAULT_MODEL}")
    return session.open(given | {"model.name": assembly.DEFAULT_MODEL})


def _known(tool: str, workspace: "Workspace") -> None:
    from copilot.strict_model import did_you_mean
    from policies.schema import TOOL_NAMES

    servers = workspace.settings.mcp_servers
    names = [*TOOL_NAMES, OTHER, *(name for server in servers for name in server.offered())]
    if tool not in names:
        raise UsageError(f"there is no tool {tool[:40]!r}. {did_you_mean(tool, names)}")


def _print(session: Session, found: "Explanation", policy: str, model: str) -> None:
    facts = {
        "result": f"{found.tool}, {found.bytes} bytes in {found.rows} rows",
        "policy": f"{policy}, on {model}",
        "placement": found.placement,
        "why": found.why,
        "tokens": f"{found.shown_tokens} are shown; inline all would be {found.whole_tokens}",
        "shows": found.shows,
        "cleared": found.cleared,
        "by": found.by,
    }
    for name, text in facts.items():
        session.screen.line((f"{name}: ", "dim"), text)
    if found.bite:
        session.screen.line(("bite: ", "dim"), _sum(found.bite, found.shown_tokens))


def _sum(bite: "SmallestBite", shown: int) -> str:
    """The bite's sum, in words."""
    worth = f"{bite.results} such results of {shown} tokens"
    if not bite.is_auto:
        return f"at least {bite.least} tokens at once, as the policy says: {worth}"
    return (
        f"at least {bite.least} tokens at once: {worth}. The {bite.tail} tokens that stay behind "
        f"it are written again, at {bite.write:g} instead of {bite.read:g} to read: as much as "
        f"{bite.pays_back:g} turns of reading. That is paid back in {bite.turns} turns by "
        f"{bite.spread} tokens; bites cost least at {bite.quantity}; the larger number holds"
    )

"""`copilot policy`: the context policies that there are, what they say, and what they would do."""

from typing import TYPE_CHECKING

import click

from copilot.cli.options import as_json, ids_only
from copilot.cli.policy_explain import explain
from copilot.cli.policy_simulate import simulate
from copilot.cli.session import Session, pass_session
from copilot.errors import ConfigError

if TYPE_CHECKING:
    from policies.schema import Policy


@click.group("policy")
def command() -> None:
    """The context policies: how each tool's results are carried, and what that would cost."""


@command.command("list")
@ids_only
@as_json
@pass_session
def list_(session: Session, quiet: bool, as_json: bool) -> None:
    """List the policies by name; the one in use is marked."""
    from policies.loader import policy_names

    settings = session.workspace.settings
    names = policy_names(settings.policies)
    if quiet:
        for name in names:
            session.screen.line(name)
        return
    found = {name: _policy(session, name) for name in names}
    own = {name for name in names if (settings.policies / f"{name}.yaml").is_file()}
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.policies/1",
                "policies": [
                    {
                        "name": name,
                        "in_use": name == settings.policy,
                        "built_in": name not in own,
                        "why": policy.why,
                    }
                    for name, policy in found.items()
                ],
            }
        )
        return
    session.screen.table(
        ("NAME", "IN-USE", "FROM", "WHY"),
        [
            (
                name,
                "yes" if name == settings.policy else "",
                str(settings.policies) if name in own else "built-in",
                policy.why,
            )
            for name, policy in found.items()
        ],
    )


@command.command("show")
@click.argument("policy", metavar="NAME|FILE")
@as_json
@pass_session
def show(session: Session, policy: str, as_json: bool) -> None:
    """Show everything that a policy says, also what it takes from another one and from defaults."""
    from policies.differences import flat

    found = _policy(session, policy)
    if as_json:
        data = found.model_dump(mode="json")
        session.screen.document({"schema": "copilot.policy/1", "policy": data})
        return
    servers = session.workspace.settings.mcp_servers
    remote = [name for server in servers for name in server.offered() if found.offers(name)]
    general = found.model_dump(mode="json", exclude={"tools", "mcp_tools", "other_tools"})
    session.screen.table(("KEY", "VALUE"), list(flat(general)))
    session.screen.line()
    session.screen.table(
        ("TOOL", "PLACEMENT", "INLINE", "POINTER", "TOP", "TAIL", "DIGEST", "CLEAR", "WHY"),
        [
            (
                name,
                tool.placement,
                str(tool.inline_tokens),
                str(tool.pointer_tokens),
                str(tool.top_hits),
                str(tool.tail),
                str(tool.digest),
                tool.clear,
                tool.why,
            )
            for name, tool in [
                *found.tools.items(),
                *((name, found.tool(name)) for name in dict.fromkeys([*found.mcp_tools, *remote])),
                ("other_tools", found.other_tools),
            ]
        ],
    )


@command.command("check")
@click.argument("policies", metavar="[FILE|NAME]...", nargs=-1)
@pass_session
def check(session: Session, policies: tuple[str, ...]) -> None:
    """Check these policies, else all that there are; each problem is a `file:line: key: what`."""
    from policies.loader import policy_names

    wrong = []
    for name in policies or policy_names(session.workspace.settings.policies):
        try:
            fixed = _fixed(session, _policy(session, name))
        except ConfigError as error:
            wrong.append(str(error))
        else:
            session.screen.say(f"{name}: right; {fixed}")
    if wrong:
        raise ConfigError("\n".join(wrong))


@command.command("diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@as_json
@pass_session
def diff(session: Session, first: str, second: str, as_json: bool) -> None:
    """Show where the policies A and B differ, tool by tool. Each is a name or a file."""
    from policies.differences import differences

    found = differences(_policy(session, first), _policy(session, second))
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.policy-diff/1",
                "first": first,
                "second": second,
                "differences": [
                    {"key": one.key, "first": one.first, "second": one.second} for one in found
                ],
            }
        )
        return
    rows = [(one.key, one.first, one.second) for one in found]
    session.screen.table(("KEY", first, second), rows)
    if not found:
        session.screen.say(f"{first} and {second} carry results in the same way")


command.add_command(explain)
command.add_command(simulate)


def _policy(session: Session, name: str) -> "Policy":
    from policies.loader import load_policy

    return load_policy(name, session.workspace.settings.policies)


def _fixed(session: Session, policy: "Policy") -> str:
    """What every request carries, in words. Raises ConfigError when the policy's window is full."""
    from copilot import prompt, surface
    from copilot.context.request import Frame
    from copilot.context.room import answer_tokens, check_room, fixed_tokens, usable_window
    from copilot.mcp.offers import told_tools
    from copilot.tools.registry import Registry

    workspace = session.workspace
    told, unknown = told_tools(workspace, policy)
    offered = [*surface.tools_for(workspace, policy), *told]
    tools = Registry(offered, workspace.redactor).definitions()
    answer = answer_tokens(workspace.settings.model.max_output_tokens, policy)
    system = prompt.system([tool["name"] for tool in tools])
    frame = Frame("any model", system, tools, answer, policy)
    check_room(frame, usable_window(None, policy))
    of_servers = f" ({len(told)} of MCP servers)" if told else ""
    said = (
        f"system and {len(tools)} tools{of_servers} take about {fixed_tokens(frame)} tokens of "
        "each request"
    )
    return f"{said}, {surface.not_counted(unknown)}" if unknown else said

"""`copilot policy`: the context policies that there are."""

import click

from copilot.cli.options import as_json, ids_only
from copilot.cli.session import Session, pass_session


@click.group("policy")
def command() -> None:
    """The context policies that there are: how each tool's results are carried."""


@command.command("list")
@ids_only
@as_json
@pass_session
def list_(session: Session, quiet: bool, as_json: bool) -> None:
    """List the policies by name; the one in use is marked."""
    from policies.loader import load_policy, policy_names

    settings = session.workspace.settings
    names = policy_names(settings.policies)
    if quiet:
        for name in names:
            session.screen.line(name)
        return
    found = {name: load_policy(name, settings.policies) for name in names}
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

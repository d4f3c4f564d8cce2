"""`copilot doctor`: is everything in place, and what to type where it is not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from copilot.cli import exit_codes
from copilot.cli.options import as_json
from copilot.cli.session import Session, pass_session
from copilot.cli.ui import Style

if TYPE_CHECKING:
    from copilot.doctor import Check

MARKS: dict[str, tuple[str, Style]] = {
    "ok": ("✓", "good"),
    "warn": ("!", "warn"),
    "fail": ("✗", "bad"),
}


@click.command("doctor")
@click.option("--offline", is_flag=True, help="Look at this machine only: ask no service.")
@as_json
@pass_session
def command(session: Session, offline: bool, as_json: bool) -> int:
    """Check that everything is in place; asks the services that are configured.

    Changes nothing, but that it keeps what MCP servers say of their tools.

    Leaves with 1 when something must be mended before an investigation.
    """
    checks = look(session, offline=offline)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.doctor/1",
                "ok": verdict(checks) == exit_codes.OK,
                "checks": [
                    {
                        "tier": one.tier,
                        "name": one.name,
                        "state": one.state,
                        "found": one.found,
                        "fix": one.fix,
                    }
                    for one in checks
                ],
            }
        )
    else:
        print_checks(session, checks)
    return verdict(checks)


def look(session: Session, *, offline: bool) -> "tuple[Check, ...]":
    """The checks of this session's workspace."""
    from copilot.doctor import examine

    return tuple(
        examine(lambda: session.workspace, session.environ, session.now(), offline=offline)
    )


def print_checks(session: Session, checks: "Sequence[Check]") -> None:
    """Print each check with its mark, and below it what to do."""
    for one in checks:
        session.screen.line(MARKS[one.state], f" {one.name}: {one.found}")
        if one.fix:
            session.screen.line(("→ ", "dim"), one.fix, indent=2)


def verdict(checks: "Sequence[Check]") -> int:
    """The exit code that the checks amount to."""
    return exit_codes.FAILED if any(one.state == "fail" for one in checks) else exit_codes.OK

"""`copilot init`: make a workspace."""

from pathlib import Path

import click

from copilot.cli.doctor import look, print_checks, verdict
from copilot.cli.session import Session, pass_session


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@pass_session
def command(session: Session, folder: Path) -> int:
    """Make a workspace in DIR: settings, runbooks, a place for policies, and the notes.

    Overwrites nothing. Ends with `doctor`.
    """
    import shlex

    from copilot.initialise import initialise

    made = initialise(session.cwd / folder)
    here = Session(session.screen, session.cwd / folder, session.environ, session.cwd, session.now)
    here.workspace.notes.create()
    for path in made:
        session.screen.line(str(path))
    session.screen.line(f"{here.workspace.notes.root}/")
    session.screen.say()
    checks = look(here, offline=True)
    print_checks(here, checks)
    session.screen.say()
    session.screen.say(("Next", "title"))
    for step in (f"cd {shlex.quote(str(folder))}", "copilot runbooks list",
                 "copilot logbook import FILE...", "copilot investigate ALERT.json"):  # fmt: skip
        session.screen.say(f"  {step}")
    return verdict(checks)

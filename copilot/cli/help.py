"""`copilot help`: any command's help, and the topics that belong to no command."""

import click

from copilot.cli.exit_codes import MEANINGS
from copilot.cli.session import Session, pass_session

TOPIC = "exit-codes"


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND...|exit-codes]")
@click.pass_context
@pass_session
def command(session: Session, context: click.Context, words: tuple[str, ...]) -> None:
    """Explain a command, such as `copilot help notes search`, or the exit codes."""
    if words == (TOPIC,):
        for code, meaning in MEANINGS.items():
            session.screen.line(f"{code:>3}  {meaning}")
        return
    here = context.find_root()
    for word in words:
        if not isinstance(here.command, click.Group):
            raise click.UsageError(f"{here.command_path} has no commands below it", here)
        _, found, _ = here.command.resolve_command(here, [word])
        assert found is not None
        here = click.Context(found, info_name=word, parent=here)
    session.screen.page(here.get_help())
    if not words:
        session.screen.line()
        session.screen.line(f"Topics: copilot help {TOPIC}")

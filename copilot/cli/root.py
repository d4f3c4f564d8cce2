"""The tree of commands. Only the command that is asked for is imported."""

from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from copilot import __version__
from copilot.cli.faults import ReaderLeft, guarded
from copilot.cli.session import Session
from copilot.cli.ui import Color, Screen

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
SECTIONS = {
    "First steps": {
        "demo": "Run the main job on bundled logs and tickets: no key, no server.",
        "init": "Make a workspace.",
        "doctor": "Check that everything is in place, and say how to mend what is not.",
    },
    "Investigate": {
        "serve": "The daemon: take alerts in and investigate them, until SIGTERM.",
        "alerts": "Submit, list and test alerts.",
        "investigate": "Investigate an alert, a ticket or a workflow, and write a report.",
        "incidents": "List, show, watch, cancel, retry, close and reopen incidents.",
        "outbox": "Comments that the copilot proposed for tickets: approve or reject them.",
        "usage": "What an investigation cost, by turn, source and lever; or what a day did.",
    },
    "Look things up": {
        "notes": "What is known of each incident, and its history.",
        "scratch": "The evidence: results kept on disk, by handle.",
        "logbook": "Import log files; search and count their lines.",
        "tickets": "Import tickets; find and show them.",
        "documents": "Import documents; find and show them.",
        "runbooks": "The runbooks: what there is, and which ones an alert gets.",
    },
    "Settings": {
        "config": "Show and check the settings.",
        "policy": "The context policies that there are.",
        "completion": "Print the completion script of a shell.",
        "help": "Explain a command, or a topic such as exit-codes.",
    },
}
COMMANDS = {name: text for section in SECTIONS.values() for name, text in section.items()}


class Root(click.Group):
    """The `copilot` command."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Names alone, for click's "did you mean"; the commands themselves come when asked for.
        self.commands = {name: click.Command(name, help=text) for name, text in COMMANDS.items()}

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run the command line and leave the process with its exit code."""
        run = super().main
        options["standalone_mode"] = False
        raise SystemExit(guarded(lambda: run(*args, **options)))

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; click itself would leave with 1 when a reader has closed our output."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderLeft from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Every command, in the order of the help text."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - as click calls it
        cmd_name: str,
    ) -> click.Command | None:
        """The command called that, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"copilot.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - as click calls it
        formatter: click.HelpFormatter,
    ) -> None:
        """The commands by section, without importing them."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


@click.group("copilot", cls=Root, context_settings=SETTINGS)
@click.version_option(__version__, message="copilot %(version)s")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The settings, or the folder of a workspace. Else $COPILOT_CONFIG, ./copilot.yaml, "
    "~/.config/copilot/copilot.yaml, /etc/copilot/copilot.yaml: the first that there is.",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colours; auto honours NO_COLOR, FORCE_COLOR and TERM.",
)
@click.pass_context
def root(context: click.Context, config: Path | None, color: Color) -> None:
    """Take an alert, investigate it over logs and tickets, and leave a report that can be checked.

    Every claim of the report cites a line that exists. Data goes to stdout, progress and messages
    to stderr. Times are UTC.
    """
    context.obj = context.obj or Session(Screen(color), config)

"""`copilot demo`: the main job on bundled logs and tickets, in a workspace of its own."""

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from copilot.cli.investigate import Shown, follow
from copilot.cli.session import Session, pass_session, pick
from copilot.cli.targets import target_of

if TYPE_CHECKING:
    from copilot.demo import Made, Scenario

DEFAULT = "stalled-workflow"


@click.command("demo")
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep it all there.")
@click.option("--scenario", "name", default=DEFAULT, show_default=True, help="What to investigate.")
@click.option("--model", default="offline", show_default=True, help="auto and Claude need a key.")
@click.option("--list", "as_list", is_flag=True, help="List the scenarios.")
@pass_session
def command(session: Session, keep: Path | None, name: str, model: str, as_list: bool) -> int:
    """Run the main job on real logs and tickets that come with the copilot: no key, no server.

    Makes a workspace, imports logs and tickets, takes an alert, investigates, and prints
    the report. Without --keep nothing is left behind.
    """
    from copilot.demo import SCENARIOS, make_workspace, scenario

    if as_list:
        session.screen.table(("SCENARIO", "ABOUT"), [(one.name, one.about) for one in SCENARIOS])
        return 0
    wanted = scenario(name)
    with ExitStack() as stack:
        folder = session.cwd / keep if keep else _temporary(stack)
        made = make_workspace(folder, wanted)
        shown = Shown(stays=keep is not None)
        code = _run(_inside(session, folder), made, wanted, model, shown)
    session.screen.line()
    if not keep:
        again = "" if name == DEFAULT else f" --scenario {name}"
        session.screen.line(f"The folder is removed. To keep it: copilot demo --keep DIR{again}")
    session.screen.line("A workspace of your own: copilot init DIR")
    return code


def _temporary(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="copilot-demo-")))


def _inside(session: Session, folder: Path) -> Session:
    """A session in the demo's workspace; a person's own overrides would lead out of it."""
    ours = {key: value for key, value in session.environ.items() if not key.startswith("COPILOT_")}
    return Session(session.screen, folder, ours, session.cwd, session.now)


def _run(session: Session, made: "Made", wanted: "Scenario", model: str, shown: Shown) -> int:
    """Import everything, investigate the alert, and return the exit code."""
    say = session.screen.say
    from connectors.embedded_tracker import EmbeddedTracker

    workspace = session.open({"model.name": model})
    say(f"scenario {wanted.name}: {wanted.about}")
    say(f"workspace: {made.folder}")
    workspace.notes.create()
    book = pick(workspace.logbooks, "", "logbook")
    tracker = pick(workspace.trackers, "", "tracker")
    assert isinstance(tracker, EmbeddedTracker)  # the demo makes its own workspace
    files = list(book.import_files([made.logs], made.folder))
    lines = sum(getattr(one, "lines", 0) for one in files)
    say(f"logbook: {lines:,} lines of {len(files)} files imported, none dropped")
    for ticket in made.tickets:
        tracker.import_file(ticket, ticket.name)
    say(f"tracker: {len(made.tickets)} tickets imported")
    say(f"runbooks: {len(workspace.runbooks.runbooks)}")
    found = target_of(session, workspace, str(made.alert), "")
    say(f"alert: {made.alert}")
    return follow(session, workspace, found, "", shown)

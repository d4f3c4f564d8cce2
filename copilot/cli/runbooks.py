"""`copilot runbooks`: what there is, what one says, and which ones an alert gets."""

from typing import TYPE_CHECKING

import click

from copilot.cli.options import as_json, ids_only
from copilot.cli.session import Session, pass_session
from copilot.cli.shown import counted
from copilot.cli.targets import Known, target_of
from copilot.errors import NotFoundError
from copilot.safe_text import safe_text

if TYPE_CHECKING:
    from copilot.values import Alert
    from policies.runbook import Shelf


@click.group("runbooks")
def command() -> None:
    """The runbooks: what there is, what one says, and which ones an alert gets."""


@command.command("list")
@ids_only
@as_json
@pass_session
def list_(session: Session, quiet: bool, as_json: bool) -> None:
    """List the runbooks by name, with what picks them."""
    shelf = _shelf(session)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.runbooks/1",
                "runbooks": [
                    {
                        "name": one.name,
                        "description": one.description,
                        "alertnames": [*one.alertnames],
                        "labels": [*one.labels],
                    }
                    for one in shelf.runbooks
                ],
                "problems": [*shelf.problems],
            }
        )
        return
    if quiet:
        for one in shelf.runbooks:
            session.screen.line(one.name)
        return
    session.screen.table(
        ("NAME", "ALERTNAMES", "LABELS", "DESCRIPTION"),
        [
            (one.name, " ".join(one.alertnames), " ".join(one.labels), one.description)
            for one in shelf.runbooks
        ],
    )
    for problem in shelf.problems:
        session.screen.say(f"left out: {problem}")


@command.command("show")
@click.argument("name")
@pass_session
def show(session: Session, name: str) -> None:
    """Show the runbook NAME, as an investigator reads it."""
    found = next((one for one in _shelf(session).runbooks if one.name == name), None)
    if found is None:
        raise NotFoundError(
            f"no runbook is called {safe_text(name, limit=80)!r}; `copilot runbooks list` names "
            "those that there are"
        )
    session.screen.page(session.masked(found.text))


@command.command("check")
@pass_session
def check(session: Session) -> None:
    """Check all runbooks: each problem is a `file:line: key: what`, and so is each doubt."""
    from copilot.runbooks import carried
    from policies.runbook_checks import doubts

    shelf = _shelf(session)
    seen = carried(session.workspace.notes)
    for one in shelf.runbooks:
        for doubt in doubts(one, seen):
            session.screen.say(f"look at {doubt}")
    shelf.check()
    session.screen.say(f"{counted(len(shelf.runbooks), 'runbook')}: right")


@command.command("match")
@click.argument("target")
@ids_only
@as_json
@pass_session
def match(session: Session, target: str, quiet: bool, as_json: bool) -> None:
    """Show which runbooks an alert gets, best first, and why.

    TARGET is what `copilot investigate` takes: a file with an alert (- for stdin), a ticket's key,
    or an incident.
    """
    from copilot import alerts
    from copilot.runbooks import MOST_ANNOUNCED, alert_labels

    alert = alerts.redacted(_alert(session, target), session.workspace.redactor)
    labels = alert_labels(alert)
    fitting = _shelf(session).fitting(labels, alert.annotations)
    whys = {one.name: one.fit(labels, alert.annotations).why for one in fitting}
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.runbook-match/1",
                "labels": dict(labels),
                "runbooks": [
                    {"name": name, "announced": place < MOST_ANNOUNCED, "why": [*why]}
                    for place, (name, why) in enumerate(whys.items())
                ],
            }
        )
        return
    if quiet:
        for name in whys:
            session.screen.line(name)
        return
    session.screen.table(
        ("NAME", "ANNOUNCED", "WHY"),
        [
            (name, "yes" if place < MOST_ANNOUNCED else "", ", ".join(why))
            for place, (name, why) in enumerate(whys.items())
        ],
    )
    words = ", ".join(f"{key}={value}" for key, value in sorted(labels.items())) or "none"
    session.screen.say(f"labels: {safe_text(words, limit=2000)}")
    if not whys:
        session.screen.say("none is announced; the investigator may still find one by a search")


def _alert(session: Session, target: str) -> "Alert":
    from copilot.values import Alert

    found = target_of(session, session.workspace, target, "")
    if not isinstance(found, Known):
        return found
    front = session.front(found.incident)
    return Alert(source="", title=front.title, text="", labels=front.labels)


def _shelf(session: Session) -> "Shelf":
    """The runbooks as they are; what is wrong with one is told by the command, not by a log."""
    from copilot.settings import RUNBOOKS
    from policies.runbook import read_shelf

    return read_shelf(session.workspace.settings.workspace / RUNBOOKS)

"""`copilot usage`: what an investigation cost, by turn, source and lever; and what a day cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from copilot.cli.options import as_json
from copilot.cli.session import Session, pass_session
from copilot.errors import CopilotError, NotFoundError, UsageError

if TYPE_CHECKING:
    from copilot.chart.wedge import Ceiling, Wedge
    from copilot.cli.ui import Style
    from copilot.journal import Event
    from copilot.values import JsonObject

STYLES: "dict[str, Style]" = {
    "title": "title", "axis": "dim", "system": "dim", "tools": "dim", "alert and state": "warn",
    "conversation": "title", "tool results": "good", "ceiling": "bad", "mark": "bad",
}  # fmt: skip


@click.command("usage")
@click.argument("incident", metavar="[ID]", default="")
@click.option("--days", type=click.IntRange(1, 3660), help="The last so many days, all incidents.")
@click.option("--investigation", type=click.IntRange(1), help="Which one; else the latest.")
@click.option("--csv", "as_csv", is_flag=True, help="Every request with all its columns.")
@click.option("--chart", "as_chart", is_flag=True, help="What each request carried, as a picture.")
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), help="The same as a file.")
@as_json
@pass_session
def command(
    session: Session, /, incident: str, days: int | None, investigation: int | None, **ways: Any
) -> None:
    """Show what the incident ID cost by turn, source and lever, or with --days what each day did.

    Everything is read off the journals; no service is asked.
    """
    chosen = [name for name, value in ways.items() if value]
    if bool(incident) == bool(days):
        raise UsageError("name an incident, or give --days N: copilot usage ID")
    if len(chosen) > 1:
        raise UsageError("give one of --csv, --json, --chart and --svg")
    if days:
        if investigation or set(chosen) - {"as_json"}:
            raise UsageError("--days goes with --json and nothing else")
        from copilot.cli.usage_days import print_days

        print_days(session, days, as_json=ways["as_json"])
        return
    _print(session, incident, investigation, chosen, ways["svg"])


def _print(
    session: Session, incident: str, investigation: int | None, way: list[str], svg: Path | None
) -> None:
    """Print one investigation the way that was chosen; as tables when none was."""
    from copilot.context.usage_rows import rows
    from copilot.journal import read_events

    journal, number = _journal(session, incident, investigation)
    events = read_events(journal)
    match way:
        case ["as_csv"]:
            from copilot.context.meter import usage_csv

            session.screen.page(usage_csv(events))
        case ["as_chart" | "svg"]:
            from copilot.chart.wedge import wedge

            title = f"{incident}, investigation {number}"
            _draw(session, wedge(rows(events), title, _ceilings(session, events)), svg)
        case _:
            _tabulate(session, journal, events, as_json=bool(way))


def _tabulate(
    session: Session, journal: Path, events: "tuple[Event, ...]", *, as_json: bool
) -> None:
    """Print requests, tasks and what to change, as tables or as one document."""
    from copilot.cli.usage_tables import document, print_tables
    from copilot.cli.usage_tasks import print_tasks, task_json, tasks_in, whole
    from copilot.context.asked import advice_in
    from copilot.context.usage_rows import rows

    found, tasks = rows(events), tasks_in(journal)
    total = whole(found, tasks)
    advice = advice_in([event for task in tasks for event in task.events] + [*events])
    if as_json:
        head: JsonObject = {
            "schema": "copilot.usage/1",
            "incident": journal.parent.name,
            "investigation": int(journal.stem),
        }
        rest: JsonObject = {
            "tasks": [task_json(task) for task in tasks],
            "advice": [*advice.values()],
        }
        session.screen.document({**head, **document(found, total), **rest})
        return
    print_tables(session.screen, found, total)
    print_tasks(session.screen, tasks)
    for text in advice.values():
        session.screen.say((text, "warn"))


def _journal(session: Session, incident: str, investigation: int | None) -> tuple[Path, int]:
    """The record of one investigation and its number. Raises NotFoundError."""
    session.front(incident)
    journals = session.workspace.journals(incident)
    if not journals:
        raise NotFoundError(
            f"{incident} was never investigated here; begin with: copilot investigate {incident}"
        )
    number = investigation or len(journals)
    if number > len(journals):
        raise NotFoundError(f"{incident} has investigations 1 to {len(journals)}, but no {number}")
    if len(journals) > 1:
        session.screen.say(f"investigation {number} of {len(journals)}; --investigation N chooses")
    return journals[number - 1], number


def _ceilings(session: Session, events: "tuple[Event, ...]") -> "list[Ceiling]":
    """Where the levers act by the policy that the investigation began with, and the window."""
    from copilot.chart.wedge import Ceiling
    from copilot.models.prices import window
    from copilot.values import text_at
    from policies.loader import load_policy

    begun = events[0].data if events else {}
    ceilings = []
    try:
        policy = load_policy(text_at(begun, "policy"), session.workspace.settings.policies)
    except CopilotError as error:
        session.screen.say((f"the policy's limits are not drawn: {error}", "warn"))
    else:
        if policy.clearing.by != "off":
            ceilings.append(Ceiling("clearing from", policy.clearing.trigger_tokens))
        if policy.compaction.by != "off":
            ceilings.append(Ceiling("compaction from", policy.compaction.trigger_tokens))
    size = window(text_at(begun, "model"))
    return [*ceilings, Ceiling("window", size)] if size else ceilings


def _draw(session: Session, drawn: "Wedge", file: Path | None) -> None:
    if file is None:
        from copilot.chart.terminal import ASCII, UNICODE, draw

        signs = UNICODE if session.screen.can_show(UNICODE.all) else ASCII
        for spans in draw(drawn, session.screen.width, signs):
            session.screen.line(*((text, STYLES.get(shows, "")) for text, shows in spans))
        return
    from copilot.chart.svg import svg

    path = session.cwd / file
    try:
        path.write_text(svg(drawn), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    session.screen.say(f"written: {path}")

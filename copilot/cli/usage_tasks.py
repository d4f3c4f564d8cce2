"""The tasks of an investigation: what each was asked, and what it used of the whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from copilot.cli.ui import Screen
from copilot.cli.usage_tables import sums, total_json
from copilot.context import totals
from copilot.context.totals import Total
from copilot.context.usage_rows import Row, rows
from copilot.journal import Event, read_events
from copilot.spending import tasks_of
from copilot.values import JsonObject, text_at

BRIEF_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class TaskUsage:
    """One task, by the record of its own."""

    name: str
    events: tuple[Event, ...]
    total: Total

    @property
    def brief(self) -> str:
        """The beginning of what it was asked."""
        return text_at(self.events[0].data, "task")[:BRIEF_CHARACTERS]

    @property
    def is_answered(self) -> bool:
        """False while it is at work, and when it was stopped or failed."""
        return any(event.kind == "report" for event in self.events)


def tasks_in(journal: Path) -> list[TaskUsage]:
    """The tasks that the investigation of *journal* passed on, the first begun first."""
    records = [(path.stem, read_events(path)) for path in tasks_of(journal)]
    begun = sorted((events[0].time, name, events) for name, events in records if events)
    return [TaskUsage(name, events, totals.total(rows(events))) for _, name, events in begun]


def whole(found: Sequence[Row], tasks: Sequence[TaskUsage]) -> Total:
    """All requests, those of *tasks* one by one: they count also before a task has answered."""
    if not tasks:
        return totals.total(found)
    own = totals.total(row for row in found if row.kind != "task")
    return sum((task.total for task in tasks), own)


def print_tasks(screen: Screen, tasks: Sequence[TaskUsage]) -> None:
    """Print a table of them."""
    if tasks:
        screen.line()
    screen.table(
        ("TASK", "ANSWERED", "REQUESTS", "INPUT", "READ", "WRITTEN", "OUTPUT", "USD", "BRIEF"),
        [
            (
                task.name.rpartition("-")[2],
                "yes" if task.is_answered else "no",
                str(task.total.requests),
                *sums(task.total),
                task.brief,
            )
            for task in tasks
        ],
    )


def task_json(task: TaskUsage) -> JsonObject:
    """The same as data."""
    return {
        "journal": task.name,
        "brief": task.brief,
        "answered": task.is_answered,
        **total_json(task.total),
    }

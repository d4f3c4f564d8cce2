"""What was spent per day over all incidents, read off the journals and nothing else.

A task has a journal of its own and is part of the investigation that passed it on.

Fast because it decides by the head of a line: only answers of the days asked for are parsed, and a
journal that was last written before them is not opened.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

from copilot.context.totals import Total
from copilot.context.usage_rows import usage_of
from copilot.errors import CopilotError
from copilot.values import JsonObject, object_at, text_at

PAID = re.compile(
    rb'\{"seq":\d+,"time":"(\d{4}-\d\d-\d\d)T[^"]*","kind":"(?:response|compact|support)",'
)
"""The head of an event that may have been paid for, as `Event.line` writes it, with its UTC day."""


TASK = ".task-"
"""In the name of a task's journal, behind the name of its investigation's."""


class SpendingError(CopilotError):
    """A journal cannot be read."""


@dataclass(frozen=True, slots=True)
class Day:
    """One UTC day. `investigations` are those with at least one request on that day."""

    day: date
    investigations: int
    total: Total


def spent_in(journal: Path, since: date) -> dict[date, Total]:
    """What one journal holds of each day from *since* on. Raises SpendingError."""
    found: dict[date, Total] = {}
    try:
        if datetime.fromtimestamp(journal.stat().st_mtime, UTC) < _midnight(since):
            return found
        for day, data in _paid(journal, since):
            if object_at(data, "usage"):
                found[day] = found.get(day, Total()) + _total(data)
    except (OSError, ValueError) as error:
        raise SpendingError(f"{journal}: cannot be read ({error}); it is left out") from None
    return found


def by_day(parts: Iterable[tuple[Path, dict[date, Total]]]) -> list[Day]:
    """All journals added up, oldest day first; days without a request are left out."""
    totals: defaultdict[date, Total] = defaultdict(Total)
    investigations: defaultdict[date, set[Path]] = defaultdict(set)
    for journal, part in parts:
        for day, total in part.items():
            totals[day] += total
            investigations[day].add(investigation_of(journal))
    return [Day(day, len(investigations[day]), totals[day]) for day in sorted(totals)]


def investigation_of(journal: Path) -> Path:
    """The investigation that *journal* is part of: itself, or that which passed the task on."""
    name, is_task, _ = journal.name.partition(TASK)
    return journal.with_name(f"{name}.jsonl") if is_task else journal


def tasks_of(journal: Path) -> list[Path]:
    """The journals of the tasks of an investigation."""
    return sorted(journal.parent.glob(f"{journal.stem}{TASK}*.jsonl"))


def _paid(journal: Path, since: date) -> Iterator[tuple[date, JsonObject]]:
    """Day and data of each event that may have been paid for; a torn last line is no event."""
    with journal.open("rb") as file:
        for line in file:
            head = PAID.match(line)
            if not head or not line.endswith(b"\n"):
                continue
            day = date.fromisoformat(head[1].decode())
            if day >= since:
                yield day, object_at(json.loads(line), "data")


def _total(data: JsonObject) -> Total:
    price = text_at(data, "usd")
    known = price not in ("", "None")
    return Total(1, usage_of(data).total, Decimal(price if known else 0), not known)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)

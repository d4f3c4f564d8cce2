"""Every logbook that there is, filled with given events: what the tests of the contract run over.

A connector joins with one line in `FILLED`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TypeAlias

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.logbook import Logbook
from connectors.opensearch import OpenSearchLogbook, Site

INDICES = count(1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Event:
    """One log event, so many seconds after noon; None leaves it without a time."""

    seconds: float | None
    message: str = "step done"
    level: str = "INFO"
    fields: Mapping[str, str] = field(default_factory=dict)


def of(workflow: str, seconds: float | None, message: str = "step done") -> Event:
    """Return an event of a workflow."""
    return Event(seconds, message, fields={"workflow": workflow})


def after_noon(seconds: float) -> datetime:
    """Return the instant so many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def written(folder: Path, events: Sequence[Event]) -> Path:
    """Return a file with those events."""
    path = folder / "events.jsonl"
    with path.open("w") as file:
        for event in events:
            stamp = None if event.seconds is None else after_noon(event.seconds).isoformat()
            named = {"ts": stamp} if stamp else {}
            named |= {"level": event.level, **event.fields, "msg": event.message}
            file.write(json.dumps(named, ensure_ascii=False) + "\n")
    return path


def embedded(folder: Path, events: Sequence[Event], _url: str = "") -> Logbook:
    """Return an embedded logbook with those events, imported from one file."""
    path = written(folder, events)
    book = EmbeddedLogbook(folder / "logbook.db")
    book.import_file(path, path.name)
    return book


def opensearch(folder: Path, events: Sequence[Event], url: str) -> Logbook:
    """Return a logbook in an index of its own on the node at *url*, with those events."""
    path = written(folder, events)
    book = OpenSearchLogbook(Site(url, (f"filled-{next(INDICES)}",)), name="filled")
    list(book.import_files([path], folder))
    return book


@dataclass
class Growing:
    """A logbook, and a way to put more entries into it, each time as a source of its own."""

    book: EmbeddedLogbook | OpenSearchLogbook
    folder: Path
    taken: int = 0

    def take(self, *events: Event) -> None:
        """Import events."""
        self.taken += 1
        self.book.import_file(written(self.folder, events), f"part-{self.taken}.jsonl")


Fill: TypeAlias = Callable[[Path, Sequence[Event], str], Logbook]
FILLED: Mapping[str, Fill] = {"embedded": embedded, "opensearch": opensearch}
ON_A_NODE = frozenset({"opensearch"})
"""Those that need the address of a server; see the fixture of that name."""

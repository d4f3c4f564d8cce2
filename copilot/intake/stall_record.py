"""What a stall detector remembers between two polls: who is stalled, and since when it is blind.

Lost, it costs one repeat of each alert, which the inbox knows by its key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from copilot.values import Json, JsonObject, list_at, object_at
from copilot.window import iso, parse_iso

Kind = Literal["silent", "still", "unreachable"]
"""`still`: the logbook has news, but no workflow made progress."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """A workflow that was reported: its last progress, and the start that its alert has."""

    last: datetime
    start: datetime


@dataclass(frozen=True, slots=True)
class Blind:
    """A time in which nothing can be said of workflows."""

    kind: Kind
    since: datetime
    is_told: bool = False
    """True once an alert says so."""


@dataclass(frozen=True, slots=True)
class StallRecord:
    """The whole of it."""

    stalled: Mapping[str, Stalled] = field(default_factory=dict)
    blind: Blind | None = None

    def as_json(self) -> JsonObject:
        """The record as a cursor."""
        blind = self.blind
        return {
            "stalled": {
                name: [iso(one.last), iso(one.start)] for name, one in self.stalled.items()
            },
            "blind": [blind.kind, iso(blind.since), blind.is_told] if blind else [],
        }


def from_json(cursor: JsonObject) -> StallRecord:
    """The record that `as_json` made. Raises nothing for an empty one."""
    stalled = {
        name: Stalled(*(parse_iso(str(time)) for time in times))
        for name, times in object_at(cursor, "stalled").items()
        if isinstance(times, list)
    }
    return StallRecord(stalled, _blind(list_at(cursor, "blind")))


def _blind(saved: list[Json]) -> Blind | None:
    match saved:
        case ["silent" | "still" | "unreachable" as kind, str(since), bool(is_told)]:
            return Blind(kind, parse_iso(since), is_told)
        case _:
            return None

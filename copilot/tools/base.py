"""What a tool is, what it may reach, and what it answers. Values only.

A tool answers an `Outcome`: facts and rows. It never decides how much of them the model sees;
that is the policy's business (`context/placement.py`), and it never raises past the registry.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from connectors.library import Library
from connectors.logbook import Count, Logbook
from connectors.tracker import Tracker
from copilot.notes.search import Query, Recall
from copilot.notes.state import State
from copilot.outbox import Outbox
from copilot.scratch.store import Scratch
from copilot.tools.answer import Answer
from copilot.tools.arguments import Arguments
from copilot.tools.schema import schema_of
from copilot.values import Alert, Json, JsonObject


@dataclass(frozen=True, slots=True)
class Outcome:
    """One tool's answer before any policy: facts, rows, and how far they reach."""

    scope: JsonObject = field(default_factory=dict)
    """What was looked at, as executed: names, absolute window, filters."""
    rows: tuple[JsonObject, ...] = ()
    """The body, one row a line. Stored rows become `R0007:1`, `R0007:2`, … in this order."""
    facts: JsonObject = field(default_factory=dict)
    """Statistics that are always shown."""
    total: Count | None = None
    why_incomplete: str = ""
    """Empty exactly when "nothing found" would be a fact."""
    first: datetime | None = None
    last: datetime | None = None
    hint: str = ""
    instruction_like: JsonObject = field(default_factory=dict)
    """Where it reads as if it spoke to the model, as `injection.sign` tells it; the registry's."""
    ok: bool = True
    stored: bool = True
    """False for what is a view of rows that have handles already."""
    effect: JsonObject = field(default_factory=dict)
    """What the call changes in the incident's state, applied by `beliefs.py`."""
    ends: bool = False
    """True when the investigation is over with this call."""
    record: JsonObject = field(default_factory=dict)
    """What the journal keeps of it besides, in its own words: what a task cost and made."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a sub-investigation is told: all that it will know, its tools by name, its turns."""

    text: str
    tools: frozenset[str]
    max_turns: int


@dataclass(frozen=True, slots=True)
class Case:
    """All that the tools of one investigation may reach. Scope is set here, not by the model."""

    incident: str
    alert: Alert
    question: str
    logbooks: Mapping[str, Logbook]
    trackers: Mapping[str, Tracker]
    libraries: Mapping[str, Library]
    scratch: Scratch
    state: Callable[[], State]
    recall: Callable[[Query], tuple[Recall, ...]]
    """Past incidents, best first."""
    answers: Callable[[], Mapping[str, Answer]]
    seen: Callable[[], frozenset[str]]
    """Every identifier that the alert, a tool's answer or an operator has shown so far."""
    refusals: Callable[[], int]
    """How often a report was refused so far."""
    delegate: Callable[[Brief], Outcome] | None = None
    """Runs a sub-investigation; None where nobody takes tasks."""
    outbox: Outbox | None = None
    """Where comments for tickets wait for a person; None where none may be proposed."""


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One entry of the tool surface. The arguments' class is also the schema the model gets."""

    name: str
    purpose: str
    arguments: type[A]
    run: Callable[[A, Case], Outcome]
    repeatable: bool = True
    """True when the same arguments may be answered from the first answer."""
    shows: bool = True
    """False for what is computed, or repeats what the model wrote: it shows no identifier."""
    per_turn: int = 0
    """How many calls of it one turn may have; 0 is as many as of any tool."""
    schema: JsonObject | None = None
    """What the model gets instead of the schema of `arguments`, for a tool that is not ours."""

    def definition(self) -> JsonObject:
        """The tool as the model gets it."""
        schema: Json = self.schema or schema_of(self.arguments)
        return {"name": self.name, "description": self.purpose, "input_schema": schema}


AnyTool = Tool[Any]


def pick(sources: Mapping[str, Any], name: str, kind: str) -> Any:
    """The source called *name*, or the only one. Raises LookupError saying which there are."""
    if not name and len(sources) == 1:
        return next(iter(sources.values()))
    if name in sources:
        return sources[name]
    known = ", ".join(sorted(sources)) or "none is configured"
    asked = f"no {kind} is called {name!r}" if name else f"name the {kind}"
    raise LookupError(f"{asked}; there are: {known}")

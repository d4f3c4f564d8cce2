"""The tool that gives a question to a sub-investigation, which has a window of its own.

Only what may be asked is decided here. Who runs it (subtask.py) comes with the case, and a
sub-investigation's case has nobody: no nesting.
"""

from typing import Literal

from pydantic import Field

from copilot.errors import UsageError
from copilot.tools import library, logbook, scratch, tracker
from copilot.tools.arguments import Arguments
from copilot.tools.base import AnyTool, Brief, Case, Outcome, Tool

Family = Literal["logbook", "tracker", "library"]
FAMILIES: dict[Family, tuple[AnyTool, ...]] = {
    "logbook": logbook.TOOLS,
    "tracker": tracker.TOOLS,
    "library": library.TOOLS,
}
PER_TURN = 3


class Task(Arguments):
    """Arguments of `task`."""

    brief: str = Field(
        min_length=40,
        max_length=4000,
        description="It sees nothing else: goal, identifiers, absolute window, what to return",
    )
    tools: tuple[Family, ...] = Field((), description="Empty: all")
    max_turns: int = Field(8, ge=2, le=15)


def _run(arguments: Task, case: Case) -> Outcome:
    if case.delegate is None:
        raise UsageError("nobody takes tasks here; look yourself")
    families = arguments.tools or tuple(FAMILIES)
    chosen = [tool for family in families for tool in FAMILIES[family]]
    names = frozenset(tool.name for tool in (*chosen, *scratch.TOOLS))
    return case.delegate(Brief(arguments.brief, names, arguments.max_turns))


TOOLS = (
    Tool(
        "task",
        "Looks into one question in a window of its own, with read-only tools; answers FINDINGS "
        f"and UNCERTAIN with references. At most {PER_TURN} a turn.",
        Task,
        _run,
        per_turn=PER_TURN,
    ),
)

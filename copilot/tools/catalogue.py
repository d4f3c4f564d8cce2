"""Every tool there is, family by family."""

from copilot.tools import library, logbook, notes, report, scratch, task, tracker
from copilot.tools.base import AnyTool

TOOLS: tuple[AnyTool, ...] = (
    *logbook.TOOLS,
    *tracker.TOOLS,
    *library.TOOLS,
    *scratch.TOOLS,
    *notes.TOOLS,
    *task.TOOLS,
    *report.TOOLS,
)

"""Every tool there is, family by family."""

from copilot.tools import library, logbook, notes, outbox, report, scratch, task, tracker
from copilot.tools.base import AnyTool

TOOLS: tuple[AnyTool, ...] = (
    *logbook.TOOLS,
    *tracker.TOOLS,
    *library.TOOLS,
    *scratch.TOOLS,
    *notes.TOOLS,
    *task.TOOLS,
    *outbox.TOOLS,
    *report.TOOLS,
)

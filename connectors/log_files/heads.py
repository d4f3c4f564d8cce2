"""What the head of a text line names besides time and level: component, thread, host."""

import re

from connectors.log_files.record import Pairs

_NAME = r"[A-Za-z_][\w.$/@-]{1,100}"
COMPONENT = re.compile(
    rf"[\]>\s:|\-]*(?:\[(?P<thread>[^\[\]]{{1,160}})\]\s+)?(?P<component>{_NAME}?)"
    r"(?=:|\s\[|#\d|\s-\s)"
)
"""After the level: `INFO [main] org.example.Main: …`, `INFO:Queue:`, `[ERROR] shop - …`."""
CALLER = re.compile(r"\[[^\n]{0,120}?(?P<component>[A-Za-z][\w$]*)@\d+\] - ")
SOURCE_FILE = re.compile(r"\{(?P<component>[\w./-]+\.\w+):\d+\}")
PROGRAM = re.compile(
    r"\s(?P<host>[A-Za-z][\w.-]*|\d+(?:\.\d+){3})\s"
    r"(?P<component>[A-Za-z][\w./-]*)(?:\([^)]{0,40}\))?(?:\[\d+\])?:\s"
)
"""Right after the time: `combo sshd[19939]: …`."""


def head_fields(text: str, time_end: int, level_end: int) -> Pairs:
    """The component, thread and host that the line's head names, or nothing.

    *time_end* and *level_end* are where those two end; equal when there is no level.
    """
    if level_end > time_end:
        match = COMPONENT.match(text, level_end) or CALLER.search(text, level_end, level_end + 200)
        if not match:
            match = SOURCE_FILE.search(text, time_end, level_end)
    elif time_end:
        match = PROGRAM.match(text, time_end)
    else:
        match = None
    if not match:
        return ()
    return tuple((name, value) for name, value in match.groupdict().items() if value)

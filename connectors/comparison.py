"""The templates of a window against those of a baseline: what rose, what vanished. Pure."""

import re
from dataclasses import dataclass

from connectors.log_files.levels import LEVELS
from connectors.template_counts import Counted, Line, Seen
from connectors.templates import TemplateMiner

LISTED = 500
ERROR = LEVELS.index("ERROR")
WARN = LEVELS.index("WARN")
TROUBLE = re.compile(
    r"error|exception|fail|fatal|critical|cannot|can't|could not|unable|not found|no such"
    r"|denied|refused|reject|timed? ?out|abort|kill|crash|panic|expired|invalid|missing|unreachable"
    r"|unavailable|corrupt|exceed|too (?:many|large|long)|out of|lost|stuck|undefined|traceback",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Scale:
    """How many entries each one that was read stands for, in either window.

    The baseline is *longer* times as long as the window.
    """

    window: float
    baseline: float
    longer: float


@dataclass(frozen=True, slots=True)
class Compared:
    """The templates that are listed, and how many more there are."""

    rose: tuple[Line, ...]
    vanished: tuple[Line, ...]
    left_out: int


def compared(miner: TemplateMiner, seen: Counted, before: Counted, scale: Scale) -> Compared:
    """What rose, by lift, and what only the baseline has, the most frequent first.

    With nothing to compare to, lift says little: then troubles come first.
    """
    lines = []
    for number, here in seen.items():
        lines.append(_line(miner.text(number), here, (here, before.get(number)), scale))
    lines.sort(key=lambda line: (_alarm(line), line.lift, line.count), reverse=True)
    gone = [
        _line(miner.text(number), there, (None, there), scale)
        for number, there in before.items()
        if number not in seen
    ]
    gone.sort(key=lambda line: line.baseline_count, reverse=True)
    left_out = max(0, len(lines) - LISTED) + max(0, len(gone) - LISTED)
    listed = lines[:LISTED]
    if before:
        listed.sort(key=lambda line: (line.lift, line.count), reverse=True)
    return Compared(tuple(listed), tuple(gone[:LISTED]), left_out)


def _line(template: str, drawn: Seen, both: tuple[Seen | None, Seen | None], scale: Scale) -> Line:
    here, there = both
    count_here = round(here.count * scale.window) if here else 0
    count_there = round(there.count * scale.baseline) if there else 0
    lift = (count_here + 0.5) / (count_there + 0.5) * scale.longer
    return Line(template, drawn, count_here, count_there, lift)


def _alarm(line: Line) -> int:
    """2 for errors, 1 for warnings and for words of trouble, 0 for the rest."""
    if line.seen.level >= ERROR:
        return 2
    return int(line.seen.level == WARN or bool(TROUBLE.search(line.template)))

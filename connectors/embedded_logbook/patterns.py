"""Templates of a window against a baseline: what is new, what rose, what vanished."""

import re
import sqlite3
from dataclasses import dataclass
from datetime import timedelta

from connectors.embedded_logbook.mining import Counted, Line, Masks, Seen, counted, drawn
from connectors.embedded_logbook.sample import sampled, step_for
from connectors.embedded_logbook.search import span
from connectors.embedded_logbook.selection import Selection, select
from connectors.embedded_logbook.tally import count
from connectors.log_files.levels import LEVELS
from connectors.logbook import Count, Coverage, Filters, Patterns
from connectors.templates import TemplateMiner
from copilot.window import ALWAYS, Window

MINED = 200_000
"""Entries read in each of the two windows; beyond that, an even sample and estimated counts."""
LISTED = 500
ERROR = LEVELS.index("ERROR")
WARN = LEVELS.index("WARN")
TROUBLE = re.compile(
    r"error|exception|fail|fatal|critical|cannot|can't|could not|unable|not found|no such"
    r"|denied|refused|reject|timed? ?out|abort|kill|crash|panic|expired|invalid|missing|unreachable"
    r"|unavailable|corrupt|exceed|too (?:many|large|long)|out of|lost|stuck|undefined|traceback",
    re.IGNORECASE,
)


def patterns(
    book: sqlite3.Connection,
    window: Window,
    baseline: Window | None,
    filters: Filters,
    masks: Masks,
) -> Patterns:
    """What rose in *window* against *baseline*; see the protocol."""
    every, _ = select(book, filters)
    here = every.within(window)
    seconds, used = _compared(book, here, window, baseline)
    there = every.within(used) if used else None
    total, baseline_total = count(book, here), count(book, there) if there else 0
    steps = _Steps(step_for(total, MINED), step_for(baseline_total, MINED))
    miner = TemplateMiner(masks)
    seen = counted(miner, sampled(book, here, steps.window))
    before = counted(miner, sampled(book, there, steps.baseline)) if there else {}
    longer = _seconds(book, there, used) / seconds if there and used else 1.0
    rose = _rose(miner, seen, before, steps, longer)
    vanished = _vanished(miner, seen, before, steps, longer)
    notes = list(steps.notes())
    if used and baseline is None:
        notes.append(f"the baseline is the same length of time just before: {used}")
    left_out = max(0, len(rose) - LISTED) + max(0, len(vanished) - LISTED)
    if left_out:
        notes.append(f"{left_out} further templates are not listed")
    untimed = 0 if window == ALWAYS else count(book, every.untimed())
    return Patterns(
        rose=drawn(book, _ordered(rose[:LISTED], compared=bool(before))),
        vanished=drawn(book, vanished[:LISTED]),
        total=Count(total),
        baseline_total=Count(baseline_total),
        coverage=Coverage(untimed=untimed, notes=tuple(notes)),
    )


@dataclass(frozen=True, slots=True)
class _Steps:
    """Of how many entries one was read, in either window."""

    window: int
    baseline: int

    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the counts."""
        named = (("window", self.window), ("baseline", self.baseline))
        return tuple(
            f"the {name} was mined from every {step}th line; its counts are estimates"
            for name, step in named
            if step > 1
        )


def _rose(
    miner: TemplateMiner, seen: Counted, before: Counted, steps: _Steps, longer: float
) -> list[Line]:
    """The templates of the window; those that must not be left out come first."""
    lines = []
    for number, here in seen.items():
        there = before.get(number)
        lines.append(_line(miner.text(number), here, (here, there), steps, longer))
    lines.sort(key=lambda line: (_alarm(line), line.lift, line.count), reverse=True)
    return lines


def _vanished(
    miner: TemplateMiner, seen: Counted, before: Counted, steps: _Steps, longer: float
) -> list[Line]:
    """The templates that only the baseline has, the most frequent first."""
    lines = [
        _line(miner.text(number), there, (None, there), steps, longer)
        for number, there in before.items()
        if number not in seen
    ]
    lines.sort(key=lambda line: line.baseline_count, reverse=True)
    return lines


def _line(
    template: str,
    shown: Seen,
    both: tuple[Seen | None, Seen | None],
    steps: _Steps,
    longer: float,
) -> Line:
    """The line of one template; *longer* is the baseline's length over the window's."""
    here, there = both
    count_here = here.count * steps.window if here else 0
    count_there = there.count * steps.baseline if there else 0
    lift = (count_here + 0.5) / (count_there + 0.5) * longer
    return Line(template, shown, count_here, count_there, lift)


def _ordered(lines: list[Line], *, compared: bool) -> list[Line]:
    """By lift. With nothing to compare to it says little: then troubles stay first."""
    if compared:
        lines.sort(key=lambda line: (line.lift, line.count), reverse=True)
    return lines


def _alarm(line: Line) -> int:
    """2 for errors, 1 for warnings and for words of trouble, 0 for the rest."""
    if line.seen.level >= ERROR:
        return 2
    return int(line.seen.level == WARN or bool(TROUBLE.search(line.template)))


def _compared(
    book: sqlite3.Connection, here: Selection, window: Window, baseline: Window | None
) -> tuple[float, Window | None]:
    """The seconds of the window, and the baseline: the same length just before unless given."""
    seconds = _seconds(book, here, window)
    if baseline is None and window.start:
        baseline = Window(window.start - timedelta(seconds=seconds), window.start)
    return seconds, baseline


def _seconds(book: sqlite3.Connection, selection: Selection, window: Window) -> float:
    """How long the window is, at least one second; an open end is where its entries end."""
    first, last = span(book, selection)
    start, end = window.start or first, window.end or last
    return max((end - start).total_seconds(), 1.0) if start and end else 1.0

"""Templates of a window against a baseline: what is new, what rose, what vanished."""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import timedelta

from connectors.comparison import Scale, compared
from connectors.embedded_logbook.entries import shown_by
from connectors.embedded_logbook.sample import sampled, step_for
from connectors.embedded_logbook.search import span
from connectors.embedded_logbook.selection import Selection, select
from connectors.embedded_logbook.tally import count
from connectors.logbook import Count, Coverage, Filters, Patterns
from connectors.template_counts import counted
from connectors.templates import TemplateMiner
from copilot.window import ALWAYS, Window

MINED = 200_000
"""Entries read in each of the two windows; beyond that, an even sample and estimated counts."""


def patterns(
    book: sqlite3.Connection,
    window: Window,
    baseline: Window | None,
    filters: Filters,
    masks: Sequence[tuple[str, str]],
) -> Patterns:
    """What rose in *window* against *baseline*; see the protocol."""
    every, _ = select(book, filters)
    here = every.within(window)
    seconds, used = _compared(book, here, window, baseline)
    there = every.within(used) if used else None
    total, baseline_total = count(book, here), count(book, there) if there else 0
    steps = step_for(total, MINED), step_for(baseline_total, MINED)
    miner = TemplateMiner(masks)
    seen = counted(miner, sampled(book, here, steps[0]))
    before = counted(miner, sampled(book, there, steps[1])) if there else {}
    longer = _seconds(book, there, used) / seconds if there and used else 1.0
    found = compared(miner, seen, before, Scale(*steps, longer))
    notes = list(_estimates(steps))
    if used and baseline is None:
        notes.append(f"the baseline is the same length of time just before: {used}")
    if found.left_out:
        notes.append(f"{found.left_out} further templates are not listed")
    untimed = 0 if window == ALWAYS else count(book, every.untimed())
    return Patterns(
        rose=shown_by(book, found.rose),
        vanished=shown_by(book, found.vanished),
        total=Count(total),
        baseline_total=Count(baseline_total),
        coverage=Coverage(untimed=untimed, notes=tuple(notes)),
    )


def _estimates(steps: tuple[int, int]) -> Iterator[str]:
    """What a reader must know about the counts of either window."""
    for name, step in zip(("window", "baseline"), steps, strict=True):
        if step > 1:
            yield f"the {name} was mined from every {step}th line; its counts are estimates"


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

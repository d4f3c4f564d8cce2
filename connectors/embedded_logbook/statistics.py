"""Statistics before lines: counts over time, levels, sources, fields, holes, frequent templates."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from statistics import median

from connectors.embedded_logbook.cells import (
    MINUTE,
    Cell,
    buckets,
    by_level,
    by_source,
    tallied,
    timed_cells,
    untimed_cells,
)
from connectors.embedded_logbook.mining import Line, Masks, counted, drawn
from connectors.embedded_logbook.sample import sampled, step_for
from connectors.embedded_logbook.search import span
from connectors.embedded_logbook.selection import Selection, select
from connectors.embedded_logbook.store import PLACE_BITS
from connectors.embedded_logbook.tally import count
from connectors.logbook import (
    Count,
    Coverage,
    Field,
    Fields,
    Filters,
    Overview,
    Pattern,
)
from connectors.templates import TemplateMiner
from copilot.window import Window

WIDTHS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
        86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000,
    )
)  # fmt: skip
BUCKETS = 24
MAX_BUCKETS = 2_000
MINED = 5_000
TOP = 15
HOLES = 10
HOLE_TIMES = 20
"""A hole is that many times longer than the usual gap between two entries."""
FIELD_SETS = 50_000
VALUES = 8


def overview(
    book: sqlite3.Connection,
    window: Window,
    filters: Filters,
    bucket: timedelta | None,
    masks: Masks,
) -> Overview:
    """Counts over time, levels, sources, top templates and holes; see the protocol."""
    every, _ = select(book, filters)
    selection = every.within(window)
    first, last = span(book, selection)
    total = count(book, selection)
    untimed = count(book, every.untimed())
    notes: list[str] = []
    start = window.start or first
    end = window.end or (last + timedelta(microseconds=1) if last else None)
    covered = Window(start, end) if first and start and end and start < end else None
    width = bucket or WIDTHS[0]
    cells: list[Cell] = []
    if covered:
        width = _width(covered, bucket, notes)
        cells = timed_cells(book, selection, fine=width < timedelta(seconds=MINUTE))
    holes = _holes(book, selection, cells, covered) if covered else ()
    cells += untimed_cells(book, selection)
    return Overview(
        total=Count(total),
        first=first,
        last=last,
        bucket=width,
        buckets=buckets(cells, covered, width) if covered else (),
        levels=by_level(cells),
        sources=by_source(book, cells),
        top=_top(book, selection, total, masks, notes),
        holes=holes,
        coverage=Coverage(untimed=untimed, notes=tuple(notes)),
    )


def fields(book: sqlite3.Connection) -> Fields:
    """Every field with its most frequent values; level and source first."""
    everything = Selection("", (), ())
    total = count(book, everything)
    first, last = span(book, everything)
    cells = tallied(book, everything)
    found = [
        _field("level", Counter({name: size for name, size in by_level(cells) if name})),
        _field("source", Counter(dict(by_source(book, cells)))),
    ]
    values: dict[str, Counter[str]] = {}
    rows = book.execute(
        "SELECT pairs, sum(size) FROM (SELECT fields, count(*) AS size FROM entry GROUP BY fields"
        f" ORDER BY size DESC LIMIT {FIELD_SETS}) JOIN field_set ON field_set.id = fields"
        " GROUP BY field_set.id"
    )
    for pairs, size in rows:
        for name, value in json.loads(pairs).items():
            values.setdefault(name, Counter())[value] += size
    found += [_field(name, counts) for name, counts in sorted(values.items())]
    sets = book.execute("SELECT count(*) FROM field_set").fetchone()[0]
    notes = (
        (f"values were counted over the {FIELD_SETS} most frequent combinations",)
        if sets > FIELD_SETS
        else ()
    )
    untimed = count(book, everything.untimed())
    return Fields(
        "the time that each line, row or record names; without a zone it is taken as UTC",
        total,
        first,
        last,
        tuple(found),
        Coverage(untimed=untimed, notes=notes),
    )


def _field(name: str, counts: Counter[str]) -> Field:
    return Field(name, counts.total(), tuple(counts.most_common(VALUES)))


def _width(covered: Window, bucket: timedelta | None, notes: list[str]) -> timedelta:
    """The bucket asked for, or the one that gives about BUCKETS; wider where far too many."""
    assert covered.start
    assert covered.end
    length = covered.end - covered.start
    fewest = BUCKETS if bucket is None else MAX_BUCKETS
    wanted = bucket or WIDTHS[0]
    if length / wanted <= fewest:
        return wanted
    width = next((width for width in WIDTHS if length / width <= fewest), WIDTHS[-1])
    if bucket:
        notes.append(f"buckets of {bucket} would be more than {MAX_BUCKETS}; they are {width}")
    return width


def _top(
    book: sqlite3.Connection,
    selection: Selection,
    total: int,
    masks: Masks,
    notes: list[str],
) -> tuple[Pattern, ...]:
    """The most frequent templates; *notes* says when they come from a sample."""
    step = step_for(total, MINED)
    if step > 1:
        notes.append(f"top templates come from every {step}th line; their counts are estimates")
    miner = TemplateMiner(masks)
    seen = counted(miner, sampled(book, selection, step))
    most = sorted(seen.items(), key=lambda item: -item[1].count)[:TOP]
    return drawn(
        book,
        [Line(miner.text(number), item, item.count * step, 0, 1.0) for number, item in most],
    )


def _holes(
    book: sqlite3.Connection, selection: Selection, cells: Sequence[Cell], covered: Window
) -> tuple[Window, ...]:
    """The longest stretches without an entry, in the order of time, the window's ends included."""
    occupied = sorted({cell.second for cell in cells})
    gaps = [after - before for before, after in pairwise(occupied)]
    if len(gaps) < 3:
        return ()
    least = HOLE_TIMES * median(gaps)
    wide = sorted(((gap, place) for place, gap in enumerate(gaps) if gap > least), reverse=True)[
        :HOLES
    ]
    found = [_edges(book, selection, occupied[place], occupied[place + 1]) for _, place in wide]
    first, last = span(book, selection)
    for start, end in ((covered.start, first), (last, covered.end)):
        if start and end and (end - start).total_seconds() > least:
            found.append(Window(start, end))
    return tuple(sorted(found, key=lambda hole: str(hole.start)))


def _edges(book: sqlite3.Connection, selection: Selection, before: int, after: int) -> Window:
    """The hole between two occupied slots, from its last entry before to its first one after."""
    second = 1000 << PLACE_BITS
    earlier = replace(selection, first=before * second, end=after * second)
    later = replace(selection, first=after * second)
    return Window(span(book, earlier)[1], span(book, later)[0])

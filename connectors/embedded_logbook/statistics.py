"""Statistics before lines: counts over time, levels, sources, fields, holes, frequent templates."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

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
from connectors.embedded_logbook.entries import shown_by
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
from connectors.template_counts import Line, counted
from connectors.templates import TemplateMiner
from connectors.time_slots import WIDTHS, ends_of, gaps_of, width_for
from copilot.window import Window

MINED = 5_000
TOP = 15
FIELD_SETS = 50_000
VALUES = 8


def overview(
    book: sqlite3.Connection,
    window: Window,
    filters: Filters,
    bucket: timedelta | None,
    masks: Sequence[tuple[str, str]],
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
        width = width_for(covered, bucket, notes)
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


def _top(
    book: sqlite3.Connection,
    selection: Selection,
    total: int,
    masks: Sequence[tuple[str, str]],
    notes: list[str],
) -> tuple[Pattern, ...]:
    """The most frequent templates; *notes* says when they come from a sample."""
    step = step_for(total, MINED)
    if step > 1:
        notes.append(f"top templates come from every {step}th line; their counts are estimates")
    miner = TemplateMiner(masks)
    seen = counted(miner, sampled(book, selection, step))
    most = sorted(seen.items(), key=lambda item: -item[1].count)[:TOP]
    return shown_by(
        book,
        [Line(miner.text(number), item, item.count * step, 0, 1.0) for number, item in most],
    )


def _holes(
    book: sqlite3.Connection, selection: Selection, cells: Sequence[Cell], covered: Window
) -> tuple[Window, ...]:
    """The longest stretches without an entry, in the order of time, the window's ends included."""
    wide, least = gaps_of({cell.second for cell in cells})
    found = [_edges(book, selection, *gap) for gap in wide]
    if least is not None:
        found += ends_of(covered, span(book, selection), least)
    return tuple(sorted(found, key=lambda hole: str(hole.start)))


def _edges(book: sqlite3.Connection, selection: Selection, before: int, after: int) -> Window:
    """The hole between two occupied slots, from its last entry before to its first one after."""
    second = 1000 << PLACE_BITS
    earlier = replace(selection, first=before * second, end=after * second)
    later = replace(selection, first=after * second)
    return Window(span(book, earlier)[1], span(book, later)[0])

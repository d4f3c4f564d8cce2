"""Templates of a window against a baseline: what is new, what rose, what vanished.

Mined here, from entries that the server hands over: all of them up to a bound, beyond it an even
sample, and the answer says which.
"""

from datetime import timedelta

from connectors.comparison import Scale, compared
from connectors.logbook import Count, Coverage, Filters, Patterns
from connectors.opensearch.answers import together
from connectors.opensearch.query import select
from connectors.opensearch.sample import Masks, Mine, Sample
from connectors.opensearch.searches import Searches
from connectors.opensearch.span import Span, span_bodies, span_of
from copilot.window import ALWAYS, Window

MINED = 50_000
"""Entries read in each of the two windows; beyond that, an even sample and estimated counts."""


def patterns(
    searches: Searches, window: Window, baseline: Window | None, filters: Filters, masks: Masks
) -> Patterns:
    """What rose in *window* against *baseline*; see the protocol."""
    schema = searches.schema
    query, _ = select(schema, filters)
    here = span_of(schema, window, searches.many(span_bodies(schema, query, window)))
    used = baseline
    if baseline is None and window.start:
        used = Window(window.start - timedelta(seconds=_seconds(window, here)), window.start)
    there = None
    if used:
        there = span_of(schema, used, searches.many(span_bodies(schema, query, used)))
    mine = Mine(searches, masks)
    seen = mine.sample(query.within(schema, window), here.total.value, MINED)
    before = Sample({}, 0, 1.0, "")
    if used and there:
        before = mine.sample(query.within(schema, used), there.total.value, MINED)
    longer = _seconds(used, there) / _seconds(window, here) if used and there else 1.0
    scale = Scale(seen.scale, before.scale, longer)
    found = compared(mine.miner, seen.seen, before.seen, scale)
    notes = [*schema.notes, *query.notes, *_estimates((seen, before), here, there)]
    if used and baseline is None:
        notes.append(f"the baseline is the same length of time just before: {used}")
    if found.left_out:
        notes.append(f"{found.left_out} further templates are not listed")
    whys = (here.why, there.why if there else "", seen.why, before.why)
    return Patterns(
        rose=mine.lines(found.rose),
        vanished=mine.lines(found.vanished),
        total=here.total,
        baseline_total=there.total if there else Count(0),
        coverage=Coverage(together(whys), 0 if window == ALWAYS else here.untimed, tuple(notes)),
    )


def _estimates(samples: tuple[Sample, Sample], here: Span, there: Span | None) -> list[str]:
    """What a reader must know about the counts of either window."""
    totals = (here.total.value, there.total.value if there else 0)
    return [
        f"the {name} was mined from {sample.read} entries drawn from {total}; its counts "
        "are estimates"
        for name, sample, total in zip(("window", "baseline"), samples, totals, strict=True)
        if sample.scale > 1
    ]


def _seconds(window: Window, span: Span) -> float:
    """How long the window is, at least one second; an open end is where its entries end."""
    start, end = window.start or span.first, window.end or span.last
    return max((end - start).total_seconds(), 1.0) if start and end else 1.0

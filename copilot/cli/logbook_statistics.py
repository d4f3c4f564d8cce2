"""`copilot logbook overview` and `patterns`: statistics before lines."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from copilot.cli.choice import Choice, say_coverage
from copilot.cli.entries import entry_json
from copilot.cli.options import as_json, filtered, window_of
from copilot.cli.session import Session, pass_session
from copilot.cli.shown import counted, exact
from copilot.window import iso, parse_duration

if TYPE_CHECKING:
    from connectors.logbook import Bucket, Overview, Pattern
    from copilot.values import JsonObject
    from copilot.window import Window

BAR_COLUMNS = 24
COMPARED = ("COUNT", "BASELINE", "LIFT", "LEVEL", "MESSAGE")


@click.command("overview")
@filtered
@click.option("--bucket", metavar="LENGTH", default="", help="Such as 5m or 1h.")
@as_json
@pass_session
def overview(session: Session, /, bucket: str, as_json: bool, **chosen: Any) -> None:
    """Show counts over time, levels, sources and the most frequent messages."""
    choice = Choice(**chosen)
    window = choice.window(session)
    found = choice.book(session).overview(
        window, choice.filters(), parse_duration(bucket) if bucket else None
    )
    if as_json:
        session.screen.document(_overview_json(session, window, found))
    else:
        _print_overview(session, found)


@click.command("patterns")
@filtered
@click.option(
    "--baseline-since", metavar="TIME", default="", help="A healthy time to compare with."
)
@click.option("--baseline-until", metavar="TIME", default="")
@click.option("--limit", type=click.IntRange(1, 10_000), default=40, show_default=True)
@as_json
@pass_session
def patterns(
    session: Session,
    /,
    baseline_since: str,
    baseline_until: str,
    limit: int,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Show which kinds of message rose against a healthy time, and which vanished.

    Without a baseline the time just before the window is taken, as long as the window is.
    """
    choice = Choice(**chosen)
    window = choice.window(session)
    baseline = None
    if baseline_since or baseline_until:
        session.screen.say("compared with:")
        baseline = window_of(session, baseline_since, baseline_until)
    found = choice.book(session).patterns(window, baseline, choice.filters())
    rose, vanished = found.rose[:limit], found.vanished[:limit]
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.patterns/1",
                "window": str(window),
                "baseline": str(baseline) if baseline else None,
                "total": found.total.value,
                "baseline_total": found.baseline_total.value,
                "why_incomplete": found.coverage.why_incomplete,
                "rose": [_pattern_json(session, one) for one in rose],
                "vanished": [_pattern_json(session, one) for one in vanished],
            }
        )
        return
    _pattern_table(session, rose, COMPARED)
    if vanished:
        session.screen.line()
        session.screen.line(("Vanished", "title"))
        _pattern_table(session, vanished, COMPARED)
    say_coverage(session, found.coverage)


def _overview_json(session: Session, window: "Window", found: "Overview") -> "JsonObject":
    return {
        "schema": "copilot.overview/1",
        "window": str(window),
        "total": found.total.value,
        "why_incomplete": found.coverage.why_incomplete,
        "bucket_s": int(found.bucket.total_seconds()),
        "buckets": [[iso(one.start), one.count, one.errors] for one in found.buckets],
        "levels": dict(found.levels),
        "sources": dict(found.sources),
        "top": [_pattern_json(session, one) for one in found.top],
        "holes": [str(hole) for hole in found.holes],
    }


def _print_overview(session: Session, found: "Overview") -> None:
    screen = session.screen
    screen.line((counted(found.total.value, "line"), "title"))
    most = max((one.count for one in found.buckets), default=0) or 1
    buckets = [_bucket(one, most) for one in found.buckets]
    screen.table(("FROM", "LINES", "ERRORS", "SHARE"), buckets)
    for name, counts in (("LEVEL", found.levels), ("SOURCE", found.sources)):
        screen.line()
        screen.table(("LINES", name), [(str(count), value) for value, count in counts])
    screen.line()
    _pattern_table(session, found.top, ("COUNT", "LEVEL", "MESSAGE"))
    for hole in found.holes:
        screen.say(f"no line at all in {hole}")
    say_coverage(session, found.coverage)


def _bucket(bucket: "Bucket", most: int) -> tuple[str, str, str, str]:
    """One step in time as a row, with a bar for its share of the fullest one."""
    bar = "#" * (bucket.count * BAR_COLUMNS // most)
    return iso(bucket.start), str(bucket.count), str(bucket.errors), bar


def _pattern_json(session: Session, pattern: "Pattern") -> "JsonObject":
    return {
        "template": session.masked(pattern.template),
        "count": pattern.count,
        "baseline_count": pattern.baseline_count,
        "lift": round(pattern.lift, 2),
        "level": pattern.level,
        "first": exact(pattern.first),
        "last": exact(pattern.last),
        "sources": dict(pattern.sources),
        "samples": [entry_json(session, entry) for entry in pattern.samples],
    }


def _pattern_table(
    session: Session, patterns: "Iterable[Pattern]", columns: tuple[str, ...]
) -> None:
    rows = []
    for one in patterns:
        cells = {
            "COUNT": str(one.count),
            "BASELINE": str(one.baseline_count),
            "LIFT": f"{one.lift:.1f}",
            "LEVEL": one.level,
            "MESSAGE": session.masked(one.template),
        }
        rows.append(tuple(cells[column] for column in columns))
    session.screen.table(columns, rows)

"""`copilot logbook`: import log files; search and count their lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from copilot.cli import exit_codes
from copilot.cli.entries import entry_json, entry_line
from copilot.cli.options import as_json, filtered, filters_of, window_of
from copilot.cli.session import Session, pass_session, pick
from copilot.cli.shown import exact
from copilot.window import iso

if TYPE_CHECKING:
    from connectors.embedded_logbook import EmbeddedLogbook, Imported, Refused
    from connectors.logbook import Coverage, Filters, Order, Pattern
    from copilot.values import JsonObject
    from copilot.window import Window

BAR_COLUMNS = 24


@dataclass(frozen=True, slots=True)
class Choice:
    """The options by which lines are chosen, as they were typed."""

    since: str
    until: str
    levels: tuple[str, ...]
    sources: tuple[str, ...]
    fields: tuple[str, ...]
    logbook: str

    def window(self, session: Session) -> "Window":
        """The window asked for, said on stderr."""
        return window_of(session, self.since, self.until)

    def filters(self, text: str = "") -> "Filters":
        """The filters asked for."""
        return filters_of(text, self.levels, self.sources, self.fields)

    def book(self, session: Session) -> "EmbeddedLogbook":
        """The logbook asked for."""
        return pick(session.workspace.logbooks, self.logbook, "logbook")


@click.group("logbook")
def command() -> None:
    """Import log files; search and count their lines."""


@command.command("import")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="Sources are named by their path below this folder; else below the one you are in.",
)
@click.option("--logbook", default="", help="Which logbook, where there are several.")
@pass_session
def import_(session: Session, files: tuple[Path, ...], root: Path | None, logbook: str) -> int:
    """Import log files, plain or .gz, or folders of them: text, CSV, JSON lines, JSON arrays.

    A file is imported as a whole or not at all; importing it again changes nothing. Every line is
    kept; those without a time are counted.
    """
    from connectors.embedded_logbook import Imported

    book = pick(session.workspace.logbooks, logbook, "logbook")
    refused = lines = 0
    rows = []
    for found in book.import_files([session.cwd / file for file in files], root or session.cwd):
        if isinstance(found, Imported):
            rows.append(_imported(found))
            lines += found.lines
        else:
            refused += 1
            _say_refused(session, found)
    session.screen.table(("SOURCE", "LINES", "ENTRIES", "UNTIMED", "STATE", "FLAGGED"), rows)
    session.screen.say(f"{lines} lines of {len(rows)} files are in the logbook {book.name}")
    return exit_codes.FAILED if refused else exit_codes.OK


@command.command("search")
@click.argument("text", nargs=-1, metavar="[TEXT...]")
@filtered
@click.option("--limit", type=click.IntRange(1, 10_000), default=40, show_default=True)
@click.option(
    "--order",
    type=click.Choice(["newest", "oldest", "ranked"]),
    default="newest",
    show_default=True,
)
@click.option("--cursor", default="", help="Go on where the last answer ended.")
@as_json
@pass_session
def search(
    session: Session,
    /,
    text: tuple[str, ...],
    limit: int,
    order: "Order",
    cursor: str,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Find lines that hold all words of TEXT: "a phrase", -not, prefix*. Case is ignored."""
    from connectors.logbook import Search

    choice = Choice(**chosen)
    asked = Search(choice.filters(" ".join(text)), choice.window(session), order, limit, cursor)
    found = choice.book(session).search(asked)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.entries/1",
                "window": str(asked.window),
                "total": found.total.value,
                "relation": found.total.relation,
                "why_incomplete": found.coverage.why_incomplete,
                "cursor": found.cursor,
                "entries": [entry_json(session, entry) for entry in found.entries],
            }
        )
        return
    for entry in found.entries:
        entry_line(session, entry)
    shown = f"{len(found.entries)} of {found.total.value} lines"
    session.screen.say(shown if found.total.relation == "exact" else f"{shown} or more")
    if found.cursor:
        session.screen.say(f"for more, add: --cursor {found.cursor}")
    _say_coverage(session, found.coverage)


@command.command("overview")
@filtered
@click.option("--bucket", metavar="LENGTH", default="", help="Such as 5m or 1h.")
@as_json
@pass_session
def overview(session: Session, /, bucket: str, as_json: bool, **chosen: Any) -> None:
    """Show counts over time, levels, sources and the most frequent messages."""
    from copilot.window import parse_duration

    choice = Choice(**chosen)
    window = choice.window(session)
    found = choice.book(session).overview(
        window, choice.filters(), parse_duration(bucket) if bucket else None
    )
    if as_json:
        session.screen.document(
            {
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
        )
        return
    screen = session.screen
    screen.line((f"{found.total.value} entries", "title"))
    most = max((one.count for one in found.buckets), default=1) or 1
    screen.table(
        ("FROM", "ENTRIES", "ERRORS", ""),
        [
            (
                iso(one.start),
                str(one.count),
                str(one.errors),
                "#" * (one.count * BAR_COLUMNS // most),
            )
            for one in found.buckets
        ],
    )
    for name, counts in (("LEVEL", found.levels), ("SOURCE", found.sources)):
        screen.line()
        screen.table(("ENTRIES", name), [(str(count), value) for value, count in counts])
    screen.line()
    _pattern_table(session, found.top, ("COUNT", "LEVEL", "MESSAGE"))
    for hole in found.holes:
        screen.say(f"no entry at all in {hole}")
    _say_coverage(session, found.coverage)


@command.command("patterns")
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
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.patterns/1",
                "window": str(window),
                "baseline": str(baseline) if baseline else None,
                "total": found.total.value,
                "baseline_total": found.baseline_total.value,
                "why_incomplete": found.coverage.why_incomplete,
                "rose": [_pattern_json(session, one) for one in found.rose[:limit]],
                "vanished": [_pattern_json(session, one) for one in found.vanished[:limit]],
            }
        )
        return
    columns = ("COUNT", "BASELINE", "LIFT", "LEVEL", "MESSAGE")
    _pattern_table(session, found.rose[:limit], columns)
    if found.vanished:
        session.screen.line()
        session.screen.line(("Vanished", "title"))
        _pattern_table(session, found.vanished[:limit], columns)
    _say_coverage(session, found.coverage)


@command.command("fields")
@click.option("--logbook", default="", help="Which logbook, where there are several.")
@as_json
@pass_session
def fields(session: Session, logbook: str, as_json: bool) -> None:
    """Show what --field can filter on, with the most frequent values."""
    found = pick(session.workspace.logbooks, logbook, "logbook").fields()
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.fields/1",
                "entries": found.total,
                "first": exact(found.first),
                "last": exact(found.last),
                "fields": [
                    {
                        "name": one.name,
                        "entries": one.count,
                        "values": [[session.masked(value), count] for value, count in one.values],
                    }
                    for one in found.fields
                ],
            }
        )
        return
    session.screen.table(
        ("FIELD", "ENTRIES", "VALUES"),
        [
            (one.name, str(one.count), session.masked(", ".join(value for value, _ in one.values)))
            for one in found.fields
        ],
    )
    if found.first and found.last:
        session.screen.say(f"{found.total} entries from {iso(found.first)} to {iso(found.last)}")


def _imported(found: "Imported") -> tuple[str, ...]:
    flagged = ", ".join(f"{name} {count}" for name, count in found.flagged.items())
    state = "unchanged" if found.unchanged else "imported"
    counts = (str(found.lines), str(found.entries), str(found.untimed))
    return (found.source, *counts, state, flagged)


def _say_refused(session: Session, refused: "Refused") -> None:
    session.screen.say((f"refused: {refused.source}: {refused.reason}", "bad"))


def _say_coverage(session: Session, coverage: "Coverage") -> None:
    if coverage.why_incomplete:
        session.screen.say((f"incomplete: {coverage.why_incomplete}", "warn"))
    if coverage.untimed:
        session.screen.say(f"{coverage.untimed} matching lines have no time and are in no window")
    for note in coverage.notes:
        session.screen.say(f"note: {note}")


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

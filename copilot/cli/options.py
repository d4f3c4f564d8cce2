"""Options that several commands share, and how their words become values."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from copilot.cli.session import Session
from copilot.errors import UsageError

if TYPE_CHECKING:
    from connectors.logbook import Filters
    from copilot.window import Window

F = TypeVar("F", bound=Callable[..., Any])

TIMES = "15m, now-2h, 2026-01-31T12:00:00Z, epoch s or ms"
LEVELS = ("FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE")

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
ids_only = click.option("-q", "--quiet", is_flag=True, help="Print names only, one a line.")


def windowed(command: F) -> F:
    """Add --since and --until."""
    until = click.option("--until", metavar="TIME", default="", help="Its end, excluded.")
    since = click.option(
        "--since", metavar="TIME", default="", help=f"Start of the window, included: {TIMES}."
    )
    return since(until(command))


def filtered(command: F) -> F:
    """Add the window and what log lines are chosen by."""
    level = click.option(
        "--level",
        "levels",
        multiple=True,
        type=click.Choice(LEVELS, case_sensitive=False),
        help="Only this level; may be repeated.",
    )
    source = click.option(
        "--source", "sources", multiple=True, help="Only this file; may be repeated."
    )
    field = click.option(
        "--field", "fields", multiple=True, metavar="NAME=VALUE", help="Only this value of a field."
    )
    logbook = click.option("--logbook", default="", help="Which logbook, where there are several.")
    return windowed(level(source(field(logbook(command)))))


def window_of(session: Session, since: str, until: str) -> "Window":
    """The absolute window of these words; it is said on stderr. Raises UsageError."""
    from copilot.window import Window, parse_time

    now = session.now()
    window = Window(
        parse_time(since, now) if since else None, parse_time(until, now) if until else None
    )
    bounded = window.start or window.end
    session.screen.say(f"window: {window} UTC" if bounded else "window: all times")
    return window


def filters_of(
    text: str, levels: tuple[str, ...], sources: tuple[str, ...], fields: tuple[str, ...]
) -> "Filters":
    """The filters of these options. Raises UsageError."""
    from connectors.logbook import Filters

    pairs = {}
    for field in fields:
        name, equals, value = field.partition("=")
        if not equals or not name:
            raise UsageError(f"--field {field!r} names no value; write it as --field host=node-7")
        pairs[name] = value
    return Filters(tuple(level.upper() for level in levels), sources, pairs, text)

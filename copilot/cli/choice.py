"""Which lines of a logbook are meant: the options of its commands as values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copilot.cli.options import filters_of, window_of
from copilot.cli.session import Session, pick

if TYPE_CHECKING:
    from connectors.logbook import Coverage, Filters, Logbook
    from copilot.window import Window


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

    def book(self, session: Session) -> "Logbook":
        """The logbook asked for."""
        return pick(session.workspace.logbooks, self.logbook, "logbook")


def say_coverage(session: Session, coverage: "Coverage") -> None:
    """Say on stderr what an answer rests on, where it is not everything."""
    if coverage.why_incomplete:
        session.screen.say((f"incomplete: {coverage.why_incomplete}", "warn"))
    if coverage.untimed:
        session.screen.say(f"{coverage.untimed} matching lines have no time and are in no window")
    for note in coverage.notes:
        session.screen.say(f"note: {note}")

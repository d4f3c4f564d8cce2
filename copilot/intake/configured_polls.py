"""The polls that the settings ask for, over the sources that there are."""

from collections.abc import Mapping
from typing import TypeVar

from connectors.logbook import Logbook
from connectors.tracker import Tracker
from copilot.errors import ConfigError
from copilot.intake.polls import Poll
from copilot.intake.search_poll import SearchPoll
from copilot.intake.stall import StallPoll
from copilot.intake.ticket_poll import TicketPoll
from copilot.settings.daemon import PollerSettings

Source = TypeVar("Source")


def configured_polls(
    settings: PollerSettings,
    logbooks: Mapping[str, Logbook],
    trackers: Mapping[str, Tracker],
    *,
    severity_label: str = "severity",
) -> tuple[Poll, ...]:
    """A poll for each poller of *settings*. Raises ConfigError for a source that is not there."""
    polls = [
        Poll(one.name, one.every, TicketPoll(_named(trackers, one.tracker, one.name), one))
        for one in settings.tickets
    ]
    polls += [
        Poll(one.name, one.every, SearchPoll(_named(logbooks, one.logbook, one.name), one))
        for one in settings.searches
    ]
    polls += [
        Poll(
            one.name,
            one.every,
            StallPoll(_named(logbooks, one.logbook, one.name), one, severity_label),
        )
        for one in settings.stalls
    ]
    return tuple(polls)


def _named(sources: Mapping[str, Source], name: str, poller: str) -> Source:
    if name not in sources:
        known = ", ".join(sorted(sources)) or "none"
        raise ConfigError(f"pollers: {poller}: no source is called {name}; there are: {known}")
    return sources[name]

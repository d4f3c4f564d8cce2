"""What every tracker offers: tickets with comments. Values and the one protocol.

"Not fetched" and "none" are different: a part that was not asked for is None, a part that is
empty is an empty tuple.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from connectors.logbook import Count, Coverage
from copilot.window import ALWAYS, Window


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment as plain text."""

    id: str
    author: str
    created: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a ticket's history: a field that went from one value to another."""

    time: datetime | None
    author: str
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Link:
    """A relation to another ticket: `relation` reads from this ticket, as in "is blocked by"."""

    relation: str
    key: str
    summary: str


@dataclass(frozen=True, slots=True)
class Ticket:
    """One ticket as plain text. None means that the part was not fetched."""

    key: str
    summary: str
    status: str
    project: str
    kind: str
    priority: str
    reporter: str
    assignee: str
    labels: tuple[str, ...]
    created: datetime | None
    updated: datetime | None
    resolution: str
    description: str
    comments: tuple[Comment, ...] | None = None
    changes: tuple[Change, ...] | None = None
    links: tuple[Link, ...] | None = None
    attachments: tuple[str, ...] | None = None
    """Name and size, never the content."""
    source: str = ""
    """The file that it was imported from, or the address a person can open."""
    missing: tuple[str, ...] = ()
    """What the tracker has and did not give, as in `comments: 50 of 130`; empty when all came."""


@dataclass(frozen=True, slots=True)
class TicketSearch:
    """What tickets to find. Empty fields match everything; `text` words must all occur."""

    text: str = ""
    projects: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    updated: Window = ALWAYS
    limit: int = 20
    page: str = ""
    needs_all_words: bool = False
    """True: where no ticket has all the words, none with some of them stands in for it."""


@dataclass(frozen=True, slots=True)
class TicketsFound:
    """One page of tickets, best match first when text was given, else newest update first."""

    tickets: tuple[Ticket, ...]
    total: Count
    coverage: Coverage
    page: str
    """Give it back for the next page; empty on the last one."""


class Tracker(Protocol):
    """A source of tickets. Every method raises ConnectorError when it could not look."""

    name: str

    def search(self, search: TicketSearch) -> TicketsFound:
        """The matching tickets, without comments, changes or links."""

    def ticket(self, key: str, parts: frozenset[str]) -> Ticket | None:
        """That ticket with the *parts* asked for (`comments`, `changes`, `links`), or None."""

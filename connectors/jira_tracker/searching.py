"""One search: its query sent, its pages read, what is out of scope or time dropped and counted."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from connectors.jira_tracker.api import Api
from connectors.jira_tracker.calls import JiraFault
from connectors.jira_tracker.jql import MOST_TERMS, Query
from connectors.jira_tracker.paging import Place, Read, place_in, read_pages
from connectors.jira_tracker.reading import header, in_scope
from connectors.jira_tracker.replies import Json
from connectors.jira_tracker.site import JiraSite
from connectors.logbook import Count, Coverage
from connectors.tracker import Ticket, TicketSearch, TicketsFound
from copilot.errors import ConnectorError, UsageError
from copilot.window import ALWAYS

NO_VALUE = re.compile(r"The value '(.*?)' does not exist for the field '(\w+)'")
NO_ISSUE = re.compile(r"issue with key '.*?' does not exist", re.IGNORECASE)
MOST_STATUSES = 40
"""Names in a message."""
SOME_WORDS = "no ticket holds all the words; these hold some of them"
NO_WORDS = "the text names no word to look for, so it was left out"


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is left of the issues that came, and how many were dropped."""

    tickets: tuple[Ticket, ...] = ()
    looked_at: int = 0
    untimed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Looked:
    """One query and what came of it. `is_exact`: nothing that Jira counts was dropped."""

    jql: str
    keys: bool
    start: Place
    read: Read
    sifted: Sifted
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Searching:
    """A search, and what it needs to be done."""

    api: Api
    site: JiraSite
    search: TicketSearch
    query: Query

    def found(self) -> TicketsFound:
        """What the search finds. Raises UsageError and ConnectorError."""
        try:
            if self.search.page:
                return self._after(self.search.page)
            looked = self._first(any_term=False, keys=True)
            notes = [*self._notes()]
            loose = len(self.query.terms) > 1 and not self.search.needs_all_words
            if loose and not looked.read.items and not looked.read.why_incomplete:
                looked = self._first(any_term=True, keys=looked.keys)
                notes.append(SOME_WORDS)
            return _answer(looked, notes)
        except JiraFault as failure:
            raise self._explained(failure) from None

    def _first(self, *, any_term: bool, keys: bool) -> Looked:
        """The first pages: asked for once more without the keys, where Jira knows one not."""
        try:
            return self._look(Place(), any_term=any_term, keys=keys)
        except JiraFault as failure:
            said = failure.fault.said if failure.fault else ""
            if not keys or not self.query.keys or not NO_ISSUE.search(said):
                raise
        return self._look(Place(), any_term=any_term, keys=False)

    def _after(self, page: str) -> TicketsFound:
        """The pages after those that *page* names. It says which query they were of."""
        ways = [(any_term, keys) for any_term in (False, True) for keys in (True, False)]
        jqls = [self.query.jql(any_term=any_term, keys=keys) for any_term, keys in ways]
        index, place = place_in(page, tuple(map(_digest, jqls)))
        any_term, keys = ways[index]
        notes = [*self._notes(), SOME_WORDS] if any_term else [*self._notes()]
        return _answer(self._look(place, any_term=any_term, keys=keys), notes)

    def _look(self, start: Place, *, any_term: bool, keys: bool) -> Looked:
        """The pages from *start* on, until enough of what they hold is ours."""
        jql = self.query.jql(any_term=any_term, keys=keys)
        wanted = max(self.search.limit, 1)
        sifted = Sifted()

        def is_enough(items: list[Json]) -> bool:
            nonlocal sifted
            if len(items) >= wanted:
                sifted = self._sifted(items)
            return len(sifted.tickets) >= wanted

        read = read_pages(lambda at: self.api.search(jql, at, wanted), start, is_enough)
        if sifted.looked_at < len(read.items):
            sifted = self._sifted(read.items)
        is_exact = self.search.updated == ALWAYS and len(sifted.tickets) == sifted.looked_at
        return Looked(jql, keys, start, read, sifted, is_exact)

    def _sifted(self, items: list[Json]) -> Sifted:
        """The tickets among *items*: of our projects, and updated within the exact window."""
        tickets, foreign, untimed, unreadable = [], 0, 0, 0
        window = self.search.updated
        for item in items:
            ticket = header(item, self.site)
            if isinstance(ticket, str):
                unreadable += 1
            elif not in_scope(item, self.site):
                foreign += 1
            elif window != ALWAYS and ticket.updated is None:
                untimed += 1
            elif ticket.updated is None or window.holds(ticket.updated):
                tickets.append(ticket)
        notes = []
        if foreign:
            notes.append(f"{foreign} of projects that are not open here came back and were dropped")
        if unreadable:
            notes.append(f"{unreadable} came without a key or fields and were dropped")
        return Sifted(tuple(tickets), len(items), untimed, tuple(notes))

    def _notes(self) -> Iterator[str]:
        if self.search.text.strip() and not self.query.terms and not self.query.is_raw:
            yield NO_WORDS
        if self.query.left_out:
            yield f"only the first {MOST_TERMS} words were looked for"
        if self.site.allow_jql and not self.query.is_raw:
            yield "the text may also be JQL, as in `jql: summary ~ disk`"

    def _explained(self, failure: JiraFault) -> ConnectorError | UsageError:
        """The failure, with what is wrong in the search and what would be right."""
        if failure.fault is None or failure.fault.kind != "invalid":
            return failure
        wrong = NO_VALUE.search(failure.fault.said)
        if wrong and wrong[2] == "status":
            return UsageError(f"Jira has no status {wrong[1]!r}; {self._statuses()}")
        if wrong and wrong[2] == "project":
            return ConnectorError(
                f"{failure}; the project {wrong[1]!r} does not exist or this account may not see "
                "it: mend `projects` in copilot.yaml, or the account's permissions"
            )
        if self.query.is_raw:
            return UsageError(f"Jira refused this JQL: {failure.fault.said}")
        return failure

    def _statuses(self) -> str:
        try:
            names = self.api.statuses()
        except JiraFault:
            return "which there are could not be looked up"
        shown = ", ".join(names[:MOST_STATUSES])
        return f"there are {shown}" + (", …" if len(names) > MOST_STATUSES else "")


def _answer(looked: Looked, notes: list[str]) -> TicketsFound:
    read, sifted = looked.read, looked.sifted
    total = _total(looked)
    why = read.why_incomplete
    if why and read.place.count:
        why += f"; {len(sifted.tickets)} tickets are given"
    elif read.place.at and total.relation == "at_least":
        why = f"limit: {len(sifted.tickets)} returned, more follow"
    return TicketsFound(
        tickets=sifted.tickets,
        total=total,
        coverage=Coverage(why, untimed=sifted.untimed, notes=(*notes, *sifted.notes)),
        page=read.place.text(_digest(looked.jql)) if read.place.at else "",
    )


def _total(looked: Looked) -> Count:
    """How many match. Cloud does not say; a count of our own is exact when the list ended."""
    read, count = looked.read, len(looked.sifted.tickets)
    ended = not read.place.at and not read.why_incomplete
    if ended and looked.start == Place():
        return Count(count)
    if read.total is not None and looked.is_exact:
        return Count(read.total)
    return Count(read.place.count) if ended and looked.is_exact else Count(count, "at_least")


def _digest(jql: str) -> str:
    """A short name of a query, so that a page is never taken for one of another query."""
    return hashlib.sha256(jql.encode()).hexdigest()[:8]

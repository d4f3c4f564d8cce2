"""New and changed tickets as alerts.

The cursor is the latest time that the tracker itself gave, never our clock's, and each search looks
a little further back: an index that lags, minutes without seconds and equal times lose nothing.
What was told already is known by key and time of change.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from connectors.tracker import Ticket, TicketSearch, Tracker
from copilot.errors import ConnectorError
from copilot.intake.payloads import alert_of_ticket
from copilot.intake.polls import Accept, Asked
from copilot.settings.daemon import TicketPoller
from copilot.values import Alert, JsonObject, object_at, text_at
from copilot.window import Window, iso, parse_iso

OVERLAP = timedelta(minutes=5)
PAGE = 50
PARTS = frozenset({"comments"})
MAX_PAGES = 2_000


@dataclass(frozen=True, slots=True)
class TicketPoll:
    """Asks a tracker for what changed since the last time."""

    tracker: Tracker
    settings: TicketPoller

    def __call__(self, now: datetime, cursor: JsonObject, accept: Accept) -> Asked:
        """Accept an alert for each ticket; see `Ask`. At the first time only the newest ones.

        Raises ConnectorError after the last alert when the tracker did not give all.
        """
        since = _since(cursor, now - max(self.settings.every, OVERLAP), now)
        told = dict(object_at(cursor, "told"))
        latest, met = since, dict[str, str]()
        for ticket in self._changed(since - OVERLAP):
            changed = _changed(ticket)
            met[ticket.key] = iso(changed) if changed else ""
            if told.get(ticket.key) != met[ticket.key]:
                # One by one: tickets that came together are not one trouble.
                accept([_alert(self.tracker.ticket(ticket.key, PARTS) or ticket)])
            if changed and changed <= now:
                latest = max(latest, changed)
        kept = {key: time for key, time in met.items() if not time or _is_after(time, latest)}
        return Asked({"since": iso(latest), "told": {**kept}})

    def _changed(self, start: datetime) -> Iterator[Ticket]:
        """The tickets changed since *start*, each once.

        The window has no end: a ticket that changes meanwhile comes again on top, and pushes the
        others down, onto the next page. With an end it would leave, and one would be skipped.
        """
        asked = TicketSearch(
            text=self.settings.text,
            projects=(self.settings.project,) if self.settings.project else (),
            statuses=self.settings.status,
            updated=Window(start, None),
            limit=PAGE,
            needs_all_words=True,
        )
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            found = self.tracker.search(asked)
            for ticket in found.tickets:
                if ticket.key not in seen:
                    seen.add(ticket.key)
                    yield ticket
            if not found.coverage.complete:
                why = found.coverage.why_incomplete
                raise ConnectorError(
                    f"{self.tracker.name} gave not all tickets: {why}", retryable=True
                )
            if not found.page:
                break
            asked = replace(asked, page=found.page)
        if found.total.relation == "exact" and len(seen) < found.total.value:
            raise ConnectorError(
                f"{self.tracker.name} has {found.total.value} changed tickets and gave "
                f"{len(seen)}: they changed meanwhile, so they are asked for again",
                retryable=True,
            )


def _since(cursor: JsonObject, first: datetime, now: datetime) -> datetime:
    """Where the last poll got to; never ahead of *now*, whatever a clock once said."""
    saved = text_at(cursor, "since")
    return min(parse_iso(saved), now) if saved else first


def _changed(ticket: Ticket) -> datetime | None:
    return ticket.updated or ticket.created


def _is_after(time: str, latest: datetime) -> bool:
    """True when the next search will find a ticket of that time again."""
    return parse_iso(time) >= latest - OVERLAP


def _alert(ticket: Ticket) -> Alert:
    """The alert of the ticket; one that has a resolution is over."""
    alert = alert_of_ticket(ticket)
    if ticket.resolution.lower() in {"", "unresolved"}:
        return alert
    return replace(alert, status="resolved", ends_at=_changed(ticket))

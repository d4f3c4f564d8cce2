"""The tools over trackers. Ticket text is untrusted data, like every other text from outside."""

from typing import Literal

from pydantic import Field

from connectors.tracker import Ticket, TicketSearch
from copilot.tools.arguments import Arguments, Query
from copilot.tools.base import Case, Outcome, Tool, pick
from copilot.tools.logbook import window_of
from copilot.values import JsonObject
from copilot.window import Window, iso

PARTS = Literal["comments", "changes", "links"]
FOUND_LIMIT = 50


class SearchTickets(Query):
    """Arguments of `search_tickets`."""

    text: str = Field("", max_length=1000, description="Words; identifiers stay whole")
    tracker: str = ""
    projects: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    updated_since: str = ""
    updated_until: str = ""
    limit: int = Field(20, ge=1, le=FOUND_LIMIT)
    page: str = Field("", max_length=4000, description="From the last page")

    def window(self) -> Window:
        """The window of updates asked for. Raises UsageError."""
        return window_of(self.updated_since, self.updated_until)


class GetTicket(Arguments):
    """Arguments of `get_ticket`."""

    key: str = Field(min_length=2, max_length=100)
    tracker: str = ""
    parts: tuple[PARTS, ...] = ("comments",)


def _search(arguments: SearchTickets, case: Case) -> Outcome:
    tracker = pick(case.trackers, arguments.tracker, "tracker")
    found = tracker.search(
        TicketSearch(
            text=arguments.text,
            projects=arguments.projects,
            statuses=arguments.statuses,
            labels=arguments.labels,
            updated=arguments.window(),
            limit=arguments.limit,
            page=arguments.page,
        )
    )
    why = found.coverage.why_incomplete
    if not why and len(found.tickets) < found.total.value:
        why = f"limit: {len(found.tickets)} of {found.total.value} returned"
    asked = arguments.model_dump(mode="json", exclude_defaults=True, exclude={"tracker", "page"})
    return Outcome(
        scope={"tracker": tracker.name, "asked": asked},
        facts={"page": found.page} if found.page else {},
        rows=tuple(_brief(ticket) for ticket in found.tickets),
        total=found.total,
        why_incomplete=why,
        hint="; ".join(found.coverage.notes),
    )


def _get(arguments: GetTicket, case: Case) -> Outcome:
    tracker = pick(case.trackers, arguments.tracker, "tracker")
    ticket = tracker.ticket(arguments.key, frozenset(arguments.parts))
    if ticket is None:
        return Outcome(
            ok=False,
            scope={"tracker": tracker.name, "key": arguments.key},
            hint=f"there is no ticket {arguments.key} in {tracker.name}; search_tickets finds keys",
            stored=False,
        )
    missing = [part for part in arguments.parts if getattr(ticket, part) is None]
    missing += ticket.missing
    return Outcome(
        scope={"tracker": tracker.name, "key": ticket.key, "parts": list(arguments.parts)},
        facts={"not_fetched": list(missing)} if missing else {},
        rows=tuple(_whole(ticket)),
        why_incomplete=f"not fetched: {', '.join(missing)}" if missing else "",
        first=ticket.created,
        last=ticket.updated,
    )


def _brief(ticket: Ticket) -> JsonObject:
    return {
        "key": ticket.key,
        "status": ticket.status,
        "updated": iso(ticket.updated) if ticket.updated else None,
        "labels": list(ticket.labels),
        "source": f"ticket {ticket.key}",
        "line": 1,
        "message": ticket.summary,
    }


def _whole(ticket: Ticket) -> list[JsonObject]:
    """Header, description, links, changes, then comments: one row each, the newest last."""
    source = f"ticket {ticket.key}"
    head: JsonObject = {
        "part": "header",
        "key": ticket.key,
        "kind": ticket.kind,
        "status": ticket.status,
        "resolution": ticket.resolution,
        "priority": ticket.priority,
        "reporter": ticket.reporter,
        "assignee": ticket.assignee,
        "labels": list(ticket.labels),
        "created": iso(ticket.created) if ticket.created else None,
        "updated": iso(ticket.updated) if ticket.updated else None,
        "message": ticket.summary,
    }
    if ticket.attachments:
        head["attachments"] = list(ticket.attachments)
    rows: list[JsonObject] = [head, {"part": "description", "message": ticket.description}]
    rows += [
        {"part": "link", "key": link.key, "message": f"{link.relation} {link.key}: {link.summary}"}
        for link in ticket.links or ()
    ]
    rows += [
        {
            "part": "change",
            "time": iso(change.time) if change.time else None,
            "author": change.author,
            "message": f"{change.field}: {change.before} -> {change.after}",
        }
        for change in ticket.changes or ()
    ]
    rows += [
        {
            "part": f"comment {number}",
            "time": iso(comment.created) if comment.created else None,
            "author": comment.author,
            "message": comment.text,
        }
        for number, comment in enumerate(ticket.comments or (), start=1)
    ]
    return [{"source": source, "line": number, **row} for number, row in enumerate(rows, start=1)]


TOOLS = (
    Tool(
        "search_tickets",
        "Tickets that match, best first: key, status, updated, title.",
        SearchTickets,
        _search,
    ),
    Tool(
        "get_ticket",
        "One ticket: header, description and the parts asked for, one row each.",
        GetTicket,
        _get,
    ),
)

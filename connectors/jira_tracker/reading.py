"""One ticket with its parts. A part that could not be read is said to be missing, never empty."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from connectors import ticket_json
from connectors.jira_tracker.api import HEADER, Api, Page
from connectors.jira_tracker.calls import JiraFault
from connectors.jira_tracker.paging import Place, read_pages
from connectors.jira_tracker.replies import Json
from connectors.jira_tracker.site import JiraSite
from connectors.tracker import Ticket
from copilot.errors import ConnectorError

WHOLE = (*HEADER, "description", "attachment")
LINKS = ("issuelinks", "parent", "subtasks")
MOST_ENTRIES = 2000
"""Comments, or entries of the history, of one ticket."""


@dataclass(frozen=True, slots=True)
class Part:
    """The entries of a part, and what is missing of it."""

    entries: list[Json] | None
    missing: str = ""


def read_ticket(api: Api, site: JiraSite, key: str, parts: frozenset[str]) -> Ticket | None:
    """The ticket with the *parts* asked for, or None when there is none for this account.

    Raises ConnectorError, also when the ticket was moved to a project that is not ours to read.
    """
    wants_changes = "changes" in parts
    fields = (*WHOLE, *LINKS) if "links" in parts else WHOLE
    try:
        record = api.issue(key, fields, history=wants_changes)
    except JiraFault as failure:
        if failure.fault and failure.fault.kind == "missing":
            return None
        raise
    found: str = record["key"]
    if not in_scope(record, site):
        raise ConnectorError(f"{key} is now {found}, of a project that is not configured here")
    missing = []
    if "comments" in parts:
        comments = _whole("comments", lambda start: api.comments(found, start))
        missing.append(comments.missing)
        record["fields"]["comment"] = {"comments": comments.entries}
    if wants_changes and api.is_cloud:
        changes = _whole("changes", lambda start: api.changes(found, start))
        missing.append(changes.missing)
        record["changelog"] = {"histories": changes.entries}
    return _in_order(record, site, tuple(note for note in missing if note))


def header(record: Json, site: JiraSite) -> Ticket | str:
    """The ticket in an issue of a search, or why there is none in it."""
    source = f"{site.url}/browse/{record.get('key')}"
    found = ticket_json.ticket(record, source)
    if isinstance(found, str):
        return found
    note = "description: a search does not fetch it"
    return replace(found, comments=None, changes=None, links=None, missing=(note,))


def in_scope(record: Json, site: JiraSite) -> bool:
    """True when both the key and the project of an issue are among the site's."""
    fields = record.get("fields")
    project = fields.get("project") if isinstance(fields, dict) else None
    named = project.get("key") if isinstance(project, dict) else None
    key = record.get("key")
    if not isinstance(key, str) or not site.holds(key):
        return False
    return not isinstance(named, str) or site.holds(f"{named}-1")


def _whole(part: str, page_at: Callable[[int], Page]) -> Part:
    """All entries of a part, or as many as came, and why."""
    try:
        read = read_pages(
            lambda at: page_at(int(at or 0)), Place(), lambda _: False, most=MOST_ENTRIES
        )
    except JiraFault as failure:
        return Part(None, f"{part}: {failure}")
    count = len(read.items)
    why = f"{part}: {count} of {read.total or 'more'}; {read.why_incomplete}"
    return Part(read.items, why if read.why_incomplete else "")


def _in_order(record: Json, site: JiraSite, missing: tuple[str, ...]) -> Ticket:
    """The ticket of the record, its comments and changes oldest first, links out of scope bare."""
    found = ticket_json.ticket(record, f"{site.url}/browse/{record['key']}")
    if isinstance(found, str):
        raise ConnectorError(f"{site.url} gave for {record.get('key')} what is {found}")
    return replace(
        found,
        comments=found.comments
        and tuple(sorted(found.comments, key=lambda comment: _order(comment.created, comment.id))),
        changes=found.changes
        and tuple(sorted(found.changes, key=lambda change: _order(change.time, ""))),
        links=found.links
        and tuple(
            link if site.holds(link.key) else replace(link, summary="") for link in found.links
        ),
        missing=(*found.missing, *missing),
    )


def _order(time: datetime | None, id: str) -> tuple[float, int]:
    """What has no time comes first; what came at once, by number."""
    number = int(id) if id.isascii() and id.isdecimal() and len(id) < 16 else 0
    return (time.timestamp() if time else 0.0), number

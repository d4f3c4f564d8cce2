"""What may be written to a ticket: one comment for each mark, edited in place, and a link.

Nothing here is called by a tool: a person approves a text first. Each is idempotent. A comment is
looked for by its mark before one is made, among the comments of our own account only, and none is
made while some of the ticket's comments could not be read.
"""

from dataclasses import dataclass
from typing import Literal

from connectors import ticket_json
from connectors.jira_tracker import markup
from connectors.jira_tracker.api import Api
from connectors.jira_tracker.calls import JiraFault
from connectors.jira_tracker.paging import Place, read_pages
from connectors.jira_tracker.reading import MOST_ENTRIES
from connectors.jira_tracker.replies import Json
from copilot.errors import ConnectorError

Done = Literal["made", "edited", "unchanged"]


@dataclass(frozen=True, slots=True)
class Written:
    """The comment, and what became of it."""

    id: str
    done: Done


@dataclass(frozen=True, slots=True)
class OwnComment:
    """A text to write. `mark` is its last line, the same for every version of it."""

    key: str
    text: str
    mark: str

    def body(self, *, is_cloud: bool) -> Json | str:
        """Exactly what is sent, for either deployment."""
        whole = f"{markup.closed(self.text.strip())}\n\n{self.mark}"
        return markup.document(whole) if is_cloud else markup.wiki(whole)


def put_comment(api: Api, comment: OwnComment) -> Written:
    """Make the comment, or bring the one with its mark up to date. Raises ConnectorError."""
    body = comment.body(is_cloud=api.is_cloud)
    there = _find(api, comment)
    if there is None:
        try:
            return Written(api.add_comment(comment.key, body), "made")
        except JiraFault:
            # The request may have been done and only its answer lost: nobody writes it twice.
            there = _find(api, comment)
            if there is None:
                raise
            return Written(str(there["id"]), "made")
    number = str(there["id"])
    if _text(there.get("body")) == _text(body):
        return Written(number, "unchanged")
    api.edit_comment(comment.key, number, body)
    return Written(number, "edited")


def put_link(api: Api, key: str, mark: str, url: str, title: str) -> None:
    """Make the ticket's link with that mark, or change where it leads. Raises JiraFault."""
    api.put_link(key, {"globalId": mark, "object": {"url": url, "title": title}})


def _find(api: Api, comment: OwnComment) -> Json | None:
    """Our own newest comment with the mark. Raises ConnectorError when not all could be read."""
    us = api.account()
    read = read_pages(
        lambda at: api.comments(comment.key, int(at or 0)),
        Place(),
        lambda items: any(_is_ours(item, us, comment.mark) for item in items),
        most=MOST_ENTRIES,
    )
    ours = [item for item in read.items if _is_ours(item, us, comment.mark)]
    if ours:
        return max(ours, key=lambda item: (len(str(item["id"])), str(item["id"])))
    if read.why_incomplete:
        raise ConnectorError(
            f"no comment was made on {comment.key}: its comments could not all be read, so one may "
            f"be there already ({read.why_incomplete})"
        )
    return None


def _is_ours(item: Json, us: str, mark: str) -> bool:
    author = item.get("author")
    names = [author.get(name) for name in ("accountId", "name")] if isinstance(author, dict) else []
    lines = _text(item.get("body")).replace("{noformat}", "").strip().splitlines()
    return bool(us) and us in names and bool(lines) and lines[-1].strip() == mark


def _text(body: object) -> str:
    """The text of a body, whichever way it is kept."""
    found = ticket_json.ticket({"key": "X-1", "summary": "", "description": body}, "")
    return "" if isinstance(found, str) else found.description.strip()

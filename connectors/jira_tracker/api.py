"""The requests of both APIs: Cloud is version 3, Data Center and Server version 2.

Each function is one request and reads the part of the reply that we use, whoever forgot the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from connectors.jira_tracker.calls import Calls
from connectors.jira_tracker.replies import Ask, Fault, Json

PAGE = 100
"""What is asked for at most; Jira often gives fewer."""
HEADER = (
    "summary", "status", "project", "issuetype", "priority", "reporter", "assignee", "labels",
    "created", "updated", "resolution",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list. `next` is how to ask for the one after it; empty on the last one."""

    items: tuple[Json, ...]
    next: str
    total: int | None
    doubt: str = ""
    """Why there may be more than what can be asked for."""


@dataclass(frozen=True, slots=True)
class Api:
    """The requests to one site whose deployment is known."""

    calls: Calls
    is_cloud: bool

    @property
    def version(self) -> str:
        """Of the REST API."""
        return "3" if self.is_cloud else "2"

    def search(self, jql: str, at: str, size: int) -> Page:
        """One page of a search, as *at* of the page before it says. Raises JiraFault."""
        body: Json = {"jql": jql, "maxResults": min(size, PAGE), "fields": [*HEADER]}
        if self.is_cloud:
            token = {"nextPageToken": at} if at else {}
            return _token_page(self._post("search/jql", {**body, **token}))
        start = int(at or 0)
        return numbered_page(self._post("search", {**body, "startAt": start}), "issues", start)

    def issue(self, key: str, fields: tuple[str, ...], *, history: bool) -> Json:
        """One issue, with its whole history where the API gives it there. Raises JiraFault."""
        params: dict[str, str | int] = {"fields": ",".join(fields)}
        if history and not self.is_cloud:
            params["expand"] = "changelog"
        ask = Ask("issue", f"{self.version}/issue/{key}", params)
        found = self.calls.object(ask)
        if not isinstance(found.get("key"), str) or not isinstance(found.get("fields"), dict):
            raise self.calls.failed(ask, Fault("unreadable", "it answered 200 without an issue"))
        return found

    def comments(self, key: str, start: int) -> Page:
        """A page of comments, newest first where the server can sort. Raises JiraFault."""
        return self._part(key, "comment", "comments", start, orderBy="-created")

    def changes(self, key: str, start: int) -> Page:
        """A page of the history, oldest first; Cloud only. Raises JiraFault."""
        return self._part(key, "changelog", "values", start)

    def statuses(self) -> tuple[str, ...]:
        """The names that a status can have. Raises JiraFault."""
        found = self.calls.json(Ask("status", f"{self.version}/status"))
        names = [item.get("name") for item in found if isinstance(item, dict)]
        return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))

    def time_zone(self) -> str:
        """The time zone of the account's profile; empty when it says none. Raises JiraFault."""
        zone = self.calls.object(Ask("myself", f"{self.version}/myself")).get("timeZone")
        return zone if isinstance(zone, str) else ""

    def account(self) -> str:
        """What tells our account from others, or an empty text. Raises JiraFault."""
        us = self.calls.object(Ask("myself", f"{self.version}/myself"))
        name = us.get("accountId") or us.get("name")
        return name if isinstance(name, str) else ""

    def add_comment(self, key: str, body: Json | str) -> str:
        """Make a comment, once at most, and give its id. Raises JiraFault."""
        path = f"{self.version}/issue/{key}/comment"
        ask = Ask("new comment", path, body={"body": body}, method="POST", repeatable=False)
        return str(self.calls.object(ask).get("id", ""))

    def edit_comment(self, key: str, number: str, body: Json | str) -> None:
        """Put *body* in the place of what the comment says. Raises JiraFault."""
        path = f"{self.version}/issue/{key}/comment/{number}"
        self.calls.object(Ask("changed comment", path, body={"body": body}, method="PUT"))

    def put_link(self, key: str, link: Json) -> None:
        """Make or change the remote link with the `globalId` of *link*. Raises JiraFault."""
        path = f"{self.version}/issue/{key}/remotelink"
        self.calls.object(Ask("remote link", path, body=link, method="POST"))

    def project(self, key: str) -> None:
        """Look whether the project can be read. Raises JiraFault."""
        self.calls.object(Ask("project", f"{self.version}/project/{key}"))

    def _post(self, path: str, body: Json) -> Json:
        ask = Ask(path, f"{self.version}/{path}", body=body, method="POST")
        found = self.calls.object(ask)
        if not isinstance(found.get("issues"), list):
            raise self.calls.failed(ask, Fault("unreadable", "it answered 200 without issues"))
        return found

    def _part(self, key: str, path: str, name: str, start: int, **params: str) -> Page:
        ask = Ask(
            f"issue/{path}",
            f"{self.version}/issue/{key}/{path}",
            {"startAt": start, "maxResults": PAGE, **params},
        )
        found = self.calls.object(ask)
        if not isinstance(found.get(name), list):
            raise self.calls.failed(ask, Fault("unreadable", f"it answered 200 without {name}"))
        return numbered_page(found, name, start)


def server_info(calls: Calls) -> Json:
    """What the site says of itself; both kinds know version 2 of this. Raises JiraFault."""
    return calls.object(Ask("serverInfo", "2/serverInfo"))


def numbered_page(found: Json, name: str, start: int) -> Page:
    """A page of a list that counts from `startAt`. The next one begins after what was returned.

    Servers cap a page below what was asked for, so neither `maxResults` nor `isLast` is believed:
    without a total, the list ends with an empty page.
    """
    items = tuple(_objects(found.get(name)))
    total = _count(found.get("total"))
    after = start + len(items)
    follows = bool(items) and (total is None or after < total)
    return Page(items, str(after) if follows else "", total)


def _token_page(found: Json) -> Page:
    """A page of Cloud's search. An absent `isLast` says nothing; only true ends the list."""
    token = found.get("nextPageToken")
    next_token = token if isinstance(token, str) and found.get("isLast") is not True else ""
    doubt = ""
    if not next_token and found.get("isLast") is False:
        doubt = "Jira said that more follow, and not how to get them"
    return Page(tuple(_objects(found["issues"])), next_token, _count(found.get("total")), doubt)


def _objects(value: Any) -> Iterator[Json]:
    return (
        (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

"""What a double holds: its issues and how it behaves. Values, and the JSON that they become."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Text: TypeAlias = str | Json
"""Wiki text, or an ADF document."""

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment."""

    body: Text
    author: str = "Ada"
    created: datetime = NOON


@dataclass(slots=True)
class Issue:
    """An issue with all its parts; `moved_from` are the keys that still lead to it."""

    key: str
    summary: str = "s"
    description: Text = ""
    status: str = "Open"
    kind: str = "Bug"
    priority: str = "Major"
    labels: tuple[str, ...] = ()
    created: datetime = NOON
    updated: datetime = NOON
    comments: list[Remark] = field(default_factory=list)
    changes: list[tuple[str, str, str]] = field(default_factory=list)
    """Field, before, after."""
    links: list[tuple[str, str, str]] = field(default_factory=list)
    """Relation outward, key, summary."""
    attachments: list[tuple[str, int]] = field(default_factory=list)
    moved_from: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    """Fields as the API would give them, over all others."""

    @property
    def project(self) -> str:
        return self.key.rpartition("-")[0]


@dataclass(slots=True)
class Site:
    """One Jira. The switches make it misbehave as real ones were seen to."""

    deployment: Literal["cloud", "server"] = "cloud"
    issues: list[Issue] = field(default_factory=list)
    statuses: tuple[str, ...] = ("Open", "In Progress", "Done")
    projects: tuple[str, ...] = ("OPS", "SECRET", "AS", "SET")
    time_zone: str = "UTC"
    user: str = "ada@example.org"
    token: str = "not-a-real-token"
    page_cap: int = 100
    comment_cap: int = 100
    loops: bool = False
    """Every page carries the same token and the same issues."""
    ignores_start: bool = False
    """startAt is not looked at."""
    ignores_jql: bool = False
    """All issues match, whatever was asked."""
    leaves_out: tuple[str, ...] = ()
    """Keys that are missing from a search's answer, such as isLast or total."""

    @property
    def is_cloud(self) -> bool:
        return self.deployment == "cloud"

    def find(self, key: str) -> Issue | None:
        """The issue of that key, or the one that it moved to."""
        wanted = key.upper()
        for issue in self.issues:
            if wanted in {issue.key, *issue.moved_from}:
                return issue
        return None

    def fields(self, issue: Issue, url: str) -> Json:
        """All fields of an issue, as the API of this deployment gives them."""
        return {
            "summary": issue.summary,
            "description": self.text(issue.description) if issue.description else None,
            "status": {"name": issue.status},
            "project": {"key": issue.project, "name": f"{issue.project} project"},
            "issuetype": {"name": issue.kind},
            "priority": {"name": issue.priority},
            "labels": list(issue.labels),
            "created": stamp(issue.created),
            "updated": stamp(issue.updated),
            "reporter": {"displayName": "Ada"},
            "assignee": None,
            "resolution": None,
            "attachment": [
                {"filename": name, "size": size, "content": f"{url}/secure/attachment/{name}"}
                for name, size in issue.attachments
            ],
            "issuelinks": [
                {
                    "type": {"outward": relation, "inward": f"is {relation} of"},
                    "outwardIssue": {"key": key, "fields": {"summary": summary}},
                }
                for relation, key, summary in issue.links
            ],
            "subtasks": [],
            **issue.more,
        }

    def text(self, text: Text) -> Text:
        """The text as this deployment stores it: v3 has documents, v2 wiki text."""
        if isinstance(text, str) and self.is_cloud:
            paragraph = {"type": "paragraph", "content": [{"type": "text", "text": text}]}
            return {"type": "doc", "version": 1, "content": [paragraph]}
        return text


def stamp(time: datetime) -> str:
    """A time as Jira writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}+0000"

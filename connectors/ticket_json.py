"""Tickets out of JSON: Jira REST issues (v2 wiki text, v3 ADF) and a plain shape with few keys.

A part that the JSON does not hold stays None: an export of a search without its comments is not a
ticket without comments. Nothing is guessed: a time without a zone is no time.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from connectors.adf import adf_text
from connectors.tracker import Change, Comment, Link, Ticket
from copilot.errors import ImportRefusedError
from copilot.window import parse_iso

Fields: TypeAlias = Mapping[str, object]

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
EXPECTED = "expected Jira issues (`key` and `fields`) or plain tickets (`key` and `summary`)"


@dataclass(frozen=True, slots=True)
class Export:
    """The records of one file, each after its place in the file."""

    records: tuple[tuple[str, object], ...]
    missing: str = ""
    """How many issues the tracker had, when the file is only a page of them: `50 of 120`."""


def read_export(text: str, source: str) -> Export:
    """The records of a JSON document, a search response or JSON lines.

    Raises ImportRefusedError when *text* is not JSON.
    """
    try:
        return _unwrapped(json.loads(text))
    except RecursionError:
        raise ImportRefusedError(f"{source} is nested too deeply; {EXPECTED}") from None
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not _is_json(lines[0][1]):
            raise ImportRefusedError(f"{source} is not JSON ({error}); {EXPECTED}") from None
    return Export(tuple((f"line {number}", _line(line, number, source)) for number, line in lines))


def ticket(record: object, source: str) -> Ticket | str:
    """The ticket in *record*, or in a few words why it is none."""
    if not isinstance(record, dict):
        return f"not a ticket; {EXPECTED}"
    match record:
        case {"key": str(key), "fields": dict(fields)} if key.strip():
            return _with_parts(_header(key, fields, source), record, fields)
        case {"key": str(key), "summary": str()} if key.strip():
            return replace(_header(key, record, source), comments=_comments(record)[0])
        case {"comments": list()}:
            return "comments without their issue; export the issue with its comments"
        case _:
            return f"not a ticket; {EXPECTED}"


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _line(line: str, number: int, source: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ImportRefusedError(
            f"{source}:{number} is not JSON ({error}); nothing of the file was kept"
        ) from None


def _unwrapped(document: object) -> Export:
    if isinstance(document, list):
        return Export(tuple((f"[{index}]", item) for index, item in enumerate(document)))
    if not isinstance(document, dict) or not isinstance(document.get("issues"), list):
        return Export((("the document", document),))
    issues = document["issues"]
    records = tuple((f"issues[{index}]", issue) for index, issue in enumerate(issues))
    total = document.get("total")
    if isinstance(total, int) and total > len(issues):
        return Export(records, missing=f"{len(issues)} of {total}")
    more = document.get("isLast") is False or bool(document.get("nextPageToken"))
    return Export(records, missing=f"{len(issues)} of more" if more else "")


def _header(key: str, fields: Fields, source: str) -> Ticket:
    """The ticket without its parts; both shapes name these fields alike."""
    labels = fields.get("labels")
    return Ticket(
        key=_text(key).strip(),
        summary=_text(fields.get("summary")),
        status=_name(fields.get("status"), "name"),
        project=_name(fields.get("project"), "key", "name") or key.strip().rpartition("-")[0],
        kind=_name(fields.get("issuetype", fields.get("kind")), "name"),
        priority=_name(fields.get("priority"), "name"),
        reporter=_person(fields.get("reporter")),
        assignee=_person(fields.get("assignee")),
        labels=tuple(_text(label) for label in labels) if isinstance(labels, list) else (),
        created=_time(fields.get("created")),
        updated=_time(fields.get("updated")),
        resolution=_name(fields.get("resolution"), "name"),
        description=_text(fields.get("description")),
        source=source,
    )


def _with_parts(header: Ticket, record: Fields, fields: Fields) -> Ticket:
    comments, fewer_comments = _comments(fields.get("comment"))
    changes, fewer_changes = _changes(record.get("changelog"))
    attachments = fields.get("attachment")
    return replace(
        header,
        comments=comments,
        changes=changes,
        links=_links(fields),
        attachments=tuple(_attachment(item) for item in _dicts(attachments))
        if isinstance(attachments, list)
        else None,
        missing=tuple(note for note in (fewer_comments, fewer_changes) if note),
    )


def _comments(page: object) -> tuple[tuple[Comment, ...] | None, str]:
    """The comments of a page, and `comments: 50 of 130` when it is not the only page."""
    if not isinstance(page, dict) or not isinstance(page.get("comments"), list):
        return None, ""
    comments = tuple(
        Comment(
            id=_text(item.get("id")) or str(number),
            author=_person(item.get("author", item.get("by"))),
            created=_time(item.get("created", item.get("at"))),
            text=_text(item.get("body")),
        )
        for number, item in enumerate(_dicts(page["comments"]), 1)
    )
    return comments, _fewer("comments", len(comments), page)


def _changes(log: object) -> tuple[tuple[Change, ...] | None, str]:
    if not isinstance(log, dict) or not isinstance(log.get("histories"), list):
        return None, ""
    histories = _dicts(log["histories"])
    changes = tuple(
        Change(
            time=_time(history.get("created")),
            author=_person(history.get("author")),
            field=_text(item.get("field")),
            before=_text(item.get("fromString")),
            after=_text(item.get("toString")),
        )
        for history in histories
        for item in _dicts(history.get("items"))
    )
    return changes, _fewer("changes", len(histories), log)


def _fewer(part: str, count: int, page: Fields) -> str:
    total = page.get("total")
    return f"{part}: {count} of {total}" if isinstance(total, int) and total > count else ""


def _links(fields: Fields) -> tuple[Link, ...] | None:
    """Links, parent and subtasks; None when the export holds none of these fields."""
    if not {"issuelinks", "parent", "subtasks"} & fields.keys():
        return None
    ends: list[tuple[str, object]] = [("has parent", fields.get("parent"))]
    ends += [("has subtask", item) for item in _dicts(fields.get("subtasks"))]
    for item in _dicts(fields.get("issuelinks")):
        kind = item.get("type")
        ends.append((_name(kind, "inward") or "is linked from", item.get("inwardIssue")))
        ends.append((_name(kind, "outward") or "links to", item.get("outwardIssue")))
    return tuple(
        Link(relation, _text(end["key"]), _name(end.get("fields"), "summary"))
        for relation, end in ends
        if isinstance(end, dict) and end.get("key")
    )


def _attachment(item: Fields) -> str:
    size = item.get("size")
    name = _text(item.get("filename")) or "unnamed"
    return f"{name} ({size} bytes)" if isinstance(size, int) else name


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    """Plain text of a string or an ADF document, fit for UTF-8."""
    return LONE_SURROGATE.sub("\ufffd", adf_text(value))


def _name(value: object, *keys: str) -> str:
    """What a nested value is called: the first of *keys* that it has, or the value itself."""
    if not isinstance(value, dict):
        return _text(value)
    return next((_text(value[key]) for key in keys if value.get(key)), "")


def _person(value: object) -> str:
    return _name(value, "displayName", "name", "emailAddress", "accountId")


def _time(value: object) -> datetime | None:
    try:
        return parse_iso(value) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None

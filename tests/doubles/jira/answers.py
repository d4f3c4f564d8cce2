"""What the double answers: one issue, its parts page by page, and what a site says of itself."""

from typing import Any

from tests.doubles.jira.connection import Answer, Received
from tests.doubles.jira.site import Issue, Json, Site, stamp

PARAMETERS = {
    None: {"fields", "expand"},
    "comment": {"startAt", "maxResults", "orderBy"},
    "changelog": {"startAt", "maxResults"},
}


class Refusal(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, *messages: str) -> None:
        super().__init__(*messages)
        self.answer = Answer(status, {"errorMessages": [*messages], "errors": {}}, {})


def server_info(site: Site, url: str) -> Json:
    """What anyone may ask."""
    numbers = [1001, 0, 0] if site.is_cloud else [9, 12, 4]
    return {
        "baseUrl": url,
        "version": ".".join(map(str, numbers)),
        "versionNumbers": numbers,
        "deploymentType": "Cloud" if site.is_cloud else "Server",
    }


def myself(site: Site) -> Json:
    """The account that asks."""
    named = {"accountId": "Copilot"} if site.is_cloud else {"name": "Copilot"}
    return {**named, "displayName": "The copilot", "timeZone": site.time_zone}


def project(site: Site, key: str) -> Json:
    """A project by its key. Raises Refusal."""
    if key not in site.projects:
        raise Refusal(404, f"No project could be found with key '{key}'.")
    return {"key": key, "name": f"{key} project"}


def part(site: Site, key: str, name: str | None, received: Received, url: str) -> Json:
    """An issue, or one page of its comments or its history. Raises Refusal."""
    unknown = set(received.query) - PARAMETERS[name]
    if unknown:
        raise Refusal(400, f"this double does not know the parameters {sorted(unknown)}")
    issue = site.find(key)
    if issue is None:
        raise Refusal(404, "Issue does not exist or you do not have permission to see it.")
    match name:
        case "comment":
            return _comments(site, issue, received)
        case "changelog" if site.is_cloud:
            return _changelog(site, issue, received)
        case None:
            return _whole(site, issue, received, url)
    raise Refusal(404, "null for uri")


def chosen(fields: Json, names: str | list[str]) -> Json:
    """Only the fields that were asked for."""
    wanted = names.split(",") if isinstance(names, str) else names
    if "*all" in wanted:
        return fields
    return {name: value for name, value in fields.items() if name in wanted}


def _whole(site: Site, issue: Issue, received: Received, url: str) -> Json:
    names = received.query.get("fields", "*all")
    answer = {
        "id": str(10_000 + site.issues.index(issue)),
        "key": issue.key,
        "fields": chosen(site.fields(issue, url), names),
    }
    if "changelog" in received.query.get("expand", ""):
        histories = _histories(issue)
        total = {"startAt": 0, "maxResults": len(histories), "total": len(histories)}
        answer["changelog"] = {**total, "histories": histories}
    return answer


def _comments(site: Site, issue: Issue, received: Received) -> Json:
    comments: list[Any] = [
        {
            "id": str(number),
            "author": {
                "displayName": remark.author,
                "accountId" if site.is_cloud else "name": remark.author,
            },
            "created": stamp(remark.created),
            "body": site.text(remark.body),
        }
        for number, remark in enumerate(issue.comments, 1)
    ]
    if received.query.get("orderBy") == "-created":
        comments.reverse()
    return _sliced(site, received, comments, "comments")


def _changelog(site: Site, issue: Issue, received: Received) -> Json:
    page = _sliced(site, received, _histories(issue), "values")
    return {**page, "isLast": page["startAt"] + len(page["values"]) >= page["total"]}


def _histories(issue: Issue) -> list[Any]:
    return [
        {
            "id": str(number),
            "author": {"displayName": "Ada"},
            "created": stamp(issue.updated),
            "items": [{"field": field, "fromString": before, "toString": after}],
        }
        for number, (field, before, after) in enumerate(issue.changes, 1)
    ]


def _sliced(site: Site, received: Received, everything: list[Any], name: str) -> Json:
    start = 0 if site.ignores_start else int(received.query.get("startAt", 0))
    size = min(int(received.query.get("maxResults", 50)), site.comment_cap)
    page = everything[start : start + size]
    return {"startAt": start, "maxResults": size, "total": len(everything), name: page}

"""Both searches: Cloud's pages with a token and no total, Data Center's with startAt and a total."""

from tests.doubles.jira.answers import Refusal, chosen
from tests.doubles.jira.connection import Received
from tests.doubles.jira.jql import JqlRefused, parse
from tests.doubles.jira.matching import matching
from tests.doubles.jira.site import Issue, Json, Site

CLOUD_BODY = {
    "jql", "maxResults", "fields", "nextPageToken", "expand", "properties", "fieldsByKeys",
    "failFast", "reconcileIssues",
}  # fmt: skip
SERVER_BODY = {"jql", "startAt", "maxResults", "fields", "validateQuery", "expand"}


def page(site: Site, path: str, received: Received, url: str) -> Json:
    """One page of a search. Raises Refusal."""
    body = received.body
    if received.method != "POST" or not isinstance(body, dict):
        raise Refusal(405, "this double is searched by POST only")
    if (path == "/search/jql") != site.is_cloud:
        raise Refusal(404, "null for uri: " + path)
    unknown = set(body) - (CLOUD_BODY if site.is_cloud else SERVER_BODY)
    if unknown:
        raise Refusal(400, f'Unrecognized field "{min(unknown)}", not marked as ignorable')
    try:
        found = matching(site, parse(body["jql"]))
    except JqlRefused as refused:
        raise Refusal(400, str(refused)) from None
    if site.ignores_jql:
        found = site.issues
    answer = _cloud(site, body, found, url) if site.is_cloud else _server(site, body, found, url)
    return {name: value for name, value in answer.items() if name not in site.leaves_out}


def _cloud(site: Site, body: Json, found: list[Issue], url: str) -> Json:
    token = body.get("nextPageToken", "")
    if token and not token.startswith("token-"):
        raise Refusal(400, "The provided next page token is invalid or expired.")
    start = int(token.removeprefix("token-")) if token and not site.loops else 0
    size = min(int(body.get("maxResults", 50)), site.page_cap)
    fields = body.get("fields", ["id"])
    end = start + size
    answer: Json = {"issues": [_row(site, issue, fields, url) for issue in found[start:end]]}
    is_last = end >= len(found) and not site.loops
    if not is_last:
        answer["nextPageToken"] = "token-7" if site.loops else f"token-{end}"
    return {**answer, "isLast": is_last}


def _server(site: Site, body: Json, found: list[Issue], url: str) -> Json:
    start = 0 if site.ignores_start else int(body.get("startAt", 0))
    size = min(int(body.get("maxResults", 50)), site.page_cap)
    rows = [
        _row(site, issue, body.get("fields", ["*all"]), url)
        for issue in found[start : start + size]
    ]
    return {"startAt": start, "maxResults": size, "total": len(found), "issues": rows}


def _row(site: Site, issue: Issue, fields: list[str], url: str) -> Json:
    """An issue in a search. Cloud gives nothing but its id, unless fields are asked for."""
    row: Json = {"id": str(10_000 + site.issues.index(issue))}
    if fields == ["id"]:
        return row
    return {**row, "key": issue.key, "fields": chosen(site.fields(issue, url), fields)}

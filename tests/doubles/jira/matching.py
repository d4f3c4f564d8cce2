"""Which issues a parsed query matches, and in what order. Refuses values that do not exist."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from tests.doubles.jira.jql import Clause, Joined, JqlRefused, Node, Query
from tests.doubles.jira.site import Issue, Site

WORD = re.compile(r"\w+")
TERM = re.compile(r'\s*(?:"((?:\\.|[^"\\])*)"|([^\s"]+))')
SPECIAL = re.compile(r'[+\-&|!(){}\[\]^"~*?\\:/]')
DATE_FORMATS = ("%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M", "%Y-%m-%d", "%Y/%m/%d")


def matching(site: Site, query: Query) -> list[Issue]:
    """The issues that match, sorted as asked; with text and no order, best first."""
    if query.where is None and site.is_cloud:
        raise JqlRefused(
            "Unbounded JQL queries are not allowed here. Please add a search restriction to your "
            "query."
        )
    found = [
        issue for issue in site.issues if query.where is None or _holds(site, query.where, issue)
    ]
    if query.where is not None and not site.issues:
        _holds(site, query.where, Issue("NONE-1"))  # an empty site checks the values too
    for field, descends in reversed(query.order):
        found.sort(key=lambda issue: _sort_key(issue, field), reverse=descends)
    if not query.order and query.where is not None:
        needles = [term for text in _texts(query.where) for term in _terms(text)]
        found.sort(key=lambda issue: -sum(_has(_words(issue.summary), term) for term in needles))
    return found


def _holds(site: Site, node: Node, issue: Issue) -> bool:
    """Every part is looked at: a wrong value is an error, wherever it stands."""
    if isinstance(node, Clause):
        return _clause(site, node, issue)
    results = [_holds(site, part, issue) for part in node.parts]
    if node.how == "not":
        return not results[0]
    return all(results) if node.how == "and" else any(results)


def _clause(site: Site, clause: Clause, issue: Issue) -> bool:
    match clause.field:
        case "project":
            return _one_of(clause, issue.project, site.projects)
        case "status":
            return _one_of(clause, issue.status, site.statuses)
        case "key" | "issuekey":
            for value in clause.values:
                if site.find(value) is None:
                    raise JqlRefused(f"An issue with key '{value}' does not exist for field 'key'.")
            return _sign(clause, any(site.find(value) is issue for value in clause.values))
        case "labels":
            return _sign(clause, bool({*clause.values} & {*issue.labels}))
        case "text" | "summary" | "description" | "comment":
            if clause.operator not in {"~", "!~"}:
                raise JqlRefused(
                    f"The operator '{clause.operator}' is not supported by the '{clause.field}' field."
                )
            words = _words(_text(issue))
            every = all(_has(words, term) for term in _terms(clause.values[0]))
            return every == (clause.operator == "~")
        case "updated" | "created":
            return _dated(site, clause, getattr(issue, clause.field))
    raise JqlRefused(
        f"Field '{clause.field}' does not exist or you do not have permission to view it."
    )


def _one_of(clause: Clause, actual: str, known: tuple[str, ...]) -> bool:
    for value in clause.values:
        if value.upper() not in {name.upper() for name in known}:
            raise JqlRefused(f"The value '{value}' does not exist for the field '{clause.field}'.")
    return _sign(clause, actual.upper() in {value.upper() for value in clause.values})


def _sign(clause: Clause, found: bool) -> bool:
    if clause.operator not in {"=", "!=", "in", "not in"}:
        raise JqlRefused(
            f"The operator '{clause.operator}' is not supported by the '{clause.field}' field."
        )
    return found == (clause.operator in {"=", "in"})


def _dated(site: Site, clause: Clause, actual: datetime) -> bool:
    value = clause.values[0]
    for layout in DATE_FORMATS:
        try:
            time = datetime.strptime(value, layout).replace(tzinfo=ZoneInfo(site.time_zone))
        except ValueError:
            continue
        time = time.astimezone(UTC)
        match clause.operator:
            case ">=":
                return actual >= time
            case "<=":
                return actual <= time
            case ">":
                return actual > time
            case "<":
                return actual < time
    raise JqlRefused(
        f"Date value '{value}' for field '{clause.field}' is invalid. Valid formats include: "
        "'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format"
    )


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, Clause):
        if node.field in {"text", "summary"}:
            yield node.values[0]
        return
    if isinstance(node, Joined):
        for part in node.parts:
            yield from _texts(part)


def _terms(text: str) -> list[tuple[tuple[str, ...], bool]]:
    """The words and "phrases" of a text search; the flag marks a prefix. Raises JqlRefused."""
    terms = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = TERM.match(text, at)
        if not match:
            raise JqlRefused(f"Unable to parse the text '{text}' for the field 'text'.")
        phrase, word = match.groups()
        at = match.end()
        if word is None:
            terms.append((tuple(_words(re.sub(r"\\(.)", r"\1", phrase))), False))
            continue
        if word.upper() in {"AND", "OR", "NOT"} or SPECIAL.search(word.removesuffix("*")):
            raise JqlRefused(f"Unable to parse the text '{text}' for the field 'text'.")
        terms.append((tuple(_words(word)), word.endswith("*")))
    if not any(words for words, _ in terms):
        raise JqlRefused(f"The field 'text' does not support searching for '{text}'.")
    return terms


def _has(words: list[str], term: tuple[tuple[str, ...], bool]) -> bool:
    wanted, prefix = term
    if prefix:
        return any(word.startswith(wanted[0]) for word in words)
    return any(
        tuple(words[at : at + len(wanted)]) == wanted for at in range(len(words) - len(wanted) + 1)
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _text(issue: Issue) -> str:
    return " \n ".join(
        [
            issue.summary,
            _plain(issue.description),
            *(_plain(remark.body) for remark in issue.comments),
        ]
    )


def _plain(node: object) -> str:
    match node:
        case str():
            return node
        case dict():
            return " ".join([_plain(node.get("text", "")), _plain(node.get("content", []))])
        case list():
            return " ".join(map(_plain, node))
    return ""


def _sort_key(issue: Issue, field: str) -> tuple[object, ...]:
    match field:
        case "updated" | "created":
            return (getattr(issue, field),)
        case "key" | "issuekey":
            return issue.project, int(issue.key.rpartition("-")[2])
    raise JqlRefused(f"Field '{field}' does not exist or you do not have permission to view it.")

"""A ticket search as JQL: built from typed fields, every value quoted, never out of scope.

JQL knows minutes only, in the time zone of the account's profile; so a window is widened to whole
minutes of that zone, and the caller drops what is outside of the exact one.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from connectors.jira_tracker.literal import any_of, literal, phrase
from connectors.jira_tracker.raw_jql import restriction
from connectors.jira_tracker.site import KEY, JiraSite
from connectors.tracker import TicketSearch
from copilot.errors import UsageError
from copilot.window import Window

RAW = "jql:"
MOST_TERMS = 12
"""Words of one search. Jira takes many more, but none of them would find a thing."""
TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')
PREFIX = re.compile(r"\w{2,}\*")
MINUTE = timedelta(minutes=1)
EAST, WEST = timedelta(hours=14), timedelta(hours=12)
"""How far zones are from UTC."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search that was checked: its clauses, and the text in them."""

    scope: str
    filters: tuple[str, ...]
    terms: tuple[str, ...]
    keys: tuple[str, ...]
    """Those of the terms that look like keys of tickets in scope."""
    left_out: int
    """Words beyond the most that are looked for."""
    is_raw: bool = False

    def jql(self, *, any_term: bool = False, keys: bool = True) -> str:
        """The JQL for all terms, or for any of them; keys that do not exist must be left out."""
        clauses = [self._term(term, keys=keys) for term in self.terms]
        text = [f"({' OR '.join(clauses)})"] if any_term and clauses else clauses
        where = " AND ".join([self.scope, *self.filters, *text])
        # With text and no order of our own, Jira puts the best match first.
        return where if text else f"{where} ORDER BY updated DESC, key ASC"

    def _term(self, term: str, *, keys: bool) -> str:
        if PREFIX.fullmatch(term):
            return f"text ~ {literal(term)}"
        clause = f"text ~ {phrase(term)}"
        return f"({clause} OR key = {literal(term)})" if keys and term in self.keys else clause


def query_for(search: TicketSearch, site: JiraSite, zone: tzinfo | None) -> Query:
    """The query for *search* on *site*. Without a zone its window is widened by the widest one.

    Raises UsageError for values that no query can hold, projects out of scope, and JQL that is not
    allowed or not understood.
    """
    filters = [*_window(search.updated, zone)]
    if search.statuses:
        filters.append(f"status in {any_of(search.statuses)}")
    if search.labels:
        filters.append(f"labels in {any_of(search.labels)}")
    text = search.text.strip()
    is_raw = text.lower().startswith(RAW)
    if is_raw:
        filters.append(f"({_allowed(text[len(RAW) :], site)})")
    terms = () if is_raw else _terms(text)
    return Query(
        scope=f"project in {any_of(_projects(search.projects, site))}",
        filters=tuple(filters),
        terms=terms[:MOST_TERMS],
        keys=tuple(term for term in terms if KEY.fullmatch(term) and site.holds(term)),
        left_out=len(terms[MOST_TERMS:]),
        is_raw=is_raw,
    )


def _projects(asked: tuple[str, ...], site: JiraSite) -> tuple[str, ...]:
    allowed = {project.upper(): project for project in site.projects}
    foreign = [project for project in asked if project.upper() not in allowed]
    if foreign:
        raise UsageError(
            f"{', '.join(map(repr, foreign))} is not open here; the projects are "
            f"{', '.join(site.projects)}"
        )
    return tuple(allowed[project.upper()] for project in asked) or site.projects


def _allowed(jql: str, site: JiraSite) -> str:
    if not site.allow_jql:
        raise UsageError("JQL is not allowed here; give words, statuses, labels and times instead")
    return restriction(jql)


def _terms(text: str) -> tuple[str, ...]:
    """The words and "quoted phrases" of *text*, each once; what has no letter or digit is none."""
    found = (phrase or word for phrase, word in TERM.findall(" ".join(text.split())))
    wanted = (term for term in found if any(character.isalnum() for character in term))
    return tuple(dict.fromkeys(wanted))


def _window(window: Window, zone: tzinfo | None) -> list[str]:
    clauses = []
    if window.start and (start := _local(window.start, zone, -1)):
        clauses.append(f"updated >= {literal(start)}")
    if window.end and (end := _local(window.end, zone, +1)):
        clauses.append(f"updated < {literal(end)}")
    return clauses


def _local(time: datetime, zone: tzinfo | None, way: int) -> str:
    """The minute at or before *time* (way -1) or at or after it (+1); empty beyond the calendar.

    A local time that a change of the clocks makes happen twice is moved out by an hour.
    """
    try:
        if zone is None:
            time = time.astimezone(UTC) + (EAST if way > 0 else -WEST)
        else:
            time = time.astimezone(zone)
            if time.replace(fold=0).utcoffset() != time.replace(fold=1).utcoffset():
                time += way * timedelta(hours=1)
        minute = time.replace(second=0, microsecond=0)
        if way > 0 and minute != time:
            minute += MINUTE
    except (OverflowError, ValueError):
        return ""
    return f"{minute.year:04d}-{minute:%m-%d %H:%M}"

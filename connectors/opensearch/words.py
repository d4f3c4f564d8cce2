"""A text that a person typed, into clauses that OpenSearch answers. Pure.

Only `match_phrase`, `simple_query_string` with nothing but its prefix operator, and `bool` around
them: no scripts, no regular expressions, no leading wildcards, whatever was typed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from connectors.text_query import WORD, Term, TextQuery
from copilot.values import Json, JsonObject

SPECIAL = re.compile(r'([\\+\-|"*()~])')
MAX_PREFIX = 200


@dataclass(frozen=True, slots=True)
class Searched:
    """A field that a text is looked for in. `exact` holds the same text with its punctuation."""

    name: str
    exact: str = ""


def text_clauses(
    query: TextQuery, searched: Sequence[Searched]
) -> tuple[list[JsonObject], list[JsonObject]]:
    """What must hold, and what must not."""
    wanted = [any_of(_term(term, searched) for term in group) for group in query.groups]
    wanted += [_exactly(text, searched) for text in query.bare]
    unwanted = [_term(term, searched) for term in query.excluded]
    return wanted, unwanted


def any_of(clauses: Iterable[JsonObject]) -> JsonObject:
    """A clause that holds where one of *clauses* does."""
    listed: list[Json] = list(clauses)
    if len(listed) == 1 and isinstance(listed[0], dict):
        return listed[0]
    return {"bool": {"should": listed, "minimum_should_match": 1}}


def all_of_clauses(clauses: Iterable[JsonObject]) -> JsonObject:
    """A clause that holds where all of *clauses* do."""
    listed: list[Json] = list(clauses)
    if len(listed) == 1 and isinstance(listed[0], dict):
        return listed[0]
    return {"bool": {"must": listed}}


def inexact(query: TextQuery, searched: Sequence[Searched]) -> tuple[str, ...]:
    """The terms whose punctuation the server cannot compare, because it keeps words only."""
    return () if all(field.exact for field in searched) else query.exact


def _term(term: Term, searched: Sequence[Searched]) -> JsonObject:
    if term.prefix:
        return _prefix(term, searched)
    if term.exact:
        return _exactly(term.text, searched)
    return any_of({"match_phrase": {field.name: term.text}} for field in searched)


def _exactly(text: str, searched: Sequence[Searched]) -> JsonObject:
    return any_of({"match_phrase": {field.exact or field.name: text}} for field in searched)


def _prefix(term: Term, searched: Sequence[Searched]) -> JsonObject:
    """The last word as a prefix; what stands before it, as a phrase."""
    *_, last = WORD.finditer(term.text)
    before = term.text[: last.start()]
    escaped = SPECIAL.sub(r"\\\1", last[0][:MAX_PREFIX])
    clauses: list[JsonObject] = []
    for field in searched:
        start: JsonObject = {
            "simple_query_string": {
                "query": f"{escaped}*", "fields": [field.name], "flags": "PREFIX"
            }
        }  # fmt: skip
        if not WORD.search(before):
            clauses.append(start)
            continue
        named = field.exact if term.exact and field.exact else field.name
        phrase: JsonObject = {"match_phrase": {named: before}}
        clauses.append(all_of_clauses((phrase, start)))
    return any_of(clauses)

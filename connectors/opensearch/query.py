"""Filters and a window, into the one query that says which entries are meant. Pure.

What can come out is listed here and nowhere else: `bool`, `match_phrase`, `term`, `terms` with a
list, `range`, `exists`, `simple_query_string` with its prefix operator. Every value is a value.
Beside it: `ids` in `around`, and `random_score` in `sample`.
"""

from dataclasses import dataclass, replace

from connectors.log_files.levels import LEVELS, TENS, WORDS
from connectors.logbook import Filters
from connectors.opensearch.layout import pair
from connectors.opensearch.schema import Schema
from connectors.opensearch.times import range_of
from connectors.opensearch.words import any_of, text_clauses
from connectors.text_query import TextQuery, parse
from copilot.errors import UsageError
from copilot.values import Json, JsonObject
from copilot.window import Window


@dataclass(frozen=True, slots=True)
class Query:
    """Which entries: all clauses of `wanted` and `scored` hold, none of `unwanted` does.

    `scored` are those of the text, which a ranked order is by.
    """

    wanted: tuple[JsonObject, ...] = ()
    scored: tuple[JsonObject, ...] = ()
    unwanted: tuple[JsonObject, ...] = ()
    notes: tuple[str, ...] = ()

    def also(self, *clauses: JsonObject) -> "Query":
        """The same entries, those that meet more clauses only."""
        return replace(self, wanted=(*self.wanted, *clauses))

    def but(self, *clauses: JsonObject) -> "Query":
        """The same entries, without those that meet one of *clauses*."""
        return replace(self, unwanted=(*self.unwanted, *clauses))

    def within(self, schema: Schema, window: Window) -> "Query":
        """The same entries, those of *window* only. An unbounded one holds the untimed too."""
        bounds = range_of(schema.time, window)
        return self.also(bounds) if bounds else self

    def timed(self, schema: Schema) -> "Query":
        """The same entries, those with a time only."""
        return self.also({"exists": {"field": schema.time.name}})

    def untimed(self, schema: Schema) -> "Query":
        """The same entries, those without a time only."""
        return self.but({"exists": {"field": schema.time.name}})

    def clause(self, *, ranked: bool = False) -> JsonObject:
        """The query as it is sent."""
        scored, filters = (
            (self.scored, self.wanted) if ranked else ((), (*self.scored, *self.wanted))
        )
        parts = {"must": scored, "filter": filters, "must_not": self.unwanted}
        bool_: JsonObject = {}
        for name, clauses in parts.items():
            listed: list[Json] = list(clauses)
            if listed:
                bool_[name] = listed
        return {"bool": bool_} if bool_ else {"match_all": {}}


def select(schema: Schema, filters: Filters) -> tuple[Query, TextQuery]:
    """The entries that match *filters* at any time, and the text query that was read from them."""
    text = parse(filters.text)
    scored, unwanted = text_clauses(text, schema.searched)
    query = Query(scored=tuple(scored), unwanted=tuple(unwanted))
    fields = dict(filters.fields)
    levels = [*filters.levels, *([fields.pop("level")] if "level" in fields else [])]
    sources = [*filters.sources, *([fields.pop("source")] if "source" in fields else [])]
    if levels:
        query = query.also(any_of(_level(schema, name) for name in levels))
    if sources:
        listed: list[Json] = list(sources)
        query = query.also({"terms": {schema.source: listed}})
    for name, value in fields.items():
        query = _with_field(schema, query, name, value)
    return query, text


def level_words(schema: Schema, level: str) -> list[Json]:
    """Every way in which an index may write that level."""
    if schema.own:
        return [level]
    tens: list[Json] = [word for word, meant in TENS.items() if meant == level]
    if schema.level_is_number:
        return tens
    words = [word for word, meant in WORDS.items() if meant == level]
    forms = sorted({form for word in words for form in (word, word.upper(), word.capitalize())})
    return [*forms, *tens]


def trouble(schema: Schema) -> JsonObject:
    """The clause of entries whose level is ERROR or FATAL."""
    if not schema.level:
        return {"bool": {"must_not": {"match_all": {}}}}
    return {"terms": {schema.level: [*level_words(schema, "ERROR"), *level_words(schema, "FATAL")]}}


def _level(schema: Schema, name: str) -> JsonObject:
    level = name.upper()
    if level not in LEVELS:
        raise UsageError(f"{name!r} is not a level; use one of {', '.join(LEVELS[1:])}")
    if not schema.level:
        raise UsageError(
            "the entries of this logbook have no field of levels; search for the word instead, or "
            "name the field with fields.level in copilot.yaml"
        )
    if level:
        return {"terms": {schema.level: level_words(schema, level)}}
    known = [word for one in LEVELS[1:] for word in level_words(schema, one)]
    return {"bool": {"must_not": {"terms": {schema.level: known}}}}


def _with_field(schema: Schema, query: Query, name: str, value: str) -> Query:
    if schema.own:
        return query.also({"term": {"pairs": pair(name, value)}})
    exact = schema.keywords.get(name)
    if exact:
        return query.also({"term": {exact: value}})
    if name in schema.texts:
        note = f"{name} is text without exact values: its words are compared, not the whole value"
        return replace(query.also({"match_phrase": {name: value}}), notes=(*query.notes, note))
    note = f"no index has a field {name} with exact values; logbook_fields lists those there are"
    return replace(query.also({"term": {name: value}}), notes=(*query.notes, note))

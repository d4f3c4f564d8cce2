"""Search: one page of entries, the count of all, and what the answer rests on."""

from dataclasses import dataclass, field, replace
from itertools import chain

from connectors.logbook import Count, Coverage, Entry, Filters, Found, Search
from connectors.opensearch.answers import Hit, together
from connectors.opensearch.cursor import Cursor, closed, opened
from connectors.opensearch.entries import Reading, searched_text
from connectors.opensearch.faults import RefusedError, UnansweredError
from connectors.opensearch.pages import Pages
from connectors.opensearch.query import Query, select
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.span import Direction, Span, page_body, span_bodies, span_of
from connectors.opensearch.words import inexact, text_clauses
from connectors.text_query import TextQuery, phrase
from copilot.values import Json, JsonObject
from copilot.window import ALWAYS, Window, iso

SCANNED = 20_000
"""Entries that a search within words looks at, the newest ones."""
MAX_LIMIT = 10_000


def search(searches: Searches, asked: Search) -> Found:
    """The page of entries that *asked* names. Raises UsageError for a cursor of another search."""
    query, text = select(searches.schema, asked.filters)
    return _answer(_Asked(searches, asked, text), query)


def trace(searches: Searches, identifier: str, window: Window, limit: int) -> Found:
    """Every entry that holds *identifier* whole, oldest first."""
    text = phrase(identifier)
    asked = Search(Filters(text=identifier), window, "oldest", limit)
    scored, _ = text_clauses(text, searches.schema.searched)
    return _answer(_Asked(searches, asked, text), Query(scored=tuple(scored)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A search with all that belongs to it."""

    searches: Searches
    search: Search
    text: TextQuery

    @property
    def schema(self) -> Schema:
        """What the entries look like."""
        return self.searches.schema

    @property
    def ranked(self) -> bool:
        """True when the best matches come first; without a text nothing is better."""
        return self.search.order == "ranked" and bool(self.text.groups or self.text.bare)

    @property
    def limit(self) -> int:
        """How many entries are given."""
        return max(0, min(self.search.limit, MAX_LIMIT))


def _answer(asked: _Asked, query: Query) -> Found:
    window, cursor = (
        asked.search.window,
        opened(asked.search, "ranked" if asked.ranked else "timed"),
    )
    try:
        first = _first(asked, query, cursor)
    except (RefusedError, UnansweredError) as error:
        return _later_half(asked, query, error)
    span = first.span
    if not span.total.value and not span.untimed and asked.text.groups and not asked.search.cursor:
        return _within_words(asked, span)
    why = together((span.why, first.pages.why))
    notes = list(query.notes)
    if why or not span.total.value:
        notes += asked.schema.notes
    if not span.total.value and window != ALWAYS and query.scored and not why:
        notes += _elsewhere(asked.searches, query)
    entries, cursor_text = _page(asked, query, first, cursor)
    found = Found(
        tuple(entries.kept),
        span.total,
        Coverage(together((why, first.pages.why)), span.untimed, tuple(notes)),
        span.first,
        span.last,
        cursor_text,
    )
    return _checked(entries, found)


@dataclass(frozen=True, slots=True)
class _First:
    """The first hits of a search, how its further ones are read, and how many there are."""

    hits: list[Hit]
    pages: Pages
    span: Span


@dataclass(slots=True)
class _Entries:
    """Entries as they are read; a hit is not kept, ten thousand of them are read for one search."""

    reading: Reading
    loose: tuple[str, ...]
    """What each entry must hold to the letter: the server compares words only."""
    kept: list[Entry] = field(default_factory=list)
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.kept) + self.dropped

    def take(self, hits: list[Hit]) -> None:
        """Read one page."""
        for hit in hits:
            entry = self.reading.entry(hit)
            if self.loose and not all(
                text.casefold() in searched_text(entry, hit) for text in self.loose
            ):
                self.dropped += 1
            else:
                self.kept.append(entry)


def _first(asked: _Asked, query: Query, cursor: Cursor) -> _First:
    """The first page and the span, in one request; a smaller page where it would be too large."""
    schema, window = asked.schema, asked.search.window
    pages = Pages(asked.searches, _body(asked, query, cursor), cursor.place)
    spans = span_bodies(schema, query, window)
    while True:
        request = {**pages.request(asked.limit), "track_total_hits": False}
        bodies = [request, *spans] if asked.limit else spans
        try:
            answers = asked.searches.many(bodies)
        except UnansweredError as error:
            pages.shrink(error)
            continue
        hits = pages.take(request, answers[0], asked.limit) if asked.limit else []
        return _First(hits, pages, span_of(schema, window, answers[-3:]))


def _body(asked: _Asked, query: Query, cursor: Cursor) -> JsonObject:
    schema = asked.schema
    inside = query.within(schema, asked.search.window)
    if cursor.part == "ranked":
        return page_body(schema, inside, "desc", ranked=True)
    order: Direction = "asc" if asked.search.order == "oldest" else "desc"
    if cursor.part == "untimed":
        sort: list[Json] = [*schema.order(order, timed=False)]
        return page_body(schema, query.untimed(schema), order) | {"sort": sort}
    if asked.search.window == ALWAYS:
        inside = query.timed(schema)
    return page_body(schema, inside, order)


def _page(asked: _Asked, query: Query, first: _First, cursor: Cursor) -> tuple[_Entries, str]:
    """The entries of the page, those without a time last, and the cursor for the next page."""
    limit, pages = asked.limit, first.pages
    entries = _Entries(Reading(asked.schema), inexact(asked.text, asked.schema.searched))
    if not limit:
        return entries, ""
    entries.take(first.hits)
    for hits in pages.each(limit - len(entries)):
        entries.take(hits)
    if pages.more:
        return entries, closed(asked.search, Cursor(cursor.part, pages.place))
    untimed = first.span.untimed if asked.search.window == ALWAYS else 0
    if cursor.part != "timed" or not untimed:
        return entries, ""
    rest = Pages(asked.searches, _body(asked, query, Cursor("untimed")))
    for hits in rest.each(limit - len(entries)):
        entries.take(hits)
    return entries, closed(asked.search, Cursor("untimed", rest.place)) if rest.more else ""


def _elsewhere(searches: Searches, query: Query) -> list[str]:
    """A note on matches outside the window, where there are none in it."""
    schema = searches.schema
    span = span_of(schema, Window(None, None), searches.many(span_bodies(schema, query, ALWAYS)))
    others = span.total.value - span.untimed
    if others <= 0 or not span.first or not span.last:
        return []
    return [
        f"{others} entries match outside the window, from {iso(span.first)} to {iso(span.last)}"
    ]


def _later_half(asked: _Asked, query: Query, error: RefusedError | UnansweredError) -> Found:
    """The answer for the later half of the window, once, where the whole was too much."""
    window = asked.search.window
    heavy = error.timed_out if isinstance(error, UnansweredError) else error.fault.heavy
    if not heavy or not window.start or not window.end or asked.search.cursor:
        raise error
    middle = window.start + (window.end - window.start) / 2
    half = replace(asked, search=replace(asked.search, window=Window(middle, window.end)))
    cursor = opened(half.search, "ranked" if half.ranked else "timed")
    first = _first(half, query, cursor)
    entries, _ = _page(half, query, first, cursor)
    span = first.span
    why = f"all of {window} was too much at once ({error}); only {half.search.window} was searched"
    found = Found(
        tuple(entries.kept),
        Count(span.total.value, "at_least"),
        Coverage(together((why, span.why, first.pages.why)), span.untimed),
        span.first,
        span.last,
        "",
    )
    return _checked(entries, found)


def _within_words(asked: _Asked, span: Span) -> Found:
    """What holds the terms inside longer words, among a bounded number of entries."""
    searches, schema, search_ = asked.searches, asked.schema, asked.search
    plain, _ = select(schema, replace(search_.filters, text=""))
    inside = plain.within(schema, search_.window)
    pages = Pages(searches, page_body(schema, inside, "desc"))
    reading = Reading(schema)
    found: list[Entry] = []
    for hit in chain.from_iterable(pages.each(SCANNED)):
        entry = reading.entry(hit)
        if _holds(asked.text, searched_text(entry, hit)):
            found.append(entry)
    why = f"only the newest {SCANNED} entries were searched inside words" if pages.more else ""
    held = "some hold" if found else "none holds"
    notes = [f"no entry holds the text as whole words; {held} it inside longer words"]
    if search_.window != ALWAYS and not found:
        every, _ = select(schema, search_.filters)
        notes += _elsewhere(searches, every)
    if search_.order == "oldest":
        found.reverse()
    times = [entry.time for entry in found if entry.time]
    whys = together((span.why, pages.why, why))
    return Found(
        tuple(found[: asked.limit]),
        Count(len(found), "at_least" if whys else "exact"),
        Coverage(whys, sum(not entry.time for entry in found), tuple(notes)),
        min(times, default=None),
        max(times, default=None),
        "",
    )


def _holds(text: TextQuery, held: str) -> bool:
    """True when each group has a term that stands anywhere in *held*, and no excluded one does."""
    wanted = all(any(part.casefold() in held for part in group) for group in text.parts)
    return wanted and not any(term.text.casefold() in held for term in text.excluded)


def _checked(entries: _Entries, found: Found) -> Found:
    """The page with its count, where some entries were left out as holding the words only."""
    if not entries.loose or not found.total.value:
        return found
    whole = len(entries) == found.total.value
    shown = ", ".join(repr(text) for text in entries.loose)
    note = (
        f"the index compares words only; {entries.dropped} entries of this page did not hold "
        f"{shown}"
    )
    total = (
        Count(found.total.value - entries.dropped, "exact")
        if whole
        else Count(found.total.value, "unknown")
    )
    coverage = replace(found.coverage, notes=(*found.coverage.notes, note))
    return replace(found, total=total, coverage=coverage)

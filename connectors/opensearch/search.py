"""Search: one page of entries, the count of all, and what the answer rests on."""

from dataclasses import dataclass, replace

from connectors.logbook import Count, Coverage, Entry, Filters, Found, Search
from connectors.opensearch.answers import Hit, together
from connectors.opensearch.cursor import Cursor, closed, opened
from connectors.opensearch.entries import Reading, searched_text
from connectors.opensearch.faults import RefusedError, UnansweredError
from connectors.opensearch.pages import START, Pages
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
        pages, span = _first(asked, query, cursor)
    except (RefusedError, UnansweredError) as error:
        return _later_half(asked, query, error)
    if not span.total.value and not span.untimed and asked.text.groups and not asked.search.cursor:
        return _within_words(asked, span)
    why = together((span.why, pages.why))
    notes = list(query.notes)
    if why or not span.total.value:
        notes += asked.schema.notes
    if not span.total.value and window != ALWAYS and query.scored and not why:
        notes += _elsewhere(asked.searches, query)
    hits, cursor_text = _page(asked, query, pages, cursor, span)
    reading = Reading(asked.schema)
    entries = tuple(reading.entry(hit) for hit in hits)
    found = Found(
        entries,
        span.total,
        Coverage(together((why, pages.why)), span.untimed, tuple(notes)),
        span.first,
        span.last,
        cursor_text,
    )
    return _checked(asked, found, hits)


def _first(asked: _Asked, query: Query, cursor: Cursor) -> tuple[Pages, Span]:
    """The first page and the span, in one request; a smaller page where it would be too large."""
    schema, window = asked.schema, asked.search.window
    pages = Pages(asked.searches, _body(asked, query, cursor), cursor.place)
    spans = span_bodies(schema, query, window)
    while True:
        request = {**pages.request(asked.limit + 1), "track_total_hits": False}
        bodies = [request, *spans] if asked.limit else spans
        try:
            answers = asked.searches.many(bodies)
        except UnansweredError as error:
            pages.shrink(error)
            continue
        if asked.limit:
            pages.take(request, answers[0])
        return pages, span_of(schema, window, answers[-3:])


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


def _page(
    asked: _Asked, query: Query, pages: Pages, cursor: Cursor, span: Span
) -> tuple[list[Hit], str]:
    """The hits of the page, those without a time last, and the cursor for the next page."""
    limit = asked.limit
    pages.read(limit + 1)
    if len(pages.hits) > limit:
        taken = pages.hits[:limit]
        place = cursor.place.beyond(taken)
        return taken, closed(asked.search, Cursor(cursor.part, place)) if limit else ""
    untimed = span.untimed if asked.search.window == ALWAYS else 0
    if cursor.part != "timed" or not untimed:
        return pages.hits, ""
    rest = Pages(asked.searches, _body(asked, query, Cursor("untimed")))
    wanted = limit - len(pages.hits)
    if not wanted:
        return pages.hits, closed(asked.search, Cursor("untimed"))
    rest.read(wanted + 1)
    taken = rest.hits[:wanted]
    more = len(rest.hits) > wanted
    next_cursor = Cursor("untimed", START.beyond(taken))
    return [*pages.hits, *taken], closed(asked.search, next_cursor) if more else ""


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
    pages, span = _first(half, query, cursor)
    hits, _ = _page(half, query, pages, cursor, span)
    why = f"all of {window} was too much at once ({error}); only {half.search.window} was searched"
    reading = Reading(asked.schema)
    return Found(
        tuple(reading.entry(hit) for hit in hits),
        Count(span.total.value, "at_least"),
        Coverage(together((why, span.why, pages.why)), span.untimed),
        span.first,
        span.last,
        "",
    )


def _within_words(asked: _Asked, span: Span) -> Found:
    """What holds the terms inside longer words, among a bounded number of entries."""
    searches, schema, search_ = asked.searches, asked.schema, asked.search
    plain, _ = select(schema, replace(search_.filters, text=""))
    inside = plain.within(schema, search_.window)
    pages = Pages(searches, page_body(schema, inside, "desc"))
    pages.read(SCANNED + 1)
    reading = Reading(schema)
    found: list[Entry] = []
    for hit in pages.hits[:SCANNED]:
        entry = reading.entry(hit)
        if _holds(asked.text, searched_text(entry, hit)):
            found.append(entry)
    bounded = len(pages.hits) > SCANNED
    why = f"only the newest {SCANNED} entries were searched inside words" if bounded else ""
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


def _checked(asked: _Asked, found: Found, hits: list[Hit]) -> Found:
    """The page without entries that hold the words only, where the server keeps no punctuation."""
    loose = inexact(asked.text, asked.schema.searched)
    if not loose or not found.total.value:
        return found
    kept = tuple(
        entry
        for entry, hit in zip(found.entries, hits, strict=True)
        if all(text.casefold() in searched_text(entry, hit) for text in loose)
    )
    dropped = len(found.entries) - len(kept)
    whole = len(found.entries) == found.total.value
    shown = ", ".join(repr(text) for text in loose)
    note = f"the index compares words only; {dropped} entries of this page did not hold {shown}"
    total = (
        Count(found.total.value - dropped, "exact")
        if whole
        else Count(found.total.value, "unknown")
    )
    coverage = replace(found.coverage, notes=(*found.coverage.notes, note))
    return replace(found, entries=kept, total=total, coverage=coverage)

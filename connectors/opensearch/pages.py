"""Hits in order, as many as wanted, however many share one instant.

`search_after` skips every hit that sorts like the last one given, and there is no tie-breaker that
is unique over shards and costs nothing: `_seq_no` repeats in each shard. So the last group of equal
hits of a page is never split: the next page begins with it again, and what was given is left out.
Source of the fault that this avoids: opensearch-project/opensearch-py#562.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from connectors.opensearch.answers import Answer, Hit, together
from connectors.opensearch.faults import UnansweredError
from connectors.opensearch.searches import UNREAD, Searches
from copilot.values import Json, JsonObject

LARGEST_PAGE = 10_000
"""More at once is refused by the server (max_result_window)."""
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on: after all that sorts like `after`, without what was given of the next group.

    Those of that group all sort like `at`; `given` holds their keys.
    """

    after: tuple[Json, ...] = ()
    at: tuple[Json, ...] = ()
    given: tuple[str, ...] = ()

    def beyond(self, taken: list[Hit]) -> "Place":
        """The place after *taken*, the next hits from here, in their order."""
        if not taken:
            return self
        last = taken[-1].order
        at = tuple(last)
        given = tuple(hit.key for hit in taken if hit.order == last)
        before = next((hit.order for hit in reversed(taken) if hit.order != last), None)
        if before is not None:
            return Place(tuple(before), at, given)
        if at == self.at:
            return Place(self.after, at, (*self.given, *given))
        return Place(self.at or self.after, at, given)


START = Place()


@dataclass(slots=True)
class Pages:
    """Reads one sorted search page by page, and keeps no page: there may be many.

    `body` has its query and its sort, but no size.
    """

    searches: Searches
    body: JsonObject
    place: Place = START
    size: int = PAGE
    """Of a page; at 0 it holds one hit, and does not look whether there are more."""
    more: bool = True
    """False once the last hit was given."""
    _whys: list[str] = field(default_factory=list)
    _bare: bool = False
    _full: int = field(init=False)
    """The size that pages have again where they were smaller for the sake of one entry."""

    def __post_init__(self) -> None:
        self._full = self.size

    def request(self, wanted: int) -> JsonObject:
        """The next search, for *wanted* more hits where one page may hold them."""
        spare = len(self.place.given) + 1
        size = min(min(wanted, self.size) + spare, LARGEST_PAGE)
        body: JsonObject = {**self.body, "size": size}
        if self.place.after:
            body["search_after"] = list(self.place.after)
        if self._bare:
            body["_source"] = self.searches.schema.bare
        return body

    def take(self, request: JsonObject, answer: Answer, wanted: int) -> list[Hit]:
        """The new hits of the answer to *request*, no more than *wanted*; the place is after them.

        `more` is then true exactly when there are further ones, or may be.
        """
        self._whys.append(answer.why_incomplete)
        self.more = answer.given == request["size"]
        given = frozenset(self.place.given)
        fresh = [hit for hit in answer.hits if not given or hit.key not in given]
        self.size = min(max(1, self.size * 2), max(self.size, self._full))
        if self._bare:
            self._bare = False
            fresh = [hit._replace(cut=True) for hit in fresh]
            self._whys.append(UNREAD)
        if self.more and not fresh:  # a page of one group, all of it given: look further at once
            self.size = min(self.size * 4, LARGEST_PAGE)
            if answer.given >= LARGEST_PAGE:
                self.more = False
                self._whys.append(f"over {LARGEST_PAGE} entries share one place in the order")
        self.more = self.more or len(fresh) > wanted
        taken = fresh[:wanted]
        self.place = self.place.beyond(taken)
        return taken

    def each(self, wanted: int) -> Iterator[list[Hit]]:
        """The next *wanted* hits, page by page; from the second page on, in one frozen view."""
        if self.more and wanted > 0:
            hits = self.attempt(wanted, self.searches.one)
            wanted -= len(hits)
            yield hits
            del hits  # a page is let go before the next one is read
        if not self.more or wanted <= 0:
            return
        with self.searches.point() as point:
            while self.more and wanted > 0:
                ask = partial(self.searches.within, point) if point else self.searches.one
                hits = self.attempt(wanted, ask)
                wanted -= len(hits)
                yield hits
                del hits

    def attempt(self, wanted: int, ask: Callable[[JsonObject], Answer]) -> list[Hit]:
        """One page by *ask*; none, and a smaller one next, where the answer would be too large."""
        request = {**self.request(wanted), "track_total_hits": False}
        try:
            answer = ask(request)
        except UnansweredError as error:
            self.shrink(error)
            return []
        return self.take(request, answer, wanted)

    def shrink(self, error: UnansweredError) -> None:
        """Make the next page smaller, or raise *error* where that would not help."""
        if not error.too_large or self._bare:
            raise error
        self._bare = not self.size
        self.size //= 8

    @property
    def why(self) -> str:
        """Why what was read is not all there is."""
        return together(self._whys)

"""Reads a list page by page, and stops when it ends, is enough, is too much or goes in circles."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from connectors.jira_tracker.api import Page
from connectors.jira_tracker.calls import JiraFault
from connectors.jira_tracker.replies import Json
from copilot.errors import UsageError

MOST_PAGES = 20
MOST_ITEMS = 500
"""Of one list, over all its pages."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a list was read: what was read of it so far, its last item, and how to go on."""

    pages: int = 0
    count: int = 0
    last: str = ""
    at: str = ""

    def text(self, search: str) -> str:
        """The place as one word that can be given back; *search* says of which search it is."""
        return f"{search}.{self.pages}.{self.count}.{self.last}.{self.at}"


def place_in(page: str, searches: tuple[str, ...]) -> tuple[int, Place]:
    """Which of the *searches* the page is of, and its place in it. Raises UsageError."""
    search, pages, count, last, at = (*page.split(".", 4), "", "", "", "", "")[:5]
    numbers = (pages, count)
    if search in searches and at and all(n.isascii() and n.isdecimal() for n in numbers):
        return searches.index(search), Place(int(pages[:9]), int(count[:9]), last, at)
    raise UsageError(f"{page[:80]!r} is no page of this search; give back the one it returned")


@dataclass(slots=True)
class Read:
    """What was read. `why_incomplete` is empty when the list ended or enough was read."""

    items: list[Json] = field(default_factory=list)
    place: Place = field(default_factory=Place)
    """How to go on; without `at` when the list ended, or cannot be gone on with."""
    total: int | None = None
    why_incomplete: str = ""


def read_pages(
    page_at: Callable[[str], Page],
    place: Place,
    is_enough: Callable[[list[Json]], bool],
    *,
    most: int = MOST_ITEMS,
) -> Read:
    """The items from *place* on, each once. *page_at* gives the page that its argument names.

    A page after the first that fails ends the reading, which may be gone on with. The first one
    raises JiraFault.
    """
    read = Read(place=place)
    known = {place.last} - {""}
    while True:
        try:
            page = page_at(read.place.at)
        except JiraFault as failure:
            if not read.items:
                raise
            read.why_incomplete = str(failure)
            return read
        fresh = [item for item in page.items if not _id(item) or _id(item) not in known]
        known |= {_id(item) for item in fresh}
        read.items += fresh
        read.total = page.total if page.total is not None else read.total
        before = read.place
        read.place = Place(
            before.pages + 1,
            before.count + len(fresh),
            _id(fresh[-1]) if fresh else before.last,
            page.next,
        )
        if page.items and not fresh:
            why = "the same page came again"
        elif page.next and page.next == before.at:
            why = "Jira gave the same page token again"
        elif page.next:
            why = _too_much(read.place, most)
            if not why:
                if is_enough(read.items):
                    return read
                continue
        else:
            why = page.doubt or _fewer(read)
        read.why_incomplete = why
        read.place = replace(read.place, at="")
        return read


def _too_much(place: Place, most: int) -> str:
    if place.count < most and place.pages < MOST_PAGES:
        return ""
    return f"truncated: stopped after {place.count} in {place.pages} pages"


def _fewer(read: Read) -> str:
    """Why a list that ended is not whole: its total says more than what came."""
    if read.total is None or read.place.count >= read.total:
        return ""
    return f"only {read.place.count} of {read.total} came, and no way to the others"


def _id(item: Json) -> str:
    """What tells an item from the others of its list."""
    return str(item.get("id") or item.get("key") or "")

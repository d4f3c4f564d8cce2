"""Where the next page of a search starts, as a text that only fits the search it came from."""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Literal

from connectors.logbook import Search
from connectors.opensearch.pages import START, Place
from copilot.errors import UsageError

Part = Literal["timed", "untimed", "ranked"]
PARTS: tuple[Part, ...] = ("timed", "untimed", "ranked")
LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in one part of a search: those with a time come first, those without after them."""

    part: Part
    place: Place = START


def closed(asked: Search, cursor: Cursor) -> str:
    """The text of *cursor*."""
    place = cursor.place
    value = [cursor.part, list(place.after), list(place.at), list(place.given)]
    text = json.dumps(value, separators=(",", ":"))
    return f"{urlsafe_b64encode(text.encode()).decode().rstrip('=')}.{_fingerprint(asked)}"


def opened(asked: Search, first: Part) -> Cursor:
    """The cursor of *asked*; at the start of part *first* where it has none. Raises UsageError."""
    if not asked.cursor:
        return Cursor(first)
    text, _, fingerprint = asked.cursor.rpartition(".")
    try:
        raw = urlsafe_b64decode(text[:LONGEST] + "=" * (-len(text) % 4))
        part, after, at, given = json.loads(raw)
        place = Place(tuple(after), tuple(at), tuple(str(key) for key in given))
    except (ValueError, TypeError, RecursionError):
        fingerprint = ""
    if fingerprint != _fingerprint(asked) or part not in PARTS:
        raise UsageError(
            "the cursor belongs to another search; repeat the search it came from, with the same "
            "query, window, filters and order, or leave the cursor out"
        )
    return Cursor(part, place)


def _fingerprint(asked: Search) -> str:
    filters = asked.filters
    text = json.dumps(
        [filters.levels, filters.sources, sorted(filters.fields.items()), filters.text,
         str(asked.window), asked.order]
    )  # fmt: skip
    return hashlib.sha256(text.encode()).hexdigest()[:12]

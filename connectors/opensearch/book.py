"""The OpenSearch logbook: the same questions as every logbook, answered by a server."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock

from connectors.log_files.batch import Imported, Refused, files_of, source_name
from connectors.log_files.reader import AS_UTC
from connectors.logbook import (
    Fields,
    Filters,
    Found,
    Latest,
    LatestPage,
    Overview,
    Patterns,
    Search,
)
from connectors.opensearch import context as contexts
from connectors.opensearch import fields as fielded
from connectors.opensearch import latest as lately
from connectors.opensearch import overview as overviews
from connectors.opensearch import patterns as mined
from connectors.opensearch import search as searching
from connectors.opensearch.caller import Caller, Pace, Sender
from connectors.opensearch.faults import RefusedError
from connectors.opensearch.importer import Importer
from connectors.opensearch.replies import Ask
from connectors.opensearch.schema import Schema, read_schema, told_schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.site import Site
from connectors.templates import DEFAULT_MASKS
from copilot.errors import ImportRefusedError
from copilot.values import list_at, text_at
from copilot.window import Window

SCHEMA_S = 300.0
"""How long a list of fields is believed."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Outside:
    """What a logbook takes from the world: a pace, the time, and a sender that is not the door."""

    pace: Pace = field(default_factory=lambda: Pace(time.monotonic, time.sleep, random.random))
    now: Callable[[], datetime] = _now
    sender: Sender | None = None


class OpenSearchLogbook:
    """A logbook in the indices of *site*. Threads may share one.

    *masks* name the values that do not tell messages apart, see `connectors.templates`.
    """

    def __init__(
        self,
        site: Site,
        *,
        name: str,
        masks: Sequence[tuple[str, str]] = DEFAULT_MASKS,
        outside: Outside | None = None,
    ) -> None:
        outside = outside or Outside()
        self.name = name
        self.site = site
        self.caller = Caller(name, site, outside.sender or _door(site, outside.now), outside.pace)
        self._masks = tuple(masks)
        self._assumed = AS_UTC
        self._clock = outside.pace.clock
        self._known: tuple[float, Schema] | None = None
        self._lock = Lock()

    def schema(self) -> Schema:
        """What the entries look like, asked of the server every few minutes."""
        with self._lock:
            now = self._clock()
            if self._known is None or now - self._known[0] > SCHEMA_S:
                self._known = (now, self._read_schema())
            return self._known[1]

    def forget(self) -> None:
        """Ask the server anew what the entries look like, at the next question."""
        with self._lock:
            self._known = None

    def fields(self) -> Fields:
        """The fields that filters may use, with sample values."""
        return fielded.fields(self._searches())

    def search(self, search: Search) -> Found:
        """The matching entries of one page. Raises UsageError for a cursor of another search."""
        return searching.search(self._searches(), search)

    def overview(self, window: Window, filters: Filters, bucket: timedelta | None) -> Overview:
        """Counts over time, levels, sources and top templates."""
        return overviews.overview(self._searches(), window, filters, bucket, self._masks)

    def patterns(self, window: Window, baseline: Window | None, filters: Filters) -> Patterns:
        """What rose in *window* against *baseline*, and what vanished."""
        return mined.patterns(self._searches(), window, baseline, filters, self._masks)

    def context(self, source: str, line: int, before: int, after: int) -> Found:
        """The entries around that line of that source. Raises NotFoundError for no such source."""
        return contexts.context(self._searches(), source, line, before, after)

    def trace(self, identifier: str, window: Window, limit: int) -> Found:
        """Every entry that holds *identifier* whole, oldest first, over all sources."""
        return searching.trace(self._searches(), identifier, window, limit)

    def latest(self, asked: Latest) -> LatestPage:
        """One page of the last entries of each value of a field."""
        return lately.latest(self._searches(), asked)

    def import_file(self, path: Path, source: str) -> Imported:
        """Import one file under the name *source*, in place of what that name held before.

        Raises ImportRefusedError, or ConnectorError when the server does not take it.
        """
        done = Importer(self.caller, self._assumed).import_file(path, source)
        self.forget()
        return done

    def import_files(self, paths: Sequence[Path], root: Path) -> Iterator[Imported | Refused]:
        """What became of each file, in order; see `importer`. Folders stand for their files.

        Raises ConnectorError when the server does not take them.
        """
        importer = Importer(self.caller, self._assumed)
        for path in files_of(paths):
            source = source_name(path, root)
            try:
                yield importer.import_file(path, source)
            except ImportRefusedError as error:
                yield Refused(source, str(error))
        self.forget()

    def _searches(self) -> Searches:
        return Searches(self.caller, self.schema())

    def _read_schema(self) -> Schema:
        site = self.site
        if site.msearch_only:
            return told_schema(site, self.name)
        params = {"fields": "*", "include_unmapped": "true", "ignore_unavailable": "false"}
        caps = self.caller.ask(
            Ask("GET", f"{site.path}/_field_caps", "list the fields", None, params)
        )
        return read_schema(caps, site, self.name, self._closed())

    def _closed(self) -> tuple[str, ...]:
        """The closed indices among the configured ones, where the account may know of them."""
        ask = Ask("GET", f"_resolve/index/{self.site.path}", "list the indices", None,
                  {"expand_wildcards": "all"})  # fmt: skip
        try:
            listed = list_at(self.caller.ask(ask), "indices")
        except RefusedError:
            return ()
        return tuple(
            text_at(index, "name") for index in listed if "closed" in list_at(index, "attributes")
        )


def _door(site: Site, now: Callable[[], datetime]) -> Sender:
    """The door to opensearch-py, which is imported by the first logbook that needs it."""
    from connectors.opensearch.door import Door

    return Door(site, now)

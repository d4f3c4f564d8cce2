"""The embedded logbook: log files imported into one SQLite file, no server."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from connectors.embedded_logbook import context as contexts
from connectors.embedded_logbook import latest as last
from connectors.embedded_logbook import patterns as mined
from connectors.embedded_logbook import search as searching
from connectors.embedded_logbook import statistics
from connectors.embedded_logbook.imports import forget, import_log, sources_of
from connectors.embedded_logbook.store import reading, transaction, writing
from connectors.log_files.batch import Imported, Refused, files_of, source_name
from connectors.log_files.reader import AS_UTC, Assumptions
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
from connectors.templates import DEFAULT_MASKS
from copilot.errors import ImportRefusedError
from copilot.window import Window


class EmbeddedLogbook:
    """A logbook in the file at *path*. Every read opens it anew, read-only: threads may share one.

    *masks* name the values that do not tell messages apart, see `connectors.templates`;
    *assumed* says what to take for granted in an import.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str = "local",
        masks: Sequence[tuple[str, str]] = DEFAULT_MASKS,
        assumed: Assumptions = AS_UTC,
    ) -> None:
        self.path = path
        self.name = name
        self._masks = tuple(masks)
        self._assumed = assumed

    def import_file(self, path: Path, source: str) -> Imported:
        """Import one file under the name *source*, in place of what that name held before.

        Raises ImportRefusedError, and then the logbook is as it was.
        """
        with writing(self.path) as book:
            return import_log(book, path, source, self._assumed)

    def import_files(self, paths: Sequence[Path], root: Path) -> Iterator[Imported | Refused]:
        """What became of each file, in order; folders stand for the files in them.

        A source is named by its path below *root*, or by its file name where it lies elsewhere.
        Links and hidden files inside folders are not followed.
        """
        with writing(self.path) as book:
            for path in files_of(paths):
                source = source_name(path, root)
                try:
                    yield import_log(book, path, source, self._assumed)
                except ImportRefusedError as error:
                    yield Refused(source, str(error))

    def remove(self, source: str) -> None:
        """Forget everything that was imported as *source*."""
        with writing(self.path) as book, transaction(book):
            forget(book, source)

    def sources(self) -> tuple[Imported, ...]:
        """What was imported, by name."""
        with reading(self.path) as book:
            return tuple(sources_of(book))

    def fields(self) -> Fields:
        """The fields that filters may use, with sample values."""
        with reading(self.path) as book:
            return statistics.fields(book)

    def search(self, search: Search) -> Found:
        """The matching entries of one page. Raises UsageError for a cursor of another search."""
        with reading(self.path) as book:
            return searching.search(book, search)

    def overview(self, window: Window, filters: Filters, bucket: timedelta | None) -> Overview:
        """Counts over time, levels, sources and top templates."""
        with reading(self.path) as book:
            return statistics.overview(book, window, filters, bucket, self._masks)

    def patterns(self, window: Window, baseline: Window | None, filters: Filters) -> Patterns:
        """What rose in *window* against *baseline*, and what vanished."""
        with reading(self.path) as book:
            return mined.patterns(book, window, baseline, filters, self._masks)

    def context(self, source: str, line: int, before: int, after: int) -> Found:
        """The entries around that line of that source. Raises NotFoundError for no such source."""
        with reading(self.path) as book:
            return contexts.context(book, source, line, before, after)

    def trace(self, identifier: str, window: Window, limit: int) -> Found:
        """Every entry that holds *identifier* whole, oldest first, over all sources."""
        with reading(self.path) as book:
            return searching.trace(book, identifier, window, limit)

    def latest(self, asked: Latest) -> LatestPage:
        """One page of the last entries of each value of a field; see the protocol."""
        with reading(self.path) as book:
            return last.latest(book, asked)

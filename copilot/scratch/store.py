"""The offloaded results of one incident: put once, read in bounded parts, found by handle.

A result is a file of JSON lines and beside it a small file that says which call it answers. Both
names hold a handle and a hash, never a word of the model's. The same content for the same call has
the same handle for ever, so a step that is done twice changes nothing.

Threads may share a Scratch. Who wants the same handles from every run puts in call order.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from copilot.errors import ScratchError
from copilot.scratch import folder as disk
from copilot.scratch.catalogue import Catalogue, current, replace_mark
from copilot.scratch.entries import Stored, key_of, keys_in, read_entry, write_entry
from copilot.scratch.handles import handle_of, number_of
from copilot.scratch.reading import Content, Slice, Span, no_line, signature, slice_of, verified
from copilot.scratch.rows import Written, decode, write_rows
from copilot.values import Json, JsonObject

REMEMBERED = 32
"""How many results' line offsets are kept at hand."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be kept, in bytes of stored rows."""

    incident_bytes: int = 256 << 20
    total_bytes: int = 4 << 30


class Scratch:
    """The results of *incident* below *root*. Makes nothing on disk before the first put."""

    def __init__(
        self,
        root: Path,
        incident: str,
        *,
        limits: Limits | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.root = root
        self.incident = incident
        self.monotonic = monotonic
        self.one_query = threading.Lock()
        self._limits = limits or Limits()
        self._others_bytes: int | None = None
        self._catalogue: Catalogue | None = None
        self._entries: dict[str, Stored] = {}
        self._contents: dict[str, Content] = {}
        self._guard = threading.Lock()

    def put(
        self, rows: Iterable[Mapping[str, Json]], *, tool: str, arguments: Mapping[str, Json]
    ) -> Stored:
        """Keep *rows* as the answer of that call and say under which handle.

        On disk and synced when this returns. Raises ScratchError, and then nothing was kept.
        """
        try:
            with disk.opened(self.root, self.incident, create=True) as folder:
                return self._put(folder, rows, tool, dict(arguments))
        except OSError as error:
            raise ScratchError(
                f"the result of {tool} could not be kept in {self.root / self.incident} "
                f"({error.strerror}); make room or mend the folder, then call again"
            ) from error

    def handles(self) -> tuple[str, ...]:
        """Every handle of the incident in order, those of swept results included."""
        try:
            with disk.opened(self.root, self.incident, create=False) as folder:
                return tuple(keys_in(folder))
        except FileNotFoundError:
            return ()

    def stored(self, handle: str) -> Stored:
        """What is known of that result, even when its rows were swept. Raises ScratchError."""
        with self._folder(handle) as folder:
            return self._entry(folder, handle)

    def read(self, handle: str, span: Span, *, budget_bytes: int) -> Slice:
        """The part of a result that *span* names, never more than *budget_bytes* of text.

        Raises ScratchError when it was swept or damaged; the text says to search again.
        """
        with self._opened(handle) as (descriptor, content):
            return slice_of(handle, content, descriptor, span, budget_bytes)

    def line(self, handle: str, number: int) -> str:
        """That line as it is stored: one row of JSON. Raises ScratchError when it is not there."""
        with self._opened(handle) as (descriptor, content):
            if not 1 <= number <= content.lines:
                raise ScratchError(no_line(handle, number, content.lines))
            return content.line(descriptor, number).decode()

    def row(self, handle: str, number: int) -> JsonObject:
        """That line as the row that was put. Raises as `line`."""
        return decode(self.line(handle, number))

    def lines(self, handle: str) -> Iterator[str]:
        """Every line of a result, in order. Raises as `line`."""
        with self._opened(handle) as (descriptor, content):
            for number in range(1, content.lines + 1):
                yield content.line(descriptor, number).decode()

    def _put(
        self, folder: int, rows: Iterable[Mapping[str, Json]], tool: str, arguments: JsonObject
    ) -> Stored:
        with disk.draft(folder) as (descriptor, temporary):
            written = write_rows(descriptor, rows, self._limits.incident_bytes)
            key = key_of(tool, arguments, written.sha256)
            with disk.locked(folder) as lock:
                catalogue = current(folder, lock, self._catalogue)
                handle = self._handle_for(catalogue, key, written)
                file = f"{handle}-{key}{disk.ROWS}"
                stored = Stored(
                    handle, **asdict(written), tool=tool, arguments=arguments, file=file
                )
                catalogue.mark = replace_mark(lock)
                # Put again, the rows replace themselves: that mends what was swept or damaged.
                os.rename(temporary, file, src_dir_fd=folder, dst_dir_fd=folder)
                write_entry(folder, stored)
                os.fsync(folder)
                self._remember(catalogue, key, stored)
        return stored

    def _handle_for(self, catalogue: Catalogue, key: str, written: Written) -> str:
        """The handle that this call and content have already, else the next one if it fits."""
        if key in catalogue.handles:
            return catalogue.handles[key]
        kept = catalogue.bytes
        self._check(kept, written.bytes, self._limits.incident_bytes, "this incident's")
        if self._others_bytes is None:
            self._others_bytes = disk.size_of_all(self.root) - kept
        total = self._others_bytes + kept
        self._check(total, written.bytes, self._limits.total_bytes, "the workspace's")
        return handle_of(catalogue.last + 1)

    def _remember(self, catalogue: Catalogue, key: str, stored: Stored) -> None:
        if key not in catalogue.handles:
            catalogue.handles[key] = stored.handle
            catalogue.last += 1
            catalogue.bytes += stored.bytes
        self._catalogue = catalogue
        self._entries[stored.handle] = stored

    def _check(self, kept: int, more: int, limit: int, whose: str) -> None:
        if kept + more > limit:
            raise ScratchError(
                f"{whose} scratch is full: {kept:,} of {limit:,} bytes are used and {more:,} more "
                "are needed; search more narrowly, or let a person run `copilot scratch gc`"
            )

    @contextmanager
    def _folder(self, handle: str) -> Iterator[int]:
        if not number_of(handle):
            raise ScratchError(f"{handle[:40]!r} is no handle; they look like R0007")
        try:
            with disk.opened(self.root, self.incident, create=False) as folder:
                yield folder
        except FileNotFoundError:
            raise ScratchError(f"there is no result {handle}: nothing is stored yet") from None

    @contextmanager
    def _opened(self, handle: str) -> Iterator[tuple[int, Content]]:
        """The verified file of *handle*, open while the caller reads from it."""
        with self._folder(handle) as folder:
            stored = self._entry(folder, handle)
            try:
                descriptor = disk.open_file(folder, stored.file)
            except FileNotFoundError:
                raise ScratchError(
                    f"the rows of {handle} were swept; search again: {stored.call}"
                ) from None
        try:
            content = self._content(stored, descriptor)
            if content is None:
                raise ScratchError(f"the rows of {handle} are damaged; search again: {stored.call}")
            yield descriptor, content
        finally:
            os.close(descriptor)

    def _entry(self, folder: int, handle: str) -> Stored:
        """The entry of *handle*, read once: it never changes."""
        if handle not in self._entries:
            self._entries[handle] = read_entry(folder, handle)
        return self._entries[handle]

    def _content(self, stored: Stored, descriptor: int) -> Content | None:
        with self._guard:
            known = self._contents.get(stored.handle)
        if known and known.signature == signature(descriptor):
            return known
        content = verified(descriptor, stored.sha256)
        if content:
            with self._guard:
                self._contents[stored.handle] = content
                while len(self._contents) > REMEMBERED:
                    del self._contents[next(iter(self._contents))]
        return content

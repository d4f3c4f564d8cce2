"""One file into records: decides what the file is, and counts what had to be assumed."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import chain
from pathlib import Path

from connectors.log_files.documents import MAX_DOCUMENT, document_records, slices
from connectors.log_files.json_values import parsed_object
from connectors.log_files.lines import Line, decoded, read_lines
from connectors.log_files.opening import Opened, open_log
from connectors.log_files.record import Flags, Record
from connectors.log_files.tables import DELIMITERS, table_of, table_records
from connectors.log_files.text import text_records
from connectors.timestamps import Clock


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What to take for granted where a file does not say.

    *zone* holds for times without one; *year* for dates without one, else the file's own date.
    """

    zone: tzinfo = UTC
    year: int | None = None


AS_UTC = Assumptions()


@contextmanager
def read_log(path: Path, assumed: Assumptions, flags: Flags) -> Iterator[Iterator[Record]]:
    """The records of the file at *path*, in file order; *flags* is counted up while they are read.

    Raises ImportRefusedError, at once or while the records are read.
    """
    with open_log(path) as opened:
        written = opened.written
        if assumed.year:
            written = datetime(assumed.year, 12, 31, 23, 59, 59, tzinfo=UTC)
        sample = opened.sample.decode(errors="replace")
        clock = Clock(written, zone=assumed.zone, sample=sample)
        yield _counted(_records(path, opened, clock, flags), clock, flags)


def _counted(records: Iterable[Record], clock: Clock, flags: Flags) -> Iterator[Record]:
    yield from records
    counts = (clock.no_zone, clock.guessed_year, clock.unbelievable)
    for name, count in zip(("no_zone", "guessed_year", "unbelievable_time"), counts, strict=True):
        flags[name] += count  # type: ignore[index] # the three names are flags


def _records(path: Path, opened: Opened, clock: Clock, flags: Flags) -> Iterator[Record]:
    if _may_be_document(opened.sample):
        raw = opened.stream.read(MAX_DOCUMENT + 1)
        opened.stream.seek(0)
        if len(raw) > MAX_DOCUMENT:
            flags["json_too_large"] += 1
        else:
            trial = Flags()
            text = decoded(raw.removeprefix(b"\xef\xbb\xbf"), trial)
            found = slices(text)
            if found:
                flags.update(trial)
                yield from document_records(text, found, clock, flags)
                return
            if _suffix(path) == ".json":
                flags["unparsed_json"] += 1
    lines = read_lines(opened.stream, flags)
    first = next(lines, None)
    if first is None:
        return
    delimiter = DELIMITERS.get(_suffix(path))
    table = table_of(first.text, delimiter) if delimiter else None
    every: Iterator[Line] = chain((first,), lines)
    if table:
        yield from table_records(every, table, clock, flags)
    else:
        yield from text_records(every, clock, flags)


def _may_be_document(sample: bytes) -> bool:
    """True when a file begins like a JSON document that is more than one object a line."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if not start.startswith((b"{", b"[")):
        return False
    first_line = start.partition(b"\n")[0].decode(errors="replace")
    return start.startswith(b"[") or parsed_object(first_line) is None


def _suffix(path: Path) -> str:
    """The suffix that tells the shape, in lower case: that of `a.csv.gz` is `.csv`."""
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return bare.suffix.lower()

"""A file that is JSON as a whole: an array of records, one object, or several in a row.

The text of each record is its own slice of the file, so that its lines can be found there.
"""

from collections.abc import Iterator
from typing import NamedTuple

from connectors.log_files.json_values import DECODER, Facts, facts_of
from connectors.log_files.record import Flags, Record, pieces
from connectors.timestamps import Clock

MAX_DOCUMENT = 32 << 20
"""Bytes of a document that is parsed as a whole; a larger file is read as lines of text."""
BLANKS = " \t\r\n"


class Slice(NamedTuple):
    """Where the text of one record stands in the document."""

    start: int
    end: int


def slices(text: str) -> list[Slice] | None:
    """The records of a JSON document, or None when *text* is not one.

    The elements of an array that holds at least one object or list are its records. The values
    themselves are dropped at once: all of them together may need ten times the space of the text.
    """
    try:
        found = list(_values(text, _skip(text, 0)))
        if len(found) == 1 and text[found[0].start] == "[":
            elements = _elements(text, found[0].start + 1)
            return elements if any(text[start] in "[{" for start, _ in elements) else found
    except (ValueError, RecursionError):
        return None
    return found


def document_records(text: str, found: list[Slice], clock: Clock, flags: Flags) -> Iterator[Record]:
    """One record for each slice, cut further where it is too long; all lines accounted."""
    total = text.count("\n") + (not text.endswith("\n"))
    single = len(found) == 1 and text[found[0].start] == "{"
    accounted, line, counted = 0, 1, 0
    for index, (start, end) in enumerate(found):
        line += text.count("\n", counted, start)
        counted = start
        facts = _facts(text, start, clock)
        parts = list(pieces(text[start:end]))
        flags["cut_entry"] += len(parts) - 1
        for newlines, piece in parts:
            last = line + newlines + piece.count("\n")
            if index == len(found) - 1 and piece is parts[-1][1]:
                last = total
            yield Record(
                line=line + newlines,
                lines=last - accounted,
                time=facts.micros,
                time_flag="none" if facts.micros is None else "own",
                level=facts.level,
                message=piece,
                fields=facts.fields,
                record=None if single else index,
            )
            accounted = last


def _values(text: str, place: int) -> Iterator[Slice]:
    """The objects and arrays that stand in a row. Raises ValueError for anything else."""
    while place < len(text):
        if text[place] not in "[{":
            raise ValueError("not a record")
        _, end = DECODER.raw_decode(text, place)
        yield Slice(place, end)
        place = _skip(text, end)


def _elements(text: str, place: int) -> list[Slice]:
    """The elements of a valid array whose bracket stands just before *place*."""
    found: list[Slice] = []
    place = _skip(text, place)
    while text[place] != "]":
        _, end = DECODER.raw_decode(text, place)
        found.append(Slice(place, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found


def _facts(text: str, start: int, clock: Clock) -> Facts:
    value, _ = DECODER.raw_decode(text, start)
    return facts_of(value, clock) if isinstance(value, dict) else Facts(None, "", ())


def _skip(text: str, place: int) -> int:
    """The first place from *place* on that holds no blank."""
    while place < len(text) and text[place] in BLANKS:
        place += 1
    return place

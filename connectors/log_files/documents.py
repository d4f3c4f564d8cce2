"""A file that is JSON as a whole: an array of records, one object, or several in a row.

The text of each record is its own slice of the file, so that its lines can be found there.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from connectors.log_files.json_values import DECODER, Facts, facts_of
from connectors.log_files.record import Flags, Record, pieces
from connectors.timestamps import Clock

MAX_DOCUMENT = 64 << 20
"""Bytes of a document that is parsed as a whole; a larger file is read as lines of text."""
BLANKS = " \t\r\n"


class Slice(NamedTuple):
    """One value of the document and where its text stands."""

    value: object
    start: int
    end: int


def slices(text: str) -> list[Slice] | None:
    """The records of a JSON document, or None when *text* is not one.

    The elements of an array that holds at least one object or list are its records.
    """
    found: list[Slice] = []
    try:
        place = _skip(text, 0)
        while place < len(text):
            value, end = DECODER.raw_decode(text, place)
            if not isinstance(value, dict | list):
                return None
            found.append(Slice(value, place, end))
            place = _skip(text, end)
        if len(found) == 1 and isinstance(found[0].value, list):
            return _elements(text, found[0].start) or found
    except (ValueError, RecursionError):
        return None
    return found


def document_records(text: str, found: list[Slice], clock: Clock, flags: Flags) -> Iterator[Record]:
    """One record for each slice, cut further where it is too long; all lines accounted."""
    accounted, total = 0, text.count("\n") + (not text.endswith("\n"))
    line, counted = 1, 0
    single = len(found) == 1 and isinstance(found[0].value, dict)
    for index, (value, start, end) in enumerate(found):
        line += text.count("\n", counted, start)
        counted = start
        facts = facts_of(value, clock) if isinstance(value, Mapping) else Facts(None, "", ())
        parts = list(pieces(text[start:end]))
        flags["cut_entry"] += len(parts) - 1
        for place, (newlines, piece) in enumerate(parts):
            first = line + newlines
            last_part = place == len(parts) - 1
            last = first + piece.count("\n")
            if last_part and index == len(found) - 1:
                last = total
            yield Record(
                line=first,
                lines=last - accounted,
                time=facts.micros,
                time_flag="none" if facts.micros is None else "own",
                level=facts.level,
                message=piece,
                fields=facts.fields,
                record=None if single else index,
            )
            accounted = last


def _elements(text: str, start: int) -> list[Slice]:
    """The elements of the array that starts there; none when it holds only plain values."""
    found: list[Slice] = []
    place = _skip(text, start + 1)
    while text[place] != "]":
        value, end = DECODER.raw_decode(text, place)
        found.append(Slice(value, place, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found if any(isinstance(item.value, dict | list) for item in found) else []


def _skip(text: str, place: int) -> int:
    """The first place from *place* on that holds no blank."""
    while place < len(text) and text[place] in BLANKS:
        place += 1
    return place

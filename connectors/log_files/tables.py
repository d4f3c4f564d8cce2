"""Comma- or tab-separated tables with a header line, one record for each row.

Where a column holds the message, the message is that column's value and the other columns are
fields; such a message is not the source's own text (`verbatim` is False) and stands on the row's
first line. Without such a column the message is the row as it stands in the file.
"""

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from connectors.log_files.heads import head_fields
from connectors.log_files.json_values import parsed_object, scalar, time_in
from connectors.log_files.levels import find_level, level_of_word
from connectors.log_files.lines import Line
from connectors.log_files.naming import (
    LEVEL_NAMES,
    MESSAGES,
    TIMES,
    fields_of,
    first_named,
    plain,
)
from connectors.log_files.record import MAX_LINES, MAX_MESSAGE, Flags, Record, pieces
from connectors.timestamps import Clock

DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of one file, and which of them hold the message and the level."""

    header: tuple[str, ...]
    delimiter: str
    by_plain: Mapping[str, str]
    message: str | None
    level: str | None


def table_of(first_line: str, delimiter: str) -> Table | None:
    """The table that *first_line* heads: two or more names, all different, none a number."""
    header = tuple(name.strip() for name in _cells(first_line, delimiter) or ())
    by_plain = {plain(name): name for name in header}
    if len(header) < 2 or len(by_plain) < len(header):
        return None
    if any(not name or name.isdigit() for name in by_plain):
        return None
    message, level = first_named(by_plain, MESSAGES), first_named(by_plain, LEVEL_NAMES)
    return Table(header, delimiter, by_plain, message, level)


def table_records(
    lines: Iterable[Line], table: Table, clock: Clock, flags: Flags
) -> Iterator[Record]:
    """The records of a file whose first line is the table's header."""
    held: Record | None = None  # kept back, since blank lines below belong to it
    accounted = 0
    row: list[Line] = []
    header = ""
    for row in _rows(lines):
        if row[0].number == 1 and not row[0].rest:
            header = row[0].text
        elif len(row) == 1 and not row[0].text.strip():
            if held:
                held = held._replace(lines=held.lines + 1)
                accounted = row[0].number
        else:
            if held:
                yield held
            *cut, held = _cut(_record(row, table, clock, flags), flags)
            yield from cut
            held = held._replace(lines=row[-1].number - accounted)
            accounted = row[-1].number
    if row:
        yield held or Record(1, row[-1].number, None, "none", "", header)


def _rows(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The physical lines of each row. A quote that is never closed costs its own line only."""
    source, again = iter(lines), deque[Line]()
    row: list[Line] = []
    quotes = size = 0
    while True:
        line = again.popleft() if again else next(source, None)
        if line is not None:
            row.append(line)
            quotes += line.text.count('"')
            size += len(line.text)
        ended = line is None or len(row) > MAX_LINES or size > MAX_MESSAGE
        if row and quotes % 2 and ended:
            again.extendleft(reversed(row[1:]))
            del row[1:]
        if row and (ended or quotes % 2 == 0):
            yield row
            row, quotes, size = [], 0, 0
        if line is None and not again:
            return


def _record(row: list[Line], table: Table, clock: Clock, flags: Flags) -> Record:
    """The record of one row; `lines` is the caller's to say."""
    raw = "\n".join(line.text for line in row)
    cells = None if row[0].rest else _cells(raw, table.delimiter)
    if cells is None:
        flags["unparsed_csv"] += 1
        return Record(row[0].number, 0, None, "none", "", raw)
    if len(cells) != len(table.header):
        flags["ragged_row"] += 1
    values = dict(zip(table.header, cells, strict=False))
    for place, cell in enumerate(cells[len(table.header) :], len(table.header) + 1):
        values[f"column_{place}"] = cell
    _, micros = time_in(table.by_plain, values, clock)
    message, inner = _message(values.pop(table.message, "") if table.message else "")
    values = {**inner, **values}
    level = level_of_word(values.pop(table.level, "")) if table.level else ""
    stamp = clock.read(message or raw) if micros is None else None
    end = stamp.end if stamp else 0
    found, level_end = find_level(message or raw, end, timed=stamp is not None)
    if stamp:
        micros = stamp.micros
    others = [(name, value) for name, value in values.items() if plain(name) not in TIMES]
    return Record(
        line=row[0].number,
        lines=0,
        time=micros,
        time_flag="none" if micros is None else "own",
        level=level or found,
        message=message or raw,
        fields=fields_of((*others, *head_fields(message, end, level_end))),
        extra=" ".join(value for _, value in others if value not in message) if message else "",
        verbatim=not message,
    )


def _message(cell: str) -> tuple[str, Mapping[str, str]]:
    """The message of a cell, and the other values where the cell is a JSON envelope around it."""
    envelope = parsed_object(cell)
    if envelope:
        values = {name: scalar(value) for name, value in envelope.items()}
        inner = first_named({plain(name): name for name in values if values[name]}, MESSAGES)
        if inner:
            return values.pop(inner).rstrip("\r\n"), values
    return cell.rstrip("\r\n"), {}


def _cut(record: Record, flags: Flags) -> list[Record]:
    """The record, or several where its message is too long; none accounts for a line yet."""
    parts = list(pieces(record.message))
    flags["cut_entry"] += len(parts) - 1
    return [
        record._replace(
            message=part, line=record.line + (newlines if record.verbatim else 0), lines=0
        )
        for newlines, part in parts
    ]


def _cells(raw: str, delimiter: str) -> list[str] | None:
    try:
        return next(csv.reader([raw], delimiter=delimiter, strict=False), [])
    except csv.Error:
        return None

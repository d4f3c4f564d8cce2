"""Plain text, and JSON lines among it, into records.

A line without a time keeps the last own time seen above it in the file, flagged `carried`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from connectors.log_files import blocks
from connectors.log_files.blocks import Inside
from connectors.log_files.heads import head_fields
from connectors.log_files.json_values import facts_of, parsed_object
from connectors.log_files.levels import find_level
from connectors.log_files.lines import ANSI, Line
from connectors.log_files.record import MAX_LINES, MAX_MESSAGE, Flags, Pairs, Record
from connectors.logbook import TimeFlag
from connectors.timestamps import Clock, Stamp


def text_records(lines: Iterable[Line], clock: Clock, flags: Flags) -> Iterator[Record]:
    """The records of plain text, in file order."""
    reading = _Reading(clock, flags)
    for line in lines:
        done = reading.take(line)
        if done:
            yield done
    last = reading.close()
    if last:
        yield last


@dataclass(slots=True)
class _Event:
    """An event that may still grow; what its first line says about it is settled."""

    line: int
    texts: list[str]
    micros: int | None
    level: str
    fields: Pairs
    anchored: bool
    size: int


@dataclass(slots=True)
class _Reading:
    """What is known between two lines of one file."""

    clock: Clock
    flags: Flags
    carried: int | None = None
    event: _Event | None = None
    inside: Inside = Inside.NOTHING
    blanks: list[str] = field(default_factory=list)
    seen: int = 0
    """The last line taken."""
    accounted: int = 0
    """The last line that a finished record accounts for."""

    def take(self, line: Line) -> Record | None:
        """Take the next line; the record that it proves finished, if any."""
        text = ANSI.sub("", line.text) if "\x1b" in line.text else line.text
        if not text or text.isspace():
            self.blanks.append(line.text)
            self.seen = line.number
            return None
        stamp = self.clock.read(text)
        done = None
        if self._continues(line, text, stamp):
            self._grow(line)
        else:
            done = self._finish()
            self._start(line, text, stamp)
        if self.inside is not Inside.NOTHING or "(" in text or "<@" in text:
            self.inside = blocks.after(text, self.inside)
        self.seen = line.number
        return done

    def close(self) -> Record | None:
        """The last record, which also takes the blank lines at the end of the file."""
        if self.event is None and self.blanks:
            self.event = _Event(1, [""], None, "", (), anchored=False, size=0)
        return self._finish()

    def _continues(self, line: Line, text: str, stamp: Stamp | None) -> bool:
        event = self.event
        if event is None or line.rest or (stamp and _leads(text, stamp)):
            return False
        margin = text[0] not in " \t"
        if self.inside is Inside.NOTHING and margin and (stamp or text[0] == "{"):
            return False
        if not blocks.joins(text, self.inside, anchored=event.anchored):
            return False
        if len(event.texts) + len(self.blanks) >= MAX_LINES or event.size > MAX_MESSAGE // 2:
            self.flags["cut_entry"] += 1
            return False
        return True

    def _grow(self, line: Line) -> None:
        assert self.event is not None
        self.event.texts += [*self.blanks, line.text]
        self.event.size += len(line.text)
        self.blanks.clear()

    def _start(self, line: Line, text: str, stamp: Stamp | None) -> None:
        parsed = parsed_object(text) if text[0] == "{" and not line.rest else None
        if parsed is not None:
            micros, level, fields = facts_of(parsed, self.clock)
        else:
            end = stamp.end if stamp else 0
            level, level_end = find_level(text, end, timed=stamp is not None)
            fields = head_fields(text, end, level_end)
            micros = stamp.micros if stamp else None
        self.event = _Event(
            line.number,
            [line.text],
            micros,
            level,
            fields,
            anchored=micros is not None or bool(level),
            size=len(line.text),
        )
        self.inside = Inside.NOTHING
        self.blanks.clear()

    def _finish(self) -> Record | None:
        event = self.event
        if event is None:
            return None
        if event.micros is not None:
            self.carried = event.micros
        texts, level = event.texts, event.level
        if len(texts) > 1 and not level and blocks.is_trace(texts):
            level = "ERROR"
        without: TimeFlag = "none" if self.carried is None else "carried"
        record = Record(
            line=event.line,
            lines=self.seen - self.accounted,
            time=self.carried,
            time_flag=without if event.micros is None else "own",
            level=level,
            message="\n".join(texts) if len(texts) > 1 else texts[0],
            fields=event.fields,
        )
        self.accounted = self.seen
        self.event = None
        return record


def _leads(text: str, stamp: Stamp) -> bool:
    """True when nothing but blanks and punctuation stands before the time."""
    return stamp.start == 0 or not any(letter.isalnum() for letter in text[: stamp.start])

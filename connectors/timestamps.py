"""From the text of a log line to the instant that it names.

A time without a zone is taken in the zone that the clock was made with, UTC unless told; so is one
with a zone's nickname (`BST`, `CST`), because those name several zones. Instants are whole
microseconds since 1970 in UTC. A time before 1970 or after 2100 is a garbled one: not believed.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from connectors.time_formats import LABELLED, MAYBE, MONTHS, SHAPES, SLASHES, Shape

SECOND = 1_000_000
LAST = 4_102_444_800
"""2100-01-01, in seconds since 1970."""
HEAD = 2_000
"""Characters of a line in which its time may stand."""
EPOCH = re.compile(r"\d{10}(?:\.\d+)?|\d{13}|\d{16}|\d{19}")
EXPONENT = re.compile(r"\d(?:\.\d+)?[eE]\+?\d{1,2}")
LEVEL_NEXT = re.compile(r"\s+[A-Z]{4,8}\b")
_CACHED = 10_000
_ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)


class Stamp(NamedTuple):
    """A time found in a line: the instant, and where its text starts and ends."""

    micros: int
    start: int
    end: int


class Clock:
    """Reads the times of one file, and learns its shape while reading.

    *written* is when the file was last written: it settles the year where the lines name none.
    *sample* is the beginning of the file: it settles `17/06/09`, which is a day of 2017 or of 2009.
    The counts `no_zone`, `guessed_year` and `unbelievable` tell what had to be assumed.
    """

    def __init__(self, written: datetime, *, zone: tzinfo = UTC, sample: str = "") -> None:
        self.no_zone = 0
        self.guessed_year = 0
        self.unbelievable = 0
        self._zone = zone
        self._written = written.astimezone(UTC)
        self._shapes = list(SHAPES)
        self._seconds: dict[str, int] = {}
        self._year_first = _year_first(SLASHES.findall(sample))
        self._year = 0
        self._month = 0

    def read(self, line: str) -> Stamp | None:
        """The time that *line* carries as its own, or None."""
        if not MAYBE.search(line, 0, HEAD):
            return None
        for place, shape in enumerate(self._shapes):
            match = shape.regex.match(line)
            stamp = self._stamp(shape, match, line) if match else None
            if stamp:
                if place:  # the next line most likely has the same shape
                    self._shapes.insert(0, self._shapes.pop(place))
                return stamp
        for shape in LABELLED:
            match = shape.regex.search(line, 0, HEAD)
            stamp = self._stamp(shape, match, line) if match else None
            if stamp:
                return stamp
        return None

    def value(self, text: str) -> int | None:
        """The instant that the whole of *text* names, as a column or a key holds it, or None."""
        word = text.strip()
        if EXPONENT.fullmatch(word):
            word = f"{float(word):.6f}"
        if EPOCH.fullmatch(word):
            whole, _, fraction = word.partition(".")
            return self._believed(_epoch(whole, fraction))
        stamp = self.read(word) if len(word) < 64 else None
        return stamp.micros if stamp and stamp.start == 0 else None

    def _stamp(self, shape: Shape, match: re.Match[str], line: str) -> Stamp | None:
        fraction = (match["f"] or "") if shape.fraction else ""
        if shape.kind.startswith("epoch"):
            micros = self._believed(_epoch(match["base"], fraction))
        else:
            seconds = self._whole_seconds(shape, match, line)
            if seconds is None:
                return None
            zone = match["z"] if shape.zone else None
            seconds -= self._offset(zone or "", seconds)
            micros = self._believed(seconds * SECOND + int(fraction.ljust(6, "0")[:6]))
        return None if micros is None else Stamp(micros, match.start("base"), match.end())

    def _whole_seconds(self, shape: Shape, match: re.Match[str], line: str) -> int | None:
        """Seconds since 1970 as the text reads, before its zone is applied; None when it cannot be.

        Cached by the text, since many lines share a second.
        """
        base = match["base"]
        known = self._seconds.get(base)
        if known is None:
            try:
                moment = self._moment(shape, match, line)
            except ValueError:
                return None
            known = int((moment - _ORIGIN).total_seconds())
            if len(self._seconds) >= _CACHED:
                self._seconds.clear()
            self._seconds[base] = known
        if shape.kind == "yearless":
            self.guessed_year += 1
        return known

    def _moment(self, shape: Shape, match: re.Match[str], line: str) -> datetime:
        """The calendar time of the match as if in UTC. Raises ValueError when there is no such."""
        groups = match.groupdict()
        clock = (int(groups["h"]), int(groups["mi"]), min(int(groups["s"]), 59))
        if shape.kind == "slashes":
            year, month, day = self._slashes(match, line)
        else:
            name = groups.get("mon")
            month = MONTHS[name.lower()] if name else int(groups["mo"])
            day = int(groups["d"])
            year = int(groups["y"]) if groups.get("y") else self._open_year(month, day)
        if year < 100:
            year += 2000
        return datetime(year, month, day, *clock, tzinfo=UTC)

    def _open_year(self, month: int, day: int) -> int:
        """The year of a date that names none: the latest one in which the file could hold it.

        Once one date is settled, the others follow it over the turn of the year.
        """
        if self._month == 12 and month == 1:
            self._year += 1
        elif self._month == 1 and month == 12:
            self._year -= 1
        elif not self._year:
            self._year = self._written.year
            newest = self._written + timedelta(days=1)
            if (month, day) > (newest.month, newest.day) and newest.year == self._year:
                self._year -= 1
        while (month, day) == (2, 29) and not _is_leap(self._year):
            self._year -= 1
        self._month = month
        return self._year

    def _slashes(self, match: re.Match[str], line: str) -> tuple[int, int, int]:
        """Year, month and day of `17/06/09` or `06/09/17`."""
        first, second, third = (int(match[name]) for name in ("a", "b", "c"))
        evidence = _year_first([(match["a"], match["b"], match["c"])])
        if evidence is None:
            evidence = self._year_first
        if evidence is None:  # Java frameworks write the year first and the level next
            evidence = bool(LEVEL_NEXT.match(line, match.end()))
        return (first, second, third) if evidence else (third, first, second)

    def _offset(self, zone: str, seconds: int) -> int:
        """Seconds that *zone* is ahead of UTC; the default zone where it names none."""
        if zone[:1] in {"+", "-"}:
            minutes = int(zone[1:3]) * 60 + int(zone[-2:])
            return minutes * 60 if zone[0] == "+" else -minutes * 60
        if zone in {"Z", "UTC", "GMT"}:
            return 0
        self.no_zone += 1
        return self._default_offset(seconds)

    def _default_offset(self, seconds: int) -> int:
        """Seconds that the default zone is ahead of UTC at that local time; the first of two."""
        if self._zone is UTC:
            return 0
        local = (_ORIGIN + timedelta(seconds=seconds)).replace(tzinfo=self._zone)
        offset = local.utcoffset()
        return int(offset.total_seconds()) if offset else 0

    def _believed(self, micros: int) -> int | None:
        if 0 <= micros < LAST * SECOND:
            return micros
        self.unbelievable += 1
        return None


def instant(micros: int) -> datetime:
    """The aware UTC time of *micros* microseconds since 1970."""
    return _ORIGIN + timedelta(microseconds=micros)


def micros_of(time: datetime) -> int:
    """Whole microseconds since 1970 of an aware time."""
    return (time - _ORIGIN) // timedelta(microseconds=1)


def _epoch(digits: str, fraction: str) -> int:
    """Microseconds of an epoch written in seconds, milli-, micro- or nanoseconds."""
    if len(digits) <= 10:
        return int(digits) * SECOND + int(fraction.ljust(6, "0")[:6] or 0)
    return int(digits[:16].ljust(16, "0"))


def _year_first(dates: Iterable[tuple[str, str, str]]) -> bool | None:
    """True when the dates must read YY/MM/DD, False when MM/DD/YY, None when both would do."""
    for date in dates:
        first, second, third = (int(part) for part in date)
        year_leads = 1 <= second <= 12 and 1 <= third <= 31
        month_leads = 1 <= first <= 12 and 1 <= second <= 31
        if year_leads != month_leads:
            return year_leads
    return None


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)

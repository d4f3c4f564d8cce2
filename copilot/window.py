"""Absolute, half-open UTC windows, and the strict words a person may name a time with.

Refuses what it would have to guess: `01/02/2026`, `yesterday`, a time without a zone. A wrong
window is a silent lie, so every caller echoes the absolute window that it used.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from copilot.errors import UsageError

DURATION = re.compile(r"(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
EPOCH = re.compile(r"\d{10}(?:\.\d{1,9})?|\d{13}")
ISO = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)", re.IGNORECASE
)
ALLOWED = "15m, 2h30m, now, now-2h, 2026-01-31T12:00:00Z, an ISO time with +01:00, epoch s or ms"


@dataclass(frozen=True, slots=True)
class Window:
    """All instants t with start <= t < end. Both ends are aware and in UTC; None is unbounded."""

    start: datetime | None
    end: datetime | None

    def __post_init__(self) -> None:
        if self.start and self.end and self.start >= self.end:
            raise UsageError(
                f"the window is empty: it starts {iso(self.start)} and ends {iso(self.end)}; "
                "the start must come first"
            )

    def __str__(self) -> str:
        if not self.start and not self.end:
            return "all times"
        start = iso(self.start) if self.start else "…"
        end = iso(self.end) if self.end else "…"
        return f"[{start}, {end})"

    def holds(self, time: datetime) -> bool:
        """True when *time* lies in the window."""
        after = self.start is None or time >= self.start
        return after and (self.end is None or time < self.end)


ALWAYS = Window(None, None)


def iso(time: datetime) -> str:
    """The instant as UTC ISO 8601 with `Z`; fractions only when there are any."""
    text = time.astimezone(UTC).isoformat(timespec="auto")
    return text.replace("+00:00", "Z")


def parse_duration(text: str) -> timedelta:
    """The length named by *text*, such as `90s`, `15m`, `2h30m`, `1d`. Raises UsageError."""
    match = DURATION.fullmatch(text.strip())
    if not match or not any(match.groups()):
        raise UsageError(f"{text!r} is not a duration; write one like 90s, 15m, 2h30m or 1d")
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    try:
        return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        raise UsageError(f"{text!r} is longer than time itself; write one like 15m or 2h") from None


def parse_time(text: str, now: datetime) -> datetime:
    """The instant named by *text*, in UTC. Raises UsageError naming what is allowed.

    A bare duration means that long before *now*, the habit of log tools.
    """
    word = text.strip()
    try:
        if word == "now":
            return now.astimezone(UTC)
        if word.startswith(("now-", "now+")):
            length = parse_duration(word[4:])
            return (now - length if word[3] == "-" else now + length).astimezone(UTC)
        if EPOCH.fullmatch(word):
            seconds = int(word) / 1000 if len(word) == 13 else float(word)
            return datetime.fromtimestamp(seconds, UTC)
        if ISO.fullmatch(word):
            return parse_iso(word)
        if word and DURATION.fullmatch(word):
            return (now - parse_duration(word)).astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{text!r} is not a time that exists ({error}); use {ALLOWED}") from None
    raise UsageError(f"cannot read {text!r} as a time; use {ALLOWED}")


def parse_iso(text: str) -> datetime:
    """The instant of an ISO 8601 text with a zone, in UTC. Raises ValueError.

    Nine fractional digits are cut to six: Python keeps microseconds.
    """
    match = re.fullmatch(r"(.*?)(?:[.,](\d+))?\s?(Z|[+-]\d\d:?\d\d)", text.strip(), re.IGNORECASE)
    if not match:
        raise ValueError("no zone")
    base, fraction, zone = match.groups()
    digits = f".{fraction[:6].ljust(6, '0')}" if fraction else ""
    return datetime.fromisoformat(f"{base}{digits}{zone.upper()}").astimezone(UTC)


def from_epoch(seconds: float) -> datetime | None:
    """The instant, or None when *seconds* is not one that datetime can hold."""
    if not math.isfinite(seconds):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None

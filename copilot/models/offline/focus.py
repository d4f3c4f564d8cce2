"""Which stretch of time to look at, and which healthy one to compare it with.

An alert's time may be exact, vague, missing, or have nothing to do with the logs at hand. The
logbook's own overview decides: a time that it does not hold is no help.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from copilot.models.offline.reading import Brief
from copilot.models.offline.transcript import Answer, Transcript
from copilot.values import JsonObject, object_at, text_at
from copilot.window import ALWAYS, iso, parse_iso

HEALTHY_NAME = re.compile(
    r"baseline|healthy|fault[_-]?free|error[_-]?free|known[_-]?good|reference[_-]?run|"
    r"(?:^|[/_-])(?:good|normal|green)(?:[/_.-]|$)",
    re.IGNORECASE,
)
"""What people call the logs of a time when all was well."""
ONSET_SLACK = timedelta(minutes=1)
"""A time given to the minute may be the minute after."""
BEFORE_ALERT = timedelta(hours=3)
AFTER_ONSET = timedelta(days=1)
AFTER_ALERT = timedelta(hours=1)
ENOUGH = 25
"""Entries that a baseline must have to say anything."""


@dataclass(frozen=True, slots=True)
class Focus:
    """The windows as the tools take them: ISO texts, empty for an open end."""

    since: str = ""
    until: str = ""
    baseline_since: str = ""
    baseline_until: str = ""
    is_guess: bool = False
    """True when the window begins where errors begin, and no alert's time says so."""
    note: str = ""
    """What a reader must know of the choice."""

    @property
    def is_bounded(self) -> bool:
        """True when a window was chosen at all."""
        return bool(self.since or self.until)

    @property
    def compares(self) -> bool:
        """True when there is a healthy time."""
        return bool(self.baseline_since or self.baseline_until)

    def window(self) -> JsonObject:
        """The arguments of the window."""
        return {k: v for k, v in (("since", self.since), ("until", self.until)) if v}

    def both(self) -> JsonObject:
        """The arguments of the window and of its baseline."""
        ends = (("baseline_since", self.baseline_since), ("baseline_until", self.baseline_until))
        return self.window() | {key: value for key, value in ends if value}


@dataclass(frozen=True, slots=True)
class Extent:
    """What one logbook holds, from its overview."""

    logbook: str
    total: int
    first: datetime | None
    last: datetime | None
    buckets: tuple[tuple[datetime, int, int], ...]
    """Start, entries, errors."""
    sources: tuple[str, ...]
    healthy: tuple[str, ...]
    untimed: bool


def extents(transcript: Transcript) -> tuple[Extent, ...]:
    """What each logbook holds, as far as it was looked at."""
    return tuple(
        _extent(text_at(item.input, "logbook"), item.answer)
        for item in transcript.of_step("look")
        if item.tool == "logbook_overview" and item.answer.ok
    )


def around(brief: Brief, extent: Extent) -> JsonObject:
    """The window of the alert's own time, where the overview is too coarse for it."""
    alerted, buckets = brief.starts_at, extent.buckets
    coarse = len(buckets) > 1 and buckets[1][0] - buckets[0][0] > BEFORE_ALERT
    if not (alerted and coarse and extent.first and _holds(extent, alerted, BEFORE_ALERT)):
        return {}
    return {"since": iso(alerted - BEFORE_ALERT), "until": iso(alerted + AFTER_ALERT)}


def choose(
    brief: Brief, extent: Extent, healthy_range: tuple[str, str], inside: int | None = None
) -> Focus:
    """The windows for *extent*; *healthy_range* is the time of its healthy sources, if any.

    *inside* is how many entries stand around the alert's time; None where the overview tells.
    """
    if extent.first is None or extent.last is None:
        return Focus()
    asked = _asked(brief, extent)
    onset = next((time for time in brief.times if _holds(extent, time, AFTER_ALERT)), None)
    healthy = Focus(baseline_since=healthy_range[0], baseline_until=_just_after(healthy_range[1]))
    if asked:
        return _against(extent, healthy, *asked)
    if onset:
        start = onset - ONSET_SLACK
        return _against(extent, healthy, start, onset + AFTER_ONSET)
    alerted = brief.starts_at
    if alerted and _holds(extent, alerted, BEFORE_ALERT):
        start, end = alerted - BEFORE_ALERT, alerted + AFTER_ALERT
        if inside is None:
            inside = sum(count for at, count, _ in extent.buckets if start <= at < end)
        if inside and start > extent.first:
            return _against(extent, healthy, start, end)
    note = ""
    if alerted and not _holds(extent, alerted, timedelta(days=2)):
        note = (
            f"the alert is of {iso(alerted)}, the logs reach from {iso(extent.first)} "
            f"to {iso(extent.last)}"
        )
    broke = _outbreak(extent.buckets)
    if broke and not healthy.compares:
        return Focus(since=iso(broke), baseline_until=iso(broke), is_guess=True, note=note)
    return Focus(
        baseline_since=healthy.baseline_since, baseline_until=healthy.baseline_until, note=note
    )


def _asked(brief: Brief, extent: Extent) -> tuple[datetime, datetime | None] | None:
    """The window that a person gave; None without one, or where the logs hold none of it."""
    window = brief.window
    if window == ALWAYS or extent.first is None or extent.last is None:
        return None
    start = window.start or extent.first
    overlaps = start <= extent.last and (window.end is None or window.end > extent.first)
    return (start, window.end) if overlaps else None


def _against(extent: Extent, healthy: Focus, start: datetime, end: datetime | None) -> Focus:
    """The window from *start*, with the best healthy time there is."""
    before = sum(count for at, count, _ in extent.buckets if at < start)
    calm = healthy
    if not healthy.compares and before >= ENOUGH:
        calm = Focus(baseline_until=iso(start))
    until = iso(end) if end and end < (extent.last or end) else ""
    if healthy.compares and iso(start) < healthy.baseline_since:
        until = min(filter(None, (until, healthy.baseline_since)))
    return Focus(
        since=iso(start) if before or healthy.compares else "",
        until=until,
        baseline_since=calm.baseline_since,
        baseline_until=calm.baseline_until,
    )


def _outbreak(buckets: Sequence[tuple[datetime, int, int]]) -> datetime | None:
    """The start of the first stretch with errors after calm ones; None where errors are usual."""
    filled = [item for item in buckets if item[1]]
    errors = [item[2] for item in filled]
    if len(filled) < 6 or not any(errors):
        return None
    first = next(place for place, count in enumerate(errors) if count)
    calm = sum(item[1] for item in filled[:first])
    return filled[first][0] if first >= 3 and calm >= ENOUGH else None


def _extent(logbook: str, answer: Answer) -> Extent:
    buckets = tuple(
        (parse_iso(str(item[0])), int(str(item[1])), int(str(item[2])))
        for item in answer.facts.get("buckets") or ()  # type: ignore[union-attr]  # a list, or none
        if isinstance(item, list)
    )
    sources = tuple(object_at(answer.facts, "sources"))
    healthy = tuple(name for name in sources if HEALTHY_NAME.search(name))
    return Extent(
        logbook=logbook,
        total=answer.total or 0,
        first=_instant(answer.range[0]),
        last=_instant(answer.range[1]),
        buckets=buckets,
        sources=sources,
        healthy=healthy if len(healthy) < len(sources) else (),
        untimed="no time" in answer.text,
    )


def _holds(extent: Extent, time: datetime, slack: timedelta) -> bool:
    assert extent.first
    assert extent.last
    return extent.first - slack <= time <= extent.last + slack


def _just_after(text: str) -> str:
    """The end of a half-open window that still holds the entry at *text*."""
    time = _instant(text)
    return iso(time + timedelta(seconds=1)) if time else ""


def _instant(text: str) -> datetime | None:
    try:
        return parse_iso(text) if text else None
    except ValueError:
        return None

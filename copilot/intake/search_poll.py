"""A saved search that finds something, as an alert that fires once and is resolved.

The time since the last poll is looked at in stretches of the search's own window, oldest first, so
that a daemon that was down for hours says what it would have said. Entries reach a logbook late:
while nothing fires, each poll looks back by the allowed lag too, down to what was told already.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from connectors.logbook import Filters, Found, Logbook, Search
from copilot.errors import ConnectorError
from copilot.intake.filter_words import said
from copilot.intake.polls import Accept, Asked
from copilot.safe_text import one_line
from copilot.settings.daemon import SearchPoller
from copilot.values import Alert, JsonObject, compact, text_at
from copilot.window import Window, iso, parse_iso

STRETCHES = 500
"""So many windows are caught up with; what lies before them is said to be left out."""
SAMPLES = 5
LINE = 300
_ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SearchPoll:
    """Asks a logbook the saved search."""

    logbook: Logbook
    settings: SearchPoller

    def __call__(self, now: datetime, cursor: JsonObject, accept: Accept) -> Asked:
        """Accept an alert when the search begins to find enough, and one when it finds nothing.

        Raises ConnectorError when nothing was found in an answer that is not complete.
        """
        until, firing, told = (_time(cursor, name) for name in ("until", "firing", "told"))
        windows, left_out = self._windows(until, now, None if firing else told or _ORIGIN)
        for window in windows:
            found = self.logbook.search(
                Search(self._filters(), window, order="oldest", limit=SAMPLES)
            )
            if not firing and found.total.value >= self.settings.at_least and found.first:
                start = self._start(found.first)
                accept([self._alert(start, found, window)])
                firing = start
            elif found.total.value == 0 and not found.coverage.complete:
                raise ConnectorError(
                    f"{self.logbook.name} found nothing in {window}, but did not look everywhere: "
                    f"{found.coverage.why_incomplete}",
                    retryable=True,
                )
            elif firing and found.total.value == 0:
                accept([self._over(firing, window)])
                firing = None
            if firing and found.last:
                told = max(told or _ORIGIN, found.last)
        left: JsonObject = {
            "firing": iso(firing) if firing else "",
            "told": iso(told) if told else "",
        }
        return Asked({"until": iso(now), **left}, note=left_out)

    def _windows(
        self, until: datetime | None, now: datetime, told: datetime | None
    ) -> tuple[Iterator[Window], str]:
        """The newest window and those before it, oldest first; what is left out.

        They go back to the last poll at *until*; where nothing fires and so *told* is given, by the
        lag further, but not behind what was told. Only the newest window holds that once more.
        """
        length = self.settings.window
        start = until
        if until and told:
            start = max(until - self.settings.lag, min(told, until))
        behind = now - start - length if start else timedelta(0)
        count = min(1 + max(0, -(-behind // length)), STRETCHES)
        left_out = ""
        if until and count == STRETCHES and now - count * length > until:
            left_out = f"nobody looked at {Window(until, now - count * length)}"
        ends = [now - place * length for place in range(count - 1, -1, -1)]
        untold = told + _INSTANT if told else _ORIGIN
        windows = [Window(max(end - length, untold), end) for end in ends[:-1] if end > untold]
        return iter([*windows, Window(now - length, now)]), left_out

    def _filters(self) -> Filters:
        asked = self.settings
        return Filters(levels=asked.levels, fields=asked.fields, text=asked.text)

    def _start(self, first: datetime) -> datetime:
        """The start that two hosts agree on though their windows differ by seconds."""
        length = self.settings.window
        return _ORIGIN + (first - _ORIGIN) // length * length

    def _alert(self, start: datetime, found: Found, window: Window) -> Alert:
        name = self.settings.name
        count = f"{'at least ' if found.total.relation != 'exact' else ''}{found.total.value}"
        head = (
            f"The saved search {name} found {count} entries in the logbook {self.logbook.name} "
            f"within {window}: {said(self._filters())}."
        )
        lines = [
            head,
            *(
                f"{iso(entry.time) if entry.time else '?'} {entry.source}:{entry.line} "
                f"{one_line(entry.message, LINE)}"
                for entry in found.entries
            ),
        ]
        return Alert(
            source="logbook",
            title=f"{name}: {count} found",
            text="\n".join(lines),
            labels=self._labels(),
            starts_at=start,
            raw=compact({**self._labels(), "window": str(window), "found": count}),
        )

    def _over(self, start: datetime, window: Window) -> Alert:
        return Alert(
            source="logbook",
            title=f"{self.settings.name}: nothing found any more",
            text=f"The saved search found nothing in {self.logbook.name} within {window}.",
            status="resolved",
            labels=self._labels(),
            starts_at=start,
            ends_at=window.start,
        )

    def _labels(self) -> dict[str, str]:
        own = {"alertname": self.settings.name, "logbook": self.logbook.name}
        return own | dict(self.settings.labels)


def _time(cursor: JsonObject, name: str) -> datetime | None:
    text = text_at(cursor, name)
    return parse_iso(text) if text else None

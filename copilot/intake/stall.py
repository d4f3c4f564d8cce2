"""The stall detector: one look at all workflows of a logbook, one alert for each that stalled.

A workflow is stalled when its last entry of progress is older than the threshold and it has not
ended. It is said once, and once more when it goes on. What cannot be seen is not called stalled:
while the logbook itself is silent, torn or out of reach, that is the one thing reported.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from connectors.logbook import Coverage, Filters, LastSeen, Latest, LatestPage, Logbook, Overview
from copilot.errors import ConnectorError
from copilot.intake.polls import Accept, Asked
from copilot.intake.silence import (
    EXPECTED,
    SEVERAL,
    bucket_for,
    entries_since,
    is_usual,
    past_holes,
)
from copilot.intake.stall_alerts import StallAlerts, ending, progress
from copilot.intake.stall_changes import changes, news
from copilot.intake.stall_record import Blind, StallRecord, from_json
from copilot.intake.survey import Quiet, Survey, quiet, stalled, survey
from copilot.settings.daemon import StallDetector
from copilot.values import JsonObject
from copilot.window import Window, iso

LOG = logging.getLogger(__name__)
AT_ONCE = 1_000
"""New stalls told in one poll, the longest silent first; the rest come with the next."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What can be said: who of the news is stalled; or why nothing can be, and since when."""

    stalled: Sequence[LastSeen] = ()
    blind: Blind | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class StallPoll:
    """Asks a logbook who is stalled."""

    logbook: Logbook
    settings: StallDetector
    severity_label: str = "severity"

    def __call__(self, now: datetime, cursor: JsonObject, accept: Accept) -> Asked:
        """Accept what is new: stalls, ends of stalls, and that nothing can be seen; see `Ask`."""
        now = now.replace(microsecond=0)
        record = from_json(cursor)
        rules = quiet(self.settings, now)
        try:
            seen = survey(self._pages(now), rules, record.stalled)
            sight = self._sight(seen, record, rules, now)
        except ConnectorError as error:
            why = f"The logbook {self.logbook.name} cannot be asked: {error}"
            return self._blind(record, Sight((), Blind("unreachable", now), why), now, accept)
        if sight.blind:
            return self._blind(record, sight, now, accept)
        return self._clear(record, seen, sight, now, accept)

    @property
    def _alerts(self) -> StallAlerts:
        return StallAlerts(self.settings, self.severity_label)

    def _pages(self, now: datetime) -> Iterator[LatestPage]:
        window = Window(now - self.settings.horizon, now)
        ends = ending(self.settings)
        asked = Latest(self.settings.field, progress(self.settings), ends, window)
        while True:
            page = self.logbook.latest(asked)
            _check(page.coverage)
            yield page
            if not page.next:
                return
            asked = replace(asked, after=page.next)

    def _sight(self, seen: Survey, record: StallRecord, rules: Quiet, now: datetime) -> Sight:
        """Whether the logbook shows what there is to see. Raises ConnectorError."""
        name, lag = self.logbook.name, self.settings.lag
        if seen.newest is None or now - seen.newest > lag:
            since = seen.newest or now
            newest = f"is of {iso(seen.newest)}" if seen.newest else "does not exist"
            why = (
                f"The newest entry of the logbook {name} {newest}: entries come late or not at all."
            )
            return Sight((), Blind("silent", since), why)
        new = news(seen, record.stalled)
        if not new:
            return Sight()
        overview = self._overview(now)
        alive = seen.going - (len(seen.overdue) - len(new))
        last = seen.newest_progress
        if last and alive >= SEVERAL and self._is_unlikely(seen, overview, last, now):
            why = (
                f"None of {alive} workflows in {name} made progress since {iso(last)}, while other "
                "entries came: their entries are lost, or all of them stopped at once."
            )
            return Sight((), Blind("still", last), why)
        return Sight(stalled(new, past_holes(overview, lag), rules))

    def _overview(self, now: datetime) -> Overview:
        """Progress over the time in which the overdue ones may have been silent."""
        horizon = self.settings.horizon
        bucket = bucket_for(horizon, self.settings.lag)
        window = Window(now - horizon, now)
        seen = self.logbook.overview(window, progress(self.settings), bucket)
        _check(seen.coverage)
        return seen

    def _is_unlikely(self, seen: Survey, overview: Overview, last: datetime, now: datetime) -> bool:
        """True when so much moved before *last* that nobody moving since then is no chance.

        Where any entry is progress, the overview holds what is none of a workflow: then only the
        workflows count, and only once all of them are overdue.
        """
        any_entry = progress(self.settings) == Filters()
        length = now - last
        if length < (self.settings.threshold if any_entry else self.settings.lag):
            return False
        entries = 0 if any_entry else entries_since(overview, last - length)
        dense = max(entries, seen.last_seen_since(last - length)) >= EXPECTED
        return dense and not is_usual(overview, length)

    def _blind(self, record: StallRecord, sight: Sight, now: datetime, accept: Accept) -> Asked:
        """Say, once it lasts for as long as the lag that is allowed, that nothing can be seen.

        What was told of it is kept while it lasts, whatever else comes on top.
        """
        assert sight.blind
        blind = sight.blind
        if record.blind and (record.blind.is_told or record.blind.kind == blind.kind):
            blind = record.blind
        start = self._start(blind)
        if not blind.is_told and start <= now:
            LOG.warning(
                "logbook blind name=%s kind=%s since=%s", self.logbook.name, blind.kind, blind.since
            )
            accept([self._alerts.blind(blind, start, sight.why)])
            blind = replace(blind, is_told=True)
        cursor = replace(record, blind=blind).as_json()
        if sight.blind.kind == "unreachable":
            return Asked(cursor, problem=sight.why)
        return Asked(cursor, note=sight.why)

    def _clear(
        self, record: StallRecord, seen: Survey, sight: Sight, now: datetime, accept: Accept
    ) -> Asked:
        """Say who stalled and who goes on again."""
        if record.blind and record.blind.is_told:
            accept([self._alerts.sighted(self._start(record.blind), now)])
        found = changes(seen, record.stalled, sight.stalled, quiet(self.settings, now), AT_ONCE)
        accept([self._alerts.over(row, stall, now) for row, stall in found.over])
        accept([self._alerts.stalled(row, stall, now) for row, stall in found.began])
        return Asked(StallRecord(found.stalled).as_json(), note=self._note(seen, found.postponed))

    def _start(self, blind: Blind) -> datetime:
        """When the alert about it starts."""
        return blind.since + self.settings.lag

    def _note(self, seen: Survey, postponed: int) -> str:
        if postponed:
            return f"{postponed} more workflows are stalled; they are told with the next polls"
        if not seen.workflows:
            return (
                f"no workflow was seen in {self.settings.horizon}: does {self.settings.field!r} "
                f"name them in {self.logbook.name}, and are the words of progress right?"
            )
        return ""


def _check(coverage: Coverage) -> None:
    """Refuse an answer from which a workflow may be missing."""
    if not coverage.complete:
        raise ConnectorError(f"it answered only in part: {coverage.why_incomplete}")

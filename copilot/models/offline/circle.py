"""Which lines belong to the incident. To tell a line as what followed is to claim that it did.

A line belongs when it names what the alert is about, shares a name with the cause or with a line
that belongs, or comes from the same program in the same stretch of time. To be of the same day as
the cause ties nothing to it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from copilot.models.offline.entities import is_identifier, is_plain, words_of
from copilot.models.offline.lines import Line
from copilot.models.offline.origins import (
    LONGEST_STRETCH,
    folder_of,
    in_one_stretch,
    instant,
    names_on,
    origin_of,
    pause,
    stem_of,
)
from copilot.models.offline.ranking import names
from copilot.models.offline.reading import Brief

ROUNDS = 3
"""How far names are followed: the alert's, those beside them, those beside these."""
EVERYWHERE = 3
"""A name that most programs speak of ties nothing, where there are at least so many."""
DULL_WORDS_TEXT = """
alert batch data error errors event failed failing failure file health high job jobs latency
log logs low queue rate request requests server service slow stall stalled system task tasks
time wait waiting work workflow
"""
DULL_WORDS = frozenset(DULL_WORDS_TEXT.split())


@dataclass(frozen=True)
class Circle:
    """The alert and, where one is known, its cause, with all that is tied to them."""

    brief: Brief
    lines: tuple[Line, ...]
    """Every line seen: how dense they are tells what one stretch of time is."""
    cause: tuple[Line, ...] = ()
    names_nothing: bool = False
    """True when the alert names nothing that the logs know: being new in its time has to do."""
    since: str = ""
    homes: frozenset[str] = frozenset()
    """The files in which the alert's names stand; empty where that tells nothing."""

    def holds(self, line: Line) -> bool:
        """True when *line* belongs to the incident."""
        if line.place in self._members:
            return True
        near = self._is_near(line)
        if self.is_small and near:
            return True
        if any(names(line, text) for text in self._subjects):
            return True
        if near and (self._is_spoken_of(line) or self._shares(line)):
            return True
        if near and self.names_nothing and line.compared and not line.baseline:
            return line.when >= self.since
        return self._is_beside(line)

    is_small: bool = False
    """True for a few lines in one folder: somebody gathered them for this incident."""

    @cached_property
    def programs(self) -> frozenset[str]:
        """All that spoke, by field or file."""
        return frozenset(origin_of(line) for line in self.lines)

    @cached_property
    def _members(self) -> frozenset[tuple[str, int, str]]:
        return frozenset(line.place for line in self._accepted)

    @cached_property
    def _subjects(self) -> tuple[str, ...]:
        """The alert's names that mean one thing only, at whatever time."""
        entities = self.brief.entities
        return tuple(i.text for i in entities if i.weight > 1 and is_identifier(i.text))

    @cached_property
    def _accepted(self) -> tuple[Line, ...]:
        """The cause, what names the alert's things, and what shares a name with one of these."""
        accepted = [*self.cause, *(line for line in self.lines if self._is_named(line))]
        known = {line.place for line in accepted}
        tied = self._ties_of(accepted)
        for _ in range(ROUNDS - 1):
            more = [
                line
                for line in self.lines
                if line.place not in known and self._ties_of([line]) & tied and self._is_near(line)
            ]
            if not more:
                break
            accepted += more
            known |= {line.place for line in more}
            tied |= self._ties_of(more)
        return tuple(accepted)

    def _is_named(self, line: Line) -> bool:
        """True when the line names something that the alert is about, in the alert's time."""
        at_home = not self.homes or line.source in self.homes
        telling = [
            item.text
            for item in self.brief.entities
            if item.weight > 1 and (at_home or not is_plain(item.text))
        ]
        return any(names(line, text) for text in telling) and (
            self._is_near(line) or any(names(line, text) for text in self._subjects)
        )

    def _shares(self, line: Line) -> bool:
        return bool(self._ties_of([line]) & self._tied)

    @cached_property
    def _tied(self) -> frozenset[str]:
        return frozenset(self._ties_of(self._accepted))

    def _ties_of(self, lines: Iterable[Line]) -> set[str]:
        found: set[str] = set()
        for line in lines:
            found |= self._names_of(line)
        return found - self._everywhere

    def _names_of(self, line: Line) -> frozenset[str]:
        known = self._names.get(line.place)
        return names_on(line, self._origins) if known is None else known

    @cached_property
    def _names(self) -> dict[tuple[str, int, str], frozenset[str]]:
        return {line.place: names_on(line, self._origins) for line in self.lines}

    @cached_property
    def _origins(self) -> frozenset[str]:
        every = {origin_of(line) for line in self.lines} | {
            stem_of(line.source) for line in self.lines
        }
        return frozenset(name.lower() for name in every if name)

    @cached_property
    def _everywhere(self) -> frozenset[str]:
        """Names that most of the programs speak of: the host they share, a common library."""
        told = [line for line in self.lines if not line.is_document]
        spoken = {(name, origin_of(line)) for line in told for name in self._names_of(line)}
        programs = len({origin_of(line) for line in told})
        count = Counter(name for name, _ in spoken)
        return frozenset(
            name for name, of in count.items() if of >= EVERYWHERE and 2 * of > programs
        )

    def _is_spoken_of(self, line: Line) -> bool:
        """True when the alert's words name the component or the file."""
        if not (self._moments and instant(line)):
            return False
        component = line.fields.get("component", "").rpartition(".")[2]
        words = words_of(component) | words_of(stem_of(line.source)) | words_of(origin_of(line))
        return bool((words & self.brief.words) - DULL_WORDS)

    def _is_beside(self, line: Line) -> bool:
        """True for the same program in the same stretch of time; untimed, for the same folder."""
        origin = origin_of(line)
        same = [member for member in self._accepted if origin_of(member) == origin]
        time = instant(line)
        if time is None:
            folder = folder_of(line.source)
            folders = {folder_of(member.source) for member in self._accepted}
            return bool(same) or (folder in folders and self._is_sorted)
        anchors = [anchor for member in same if (anchor := instant(member))]
        if same and not anchors:
            return True
        times = self._times_of(origin)
        return any(in_one_stretch(time, anchor, times) for anchor in anchors)

    @cached_property
    def _is_sorted(self) -> bool:
        """True when files lie in several folders, so that to share one says something."""
        return len({folder_of(line.source) for line in self.lines}) > 1

    def _is_near(self, line: Line) -> bool:
        """True when it is of the time of the cause, as far as the two have one."""
        time, moments = instant(line), self._moments
        if time is None or not moments:
            return True
        longest = pause([*self._times_of(origin_of(line)), *moments])
        return any(moment - longest <= time <= moment + LONGEST_STRETCH for moment in moments)

    @cached_property
    def _moments(self) -> tuple[datetime, ...]:
        """When the cause was; without one, when the alert says that it was."""
        if self.cause:
            return tuple(time for line in self.cause if (time := instant(line)))
        started = (self.brief.starts_at,) if self.brief.starts_at and self.since else ()
        return self.brief.times or started

    def _times_of(self, origin: str) -> Sequence[datetime]:
        return self._times.get(origin, ())

    @cached_property
    def _times(self) -> dict[str, list[datetime]]:
        found: dict[str, list[datetime]] = {}
        for line in self.lines:
            time = instant(line)
            if time:
                found.setdefault(origin_of(line), []).append(time)
        return found

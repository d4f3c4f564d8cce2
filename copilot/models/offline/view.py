"""Everything that one turn is decided from: the brief, the transcript, and what follows from them.

Made anew for every request; nothing is kept from turn to turn.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from copilot.models.model import Request
from copilot.models.offline.causes import Strength
from copilot.models.offline.circle import Circle
from copilot.models.offline.dossier import Dossier, read_dossier
from copilot.models.offline.entities import Entity, as_term, is_identifier, is_plain
from copilot.models.offline.focus import Extent, Focus, around, choose, extents
from copilot.models.offline.lines import Line, line_of
from copilot.models.offline.origins import folder_of
from copilot.models.offline.phrases import phrase_of
from copilot.models.offline.ranking import Candidate, Shares, names, rank
from copilot.models.offline.reading import Brief, read_brief
from copilot.models.offline.record_facts import Fact, as_candidate, facts, texts
from copilot.models.offline.transcript import Exchange, Transcript, read_transcript
from copilot.values import JsonObject, text_at

DOUBTED = 3.0
"""Points that a line loses when the healthy time turns out to have it."""
COMPOUND = re.compile(r"\w[_-]\w")
MANY_SOURCES = 4
"""Files from which those that the alert names are looked at apart."""
HOMES = 10
UNRELATED_SOURCES = 6
"""Files among which an alert without a name and a time fits the loudest no better than another."""
PROGRAMS = 3
"""Where fewer than so many programs speak, all of them may be about the alert."""
TIED = 2.0
"""Points for a line of another program that shares a name with the alert's: the side it asked."""
SMALL = 60
"""Entries of a logbook that is simply read."""


@dataclass(frozen=True)
class View:
    """One request, understood."""

    brief: Brief
    transcript: Transcript
    tools: frozenset[str]

    @cached_property
    def dossier(self) -> Dossier:
        """All lines seen."""
        return read_dossier(self.transcript)

    @property
    def asked(self) -> tuple[JsonObject, ...]:
        """The arguments of every call so far."""
        return tuple(item.input for item in self.transcript.exchanges)

    @cached_property
    def extents(self) -> tuple[Extent, ...]:
        """What each logbook holds."""
        return extents(self.transcript)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """What could be the cause, best first."""
        from_records = tuple(texts(self.transcript))
        lines = (*self.dossier.lines, *from_records)
        ranked = rank(lines, self.brief, self.focus_of(""), self._shares())
        doubted = self._found_in_healthy_time()
        ranked = tuple(
            replace(item, points=item.points - DOUBTED)
            if phrase_of(item.first) in doubted
            else item
            for item in self._estranged(ranked)
        )
        structural = tuple(
            as_candidate(fact)
            for fact in self.facts
            if fact.explains and (not self.homes or fact.line.source in self.homes)
        )
        return tuple(sorted((*ranked, *structural), key=lambda item: -item.points))

    def _estranged(self, ranked: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """*ranked* with those marked that share nothing with an alert that the logs speak of.

        What is new in the alert's time may be its cause all the same, if nothing nearer is.
        """
        circle = self.circle()
        if circle.names_nothing or len(circle.programs) < PROGRAMS:
            return ranked
        tied = {id(item): any(map(circle.holds, item.lines)) for item in ranked}
        focus = self.focus_of("")

        def timely(item: Candidate) -> bool:
            return item.is_new and bool(focus.since) and not focus.is_guess

        nearer = any(
            tied[id(item)] and item.is_cause and item.sign.strength is Strength.DIRECT
            for item in ranked
        )
        return tuple(
            replace(item, is_near=True, points=item.points + (0.0 if item.is_near else TIED))
            if tied[id(item)]
            else replace(item, is_stranger=nearer or not timely(item), is_related=False)
            for item in ranked
        )

    def circle(self, *cause: Line) -> Circle:
        """What belongs to the alert and to the *cause*."""
        known = [item for item in self.brief.entities if item.weight > 1 and self.present(item)]
        lines = (*self.dossier.lines, *texts(self.transcript))
        return Circle(
            self.brief,
            lines,
            cause,
            names_nothing=not known,
            since=self.focus_of("").since,
            homes=frozenset(self.homes),
            is_small=self.is_small,
        )

    @property
    def is_small(self) -> bool:
        """True when the logs are a few lines in one folder, gathered for this one incident."""
        folders = {folder_of(name) for extent in self.extents for name in extent.sources}
        return len(folders) == 1 and sum(extent.total for extent in self.extents) <= SMALL

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What the structured records show."""
        return facts(self.transcript, self.brief.subject)

    @cached_property
    def causes(self) -> tuple[Candidate, ...]:
        """The candidates that could explain the alert, best first."""
        return tuple(item for item in self.candidates if item.is_cause)

    def focus_of(self, logbook: str) -> Focus:
        """The windows for *logbook*, or for the largest one."""
        known = [item for item in self.extents if logbook in ("", item.logbook)]
        if not known:
            return Focus()
        extent = max(known, key=lambda item: item.total)
        ranges = [
            item.answer.range
            for item in self.transcript.of_step("probe")
            if item.tool == "search_logbook" and item.input.get("sources") and item.answer.range[0]
        ]
        calm = (
            (min(first for first, _ in ranges), max(last for _, last in ranges))
            if ranges
            else ("", "")
        )
        focus = choose(self.brief, extent, calm, self._around_alert(extent))
        if focus.is_guess and self.homes:
            return Focus(note=focus.note)  # errors of others began then
        return focus

    @cached_property
    def homes(self) -> tuple[str, ...]:
        """The files in which the alert's names stand, if they are the smaller part of all."""
        every = {name for extent in self.extents for name in extent.sources}
        entities = [item for item in self.brief.entities if item.weight > 1]
        telling = [item for item in entities if item.weight > 2 or is_identifier(item.text)]
        for named in (telling, entities):
            found = {name for item in named for name in self._sources_with(item, every)}
            if found and all(is_plain(item.text) for item in named):
                found = self._narrowed(found, every)
            if found:
                return tuple(sorted(found)[:HOMES]) if 2 * len(found) <= len(every) else ()
        return ()

    def _narrowed(self, found: set[str], every: Iterable[str]) -> set[str]:
        """Those of *found* that hold a second name, if any do: a plain word stands anywhere."""
        others = [item for item in self.brief.entities if not is_plain(item.text)]
        second = {name for item in others for name in self._sources_with(item, every)}
        return found & second or found

    def _sources_with(self, entity: Entity, every: Iterable[str]) -> Iterator[str]:
        """The files whose lines, or whose own names, hold the name of *entity*."""
        asked = {
            item.answer.handle: item
            for item in self.transcript.of_step("probe")
            if text_at(item.input, "text") == as_term(entity.text) and item.answer.lines
        }
        for item in (*asked.values(), *self.transcript.of_step("homes")):
            if item.answer.handle in asked or text_at(item.input, "handle") in asked:
                yield from (line.source for row in item.answer.rows if (line := line_of(row)))
        yield from (name for name in every if entity.text.lower() in name.lower())

    def _around_alert(self, extent: Extent) -> int | None:
        """How many entries stand around the alert's time, where that was asked."""
        window = around(self.brief, extent)
        totals = (
            item.answer.total
            for item in self.transcript.of_step("probe")
            if window and item.input == {"logbook": extent.logbook, **window, "limit": 1}
        )
        return next(totals, None)

    def found(self, text: str) -> int | None:
        """How many entries hold *text*, over all logbooks; None when it was not looked for."""
        totals = [
            item.answer.total
            for item in self.transcript.of_tool("search_logbook")
            if text_at(item.input, "text").strip('"*') == text and item.answer.total is not None
        ]
        return sum(totals) if totals else None

    def present(self, entity: Entity) -> bool:
        """True when a log names *entity*, in a line, a field or by the name of a source."""
        if self.found(entity.text):
            return True
        sources = (name for item in self.extents for name in item.sources)
        return any(entity.text.lower() in name.lower() for name in sources)

    @cached_property
    def missing_subject(self) -> tuple[Exchange, ...]:
        """The searches that show that what the alert is about is in no log; empty when it is."""
        entities = self.brief.entities
        exact = [
            item
            for item in entities
            if item.weight > 2 or (item.weight == 2 and is_identifier(item.text))
        ]
        if not exact and not self.causes:
            named = [item for item in entities if item.weight > 1]
            exact = [item for item in named if COMPOUND.search(item.text)] if named else []
            exact = [] if any(self.present(item) for item in named) else exact
        if not exact or any(self.present(item) for item in exact):
            return ()
        texts = {item.text for item in exact}
        return tuple(
            item
            for item in self.transcript.of_step("probe")
            if text_at(item.input, "text").strip('"*') in texts and item.answer.proves_absence
        )

    @cached_property
    def names_are_known(self) -> bool:
        """False when the alert names things and none of them is in the logs."""
        named = [i for i in self.brief.entities if i.weight > 1 and COMPOUND.search(i.text)]
        return not named or any(self.present(i) for i in self.brief.entities if i.weight > 1)

    @property
    def is_any_trouble(self) -> bool:
        """True when neither a name nor a time of the alert tells which of many logs it is about."""
        sources = max((len(extent.sources) for extent in self.extents), default=0)
        focus = self.focus_of("")
        timed = bool(focus.since) and not focus.is_guess
        return self.circle().names_nothing and not timed and sources >= UNRELATED_SOURCES

    def related(self, line: Line) -> bool:
        """True when the line names one of the alert's entities."""
        return any(names(line, item.text) for item in self.brief.entities if item.weight > 1)

    def _found_in_healthy_time(self) -> frozenset[str]:
        """The phrases that were looked for in a healthy time, and found there."""
        return frozenset(
            text_at(item.input, "text")
            for item in self.transcript.of_step("doubt")
            if (item.input.get("since") or item.input.get("until")) and item.answer.total
        )

    def _shares(self) -> dict[str, Shares]:
        """How many entries the two windows of each comparison hold, by handle."""
        found = {}
        for item in self.transcript.of_tool("logbook_patterns"):
            baseline = item.answer.facts.get("baseline_entries")
            if isinstance(baseline, int):
                found[item.answer.handle] = Shares(item.answer.total or 0, baseline)
        return found


def read_view(request: Request) -> View:
    """The view of *request*."""
    return View(
        brief=read_brief(request),
        transcript=read_transcript(request),
        tools=frozenset(str(tool.get("name")) for tool in request.tools),
    )

"""The walk over a recorded investigation: its turns told again under another policy.

A pure function of the recorded events, the rows in scratch, the policy and the prices. The levers
are the real ones, pulled by the real `upkeep`; only the model and the journal are told, not asked
and not written. What comes out is the journal that there would be, so that whatever reads a journal
can price and show it. What the model said stays as it was: a model that had seen more or less might
have asked otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from copilot import alerts
from copilot.beliefs import with_effects
from copilot.context.departures import Departure, departures
from copilot.context.prompt_cache import USUAL_MINIMUM, PromptCache
from copilot.context.validate import InvalidRequestError
from copilot.errors import ModelError
from copilot.journal import Event
from copilot.limits import close
from copilot.notes.state import State
from copilot.simulation.placed_again import Placing, Rows
from copilot.simulation.recording import Recording
from copilot.simulation.stage import Question, Terms, at_work
from copilot.simulation.tape import Tape
from copilot.simulation.teller import Teller
from copilot.steps import model_step
from copilot.upkeep import upkeep
from copilot.values import JsonObject, object_at, text_at

UNREAD = frozenset({"request", "clear", "compact", "state"})
"""Kinds of recorded events that follow from the recorded policy: they are made anew."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What would have been."""

    policy: str
    model: str
    events: tuple[Event, ...]
    """The journal as it would be."""
    departures: tuple[Departure, ...]
    remarks: tuple[str, ...]
    """What was assumed, and what would have gone wrong."""
    is_whole: bool
    """False when a request did not fit the window, and the turns from there on are not told."""


def simulate(events: Sequence[Event], rows: Rows, terms: Terms) -> Simulation:
    """The investigation that *events* record, under *terms*. *rows* gives those of a handle."""
    walk = _Walk(events, rows, terms)
    walk.through(events)
    told = walk.work.journal.events
    return Simulation(
        policy=terms.frame.policy.name,
        model=terms.frame.model,
        events=told,
        departures=departures(told),
        remarks=walk.remarks(),
        is_whole=not walk.broke_off,
    )


class _Walk:
    """The events told again so far, and the work that they are told to."""

    def __init__(self, events: Sequence[Event], rows: Rows, terms: Terms) -> None:
        self._recording = Recording(events)
        self._placing = Placing(terms.frame.policy, rows)
        self._state = State()
        self._tape = Tape(events[0].time, self._take_in)
        cache = PromptCache(terms.cache_minimum or USUAL_MINIMUM)
        self._teller = Teller(terms.frame.model, terms.window, self._recording, cache)
        self.broke_off = ""
        """The first turn whose request cannot be sent, and why."""
        self._unoffered: set[str] = set()
        begun = events[0].data
        asked = Question(alerts.from_json(object_at(begun, "alert")), text_at(begun, "question"))
        self.work = at_work(terms, asked, self._teller, self._tape, lambda: self._state)

    def through(self, events: Sequence[Event]) -> None:
        """Tell every event, turn by turn, as far as the request fits the window."""
        for turn, group in groupby(events, key=lambda event: event.turn):
            told = [event for event in group if event.kind not in UNREAD]
            self._teller.turn = turn
            answers = [event for event in told if _is_answer(event)]
            self._answers(turn, answers)
            if self.broke_off:
                return
            for event in told:
                self._tape.time = event.time
                self._tell(event)

    def remarks(self) -> tuple[str, ...]:
        """What was assumed, and what would have gone wrong."""
        gone = len(self._placing.as_recorded)
        found = [
            ("recorded by rules: an endpoint that clears and compacts by itself is assumed",
             self._recording.by_rules),
            (f"answers that are as they were recorded, since their rows are gone: {gone}", gone),
            (f"summaries that are assumed, as long as the policy allows: {self._teller.assumed}",
             self._teller.assumed),
            (f"used and not offered: {', '.join(sorted(self._unoffered))}", self._unoffered),
            (f"ends early, {self.broke_off}", self.broke_off),
        ]  # fmt: skip
        return tuple(text for text, holds in found if holds)

    def _answers(self, turn: int, answers: list[Event]) -> None:
        """Keep the view up and let the turn's recorded answers be given."""
        if not answers:
            return
        self._tape.time = answers[0].time
        self._teller.answers = None
        try:
            upkeep(self.work, turn)
            self._teller.answers = answers
            model_step(self.work, turn)
        except InvalidRequestError as error:
            self.broke_off = f"turn {turn}: {error}"
        except ModelError as error:
            if error.kind == "too_long":  # another kind was in the record, and so is what followed
                self.broke_off = f"turn {turn}: {error}"

    def _tell(self, event: Event) -> None:
        """What else happened in the turn."""
        data = event.data
        match event.kind:
            case "response":
                pass
            case "started":
                names: JsonObject = {"model": self._teller.name, "policy": self.work.policy.name}
                self._append(event, data | names)
                if self._recording.by_rules:
                    support = self._recording.support(event)
                    self._tape.append("support", 0, {**support.as_json(), "origin": "assumed"})
            case "support":
                if not self._recording.by_rules:
                    self._append(event, data | {**self._recording.support(event).as_json()})
            case "result":
                self._result(event)
            case "limit":
                close(self.work, event.turn, text_at(data, "limit"), text_at(data, "why"))
            case _:
                self._append(event, data)

    def _result(self, event: Event) -> None:
        tool = text_at(event.data, "tool")
        if not self.work.policy.offers(tool):
            self._unoffered.add(tool)
        self._append(event, self._placing.again(event))
        effect = object_at(event.data, "effect")
        self._state = with_effects(self._state, [effect] if effect else [])

    def _append(self, event: Event, data: JsonObject) -> None:
        self._tape.append(event.kind, event.turn, data)

    def _take_in(self, event: Event) -> None:
        self._teller.ledger.add(event)
        self._teller.view.add(event)


def _is_answer(event: Event) -> bool:
    """True for an answer of the model; one that only holds a summary follows from the policy."""
    return event.kind == "response" and text_at(event.data, "stop_reason") != "compaction"

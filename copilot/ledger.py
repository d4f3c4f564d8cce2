"""What an investigation knows by its own record: a fold over the journal, never over a prompt.

Identifiers seen and where, answers with their completeness, calls already made, refused reports,
what was spent. It survives everything that the journal survives, because it is nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from copilot.journal import Event
from copilot.tools.answer import Answer
from copilot.values import JsonObject, list_at, object_at, text_at

TOKEN_KEYS = ("input", "cache_read", "cache_write", "output")


@dataclass(frozen=True, slots=True)
class Sighting:
    """An identifier, verbatim, with the reference where it was first seen and how often."""

    kind: str
    value: str
    reference: str
    count: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used so far. `usd` is None as soon as one answer's price is not known."""

    turns: int = 0
    tokens: int = 0
    usd: Decimal | None = Decimal(0)
    last_usd: Decimal = Decimal(0)
    last_tokens: int = 0


class Ledger:
    """The fold. `add` takes events in order; everything else reads."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.sightings: dict[tuple[str, str], Sighting] = {}
        self.answers: dict[str, Answer] = {}
        self.calls: dict[str, Event] = {}
        """The first good answer to each call, by the call's key."""
        self.refusals = 0
        self.nudges = 0
        self.dropped = 0
        self.turn = 0
        self.limit = ""
        self.report: JsonObject | None = None
        """What was handed in and passed the gate: `report`, `unsupported`, `author`."""
        self.spent = Spent()
        self._seen: set[str] = set()
        for event in events:
            self.add(event)

    @property
    def seen(self) -> frozenset[str]:
        """Every identifier that was shown so far."""
        return frozenset(self._seen)

    def add(self, event: Event) -> None:
        """Take in one event."""
        self.turn = max(self.turn, event.turn)
        match event.kind:
            case "started":
                self._sight(event, "alert")
            case "response":
                self._pay(event)
            case "result":
                self._answer(event)
            case "nudge":
                self.nudges += 1
            case "limit":
                self.limit = text_at(event.data, "limit")
            case "report":
                self.report = event.data
            case _:
                pass

    def _answer(self, event: Event) -> None:
        data = event.data
        handle = text_at(data, "handle")
        if handle and handle not in self.answers:
            total = data.get("total")
            self.answers[handle] = Answer(
                handle=handle,
                tool=text_at(data, "tool"),
                complete=data.get("complete") is True,
                total=total if isinstance(total, int) else None,
            )
        key = text_at(data, "key")
        if key and data.get("ok") is True:
            self.calls.setdefault(key, event)
        effect = object_at(data, "effect")
        self.refusals += effect.get("refused") is True
        if data.get("ends") is True:
            self.report = {**effect, "author": "model"}
        self._sight(event, handle)

    def _sight(self, event: Event, handle: str) -> None:
        """Count each `[kind, value, row]` of the event's artifacts."""
        for item in list_at(event.data, "artifacts"):
            if not isinstance(item, list):
                continue
            kind, value, row = str(item[0]), str(item[1]), item[2]
            known = self.sightings.get((kind, value))
            place = f"{handle}:{row}" if row and handle != "alert" else handle
            self.sightings[kind, value] = (
                Sighting(kind, value, known.reference, known.count + 1)
                if known
                else Sighting(kind, value, place, 1)
            )
            self._seen.add(value)

    def _pay(self, event: Event) -> None:
        usage = object_at(event.data, "usage")
        tokens = sum(int(text_at(usage, key) or 0) for key in TOKEN_KEYS)
        price = text_at(event.data, "usd")
        known = self.spent.usd
        self.dropped += event.data.get("dropped") is True
        self.spent = Spent(
            turns=max(self.spent.turns, event.turn),
            tokens=self.spent.tokens + tokens,
            usd=known + Decimal(price) if price and known is not None else None,
            last_usd=Decimal(price or 0),
            last_tokens=tokens,
        )

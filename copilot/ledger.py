"""What an investigation knows by its own record: a fold over the journal, never over a prompt.

Identifiers and where they were seen, answers with their completeness, calls already made, refused
reports, what was spent. It survives whatever the journal survives, because it is nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from copilot.context.guard import Guard
from copilot.journal import Event
from copilot.models.support import NOTHING, from_json
from copilot.sightings import Sighting, Sightings, Weight
from copilot.tools.answer import Answer
from copilot.values import JsonObject, compact, list_at, object_at, text_at

TOKEN_KEYS = ("input", "cache_read", "cache_write", "output")
WRITES = {"record_finding": Weight.CITED, "write_notes": Weight.NOTED}
"""Tools whose arguments say what matters more than by asking for it."""
QUIET = frozenset(
    {
        "read_notes", "write_notes", "record_finding", "propose_ticket_comment", "submit_report",
    }
)  # fmt: skip
LOSSY = 0.5
"""The share of what matters that a summary may lose before it counts as a bad one."""
LONGEST_STEP = timedelta(minutes=10)
"""No step takes longer, so a longer gap between two events is time when nobody was at work."""
GUESS_PER_BYTE = 0.4
"""Tokens a byte before the service has counted anything: a safe guess for logs and JSON."""


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
        self.sightings = Sightings()
        self.answers: dict[str, Answer] = {}
        self.searches: dict[str, str] = {}
        """The call that each handle answers, and how much it found."""
        self.guard = Guard()
        self.results: dict[str, Event] = {}
        """The answer to each call, by the call's id."""
        self.support = NOTHING
        self.refusals = 0
        self.nudges = 0
        self.turn = 0
        self.limit = ""
        self.active = timedelta(0)
        """How long it has been at work. A pause, such as a restart, counts as one long step."""
        self._last_time: datetime | None = None
        self.bad_compactions = 0
        """Failed or lossy ones in a row."""
        self.report: JsonObject | None = None
        """What was handed in and passed the gate: `report`, `unsupported`, `author`."""
        self.clearing_ignored = False
        """The service was told to clear, answered, and reports that it cleared nothing."""
        self._awaits_clearing = False
        self.spent = Spent()
        self.per_byte = GUESS_PER_BYTE
        """Tokens a byte, as the service counted the last request."""
        self._sent_bytes = 0
        self._counted = 0
        """The tokens of the last request, as the service counted them."""
        for event in events:
            self.add(event)

    @property
    def seen(self) -> frozenset[str]:
        """Every identifier that was shown so far."""
        return self.sightings.values

    @property
    def advice(self) -> dict[str, str]:
        """What to change in the policy, by tool: where cleared results were needed again."""
        return self.guard.asked.advice

    def estimate(self, size: int) -> int:
        """An upper guess of the tokens of the next request, of *size* bytes.

        What came since the service last counted may be denser than what it counted, and what left
        may have been sparser: both are guessed as if nothing had been counted.
        """
        safe = max(GUESS_PER_BYTE, self.per_byte)
        added = max(0, size - self._sent_bytes)
        return int(min(safe * size, self._counted + safe * added))

    def important(self) -> list[Sighting]:
        """The identifiers that matter, the weightiest first."""
        return self.sightings.important()

    def add(self, event: Event) -> None:
        """Take in one event."""
        self.turn = max(self.turn, event.turn)
        self.active += min(event.time - (self._last_time or event.time), LONGEST_STEP)
        self._last_time = event.time
        self.guard.add(event)
        match event.kind:
            case "started":
                self._sight(event, "alert", Weight.ALERT)
            case "support":
                self.support = from_json(event.data)
                self._pay(event)
            case "request":
                sizes = object_at(event.data, "bytes")
                self._sent_bytes = sum(int(text_at(sizes, key)) for key in sizes)
            case "response":
                self._pay(event)
                self._calibrate(event)
                self._check_clearing(event)
            case "clear" | "compact":
                self._lever(event)
            case "result":
                self._answer(event)
                self._pay(event)
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
        handle, tool = text_at(data, "handle"), text_at(data, "tool")
        self.results[text_at(data, "call")] = event
        if handle:
            total = data.get("total")
            count = total if isinstance(total, int) else None
            asked = f"{tool} {compact(data.get('arguments'))[:200]}, {count} found"
            self._found(Answer(handle, tool, data.get("complete") is True, count), asked)
        for item in list_at(data, "answers"):
            if isinstance(item, list):
                total = item[3] if isinstance(item[3], int) else None
                answer = Answer(str(item[0]), str(item[1]), item[2] is True, total)
                self._found(answer, str(item[4]))
        effect = object_at(data, "effect")
        self.refusals += effect.get("refused") is True
        if data.get("ends") is True:
            self.report = {**effect, "author": "model"}
        self._sight(event, handle, Weight.SEEN)
        if data.get("ok") is True:
            weight = WRITES.get(tool, Weight.ARGUMENT)
            self.sightings.weigh(compact(data.get("arguments")), handle or tool, weight)

    def _found(self, answer: Answer, asked: str) -> None:
        """Keep what a handle answers; the first to make it says how far it reaches."""
        if answer.handle not in self.answers:
            self.answers[answer.handle] = answer
            self.searches[answer.handle] = asked

    def _sight(self, event: Event, handle: str, weight: Weight) -> None:
        """Count each `[kind, value, row]` of the event's artifacts; a task's have references."""
        for item in list_at(event.data, "artifacts"):
            if isinstance(item, list):
                place = f"{handle}:{item[2]}" if handle and item[2] else handle
                place = item[2] if isinstance(item[2], str) else place
                self.sightings.see(str(item[0]), str(item[1]), place, weight)

    def _pay(self, event: Event) -> None:
        usage = object_at(event.data, "usage")
        if not usage:
            return
        tokens = sum(int(text_at(usage, key) or 0) for key in TOKEN_KEYS)
        price = text_at(event.data, "usd")
        known = self.spent.usd
        spent = replace(
            self.spent,
            turns=max(self.spent.turns, event.turn),
            tokens=self.spent.tokens + tokens,
            usd=known + Decimal(price) if price and known is not None else None,
        )
        if event.kind != "result":  # a task is paid for, and says nothing of the next answer
            spent = replace(spent, last_usd=Decimal(price or 0), last_tokens=tokens)
        self.spent = spent

    def _lever(self, event: Event) -> None:
        """Take note of a clearing whose effect must show, or of how well a compaction went."""
        if event.kind == "clear":
            self._awaits_clearing = text_at(event.data, "by") == "server"
            return
        self._pay(event)
        if text_at(event.data, "by") == "state":
            return  # code wrote it: that says nothing of the summaries that failed before
        bad = event.data.get("failed") is True or _number(event, "loss_rate") > LOSSY
        self.bad_compactions = self.bad_compactions + 1 if bad else 0

    def _check_clearing(self, event: Event) -> None:
        """Look for the effect of a clearing in the first answer after it."""
        if self._awaits_clearing and not event.data.get("dropped"):
            kinds = [text_at(edit, "type") for edit in list_at(event.data, "applied")]
            self.clearing_ignored = "clear_tool_uses_20250919" not in kinds
            self._awaits_clearing = False

    def _calibrate(self, event: Event) -> None:
        """Learn how many tokens a byte is from what the service says the window now holds."""
        counted = _number(event, "context")
        if counted and self._sent_bytes:
            self.per_byte = min(max(counted / self._sent_bytes, 0.1), 1.0)
            self._counted = int(counted)


def _number(event: Event, key: str) -> float:
    return float(text_at(event.data, key) or 0)

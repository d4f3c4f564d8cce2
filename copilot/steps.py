"""One investigation at work, and its first kind of I/O: an answer of the model, recorded at once.

The second kind, the calls of one turn, is in calls.py. A step that the journal already holds is not
done again: that is how a killed run resumes without paying twice. Both steps are safe to repeat
from their beginning at any moment.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, Protocol, Self

from copilot import prompt
from copilot.context.levers import Prices
from copilot.context.request import Frame, build
from copilot.context.room import enlarged
from copilot.context.validate import check
from copilot.context.view import View
from copilot.errors import ModelError
from copilot.journal import Journal
from copilot.ledger import Ledger
from copilot.models.model import Model, Response, Usage, verdict
from copilot.models.support import Support
from copilot.tools.base import Case
from copilot.tools.registry import Registry
from copilot.values import JsonObject
from policies.schema import Policy

StopReason = Literal["", "operator", "resolved"]
NEARLY_FULL = 0.8
"""The share of the window from which on the service is asked to count."""
MAX_CUT = 2
DROPPED = frozenset({"cut", "broken"})
"""Answers that are paid for and never used: a cut one may hold a call whose input is cut too."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """What an investigation may use. The last turn, the report, is inside every one of them."""

    turns: int
    tokens: int
    usd: Decimal
    wall_time: timedelta


class Recorder(Protocol):
    """Does the I/O of an investigation in named steps. What each brings is in the journal."""

    def step(self, name: str, io: Callable[[], JsonObject]) -> JsonObject:
        """Do *io*, which may wait first, and return the few words it gives to be recorded."""
        ...

    def nested(self) -> "Recorder":
        """The recorder of a sub-investigation, which runs inside a step of this one."""
        ...


class Plain:
    """Every step is done at once; the journal is the only record."""

    def step(self, name: str, io: Callable[[], JsonObject]) -> JsonObject:  # noqa: ARG002 - a Recorder
        """Do *io*."""
        return io()

    def nested(self) -> Self:
        """The same."""
        return self


@dataclass(frozen=True, slots=True)
class Work:
    """One investigation at work: its collaborators and its record so far."""

    model: Model
    window: int
    """The model's, in tokens."""
    price: Callable[[Usage], Decimal | None]
    prices: Prices
    registry: Registry
    policy: Policy
    case: Case
    budgets: Budgets
    journal: Journal
    frame: Frame
    view: View
    ledger: Ledger
    learned: Callable[[Support], None]
    """Takes what was learned of the endpoint, for the next investigation."""
    stop: Callable[[], StopReason]
    """Asked before each turn: why the report is wanted now, or an empty text."""
    now: Callable[[], datetime]
    limit_message: Callable[[str], str] = prompt.limit_message
    """What the model is told before its last answer."""
    recorder: Recorder = field(default_factory=Plain)


def step(work: Work, name: str, do: Callable[[], object]) -> None:
    """Do one piece of I/O that leaves its result in the journal, as a step of that name."""

    def io() -> JsonObject:
        do()
        last = work.journal.events[-1]
        return {"turn": last.turn, "kind": last.kind, "seq": last.seq}

    work.recorder.step(name, io)


def model_step(work: Work, turn: int) -> Response:
    """The answer of *turn*: the recorded one, or a new one, recorded. Raises ModelError."""
    recorded = work.journal.last("response", turn)
    if recorded is None or recorded.data.get("dropped"):
        step(work, "model", lambda: _ask_until_whole(work, turn))
        recorded = work.journal.last("response", turn)
    assert recorded is not None
    return Response(recorded.data["raw"])  # type: ignore[arg-type]  # JSON of the service


def _ask_until_whole(work: Work, turn: int) -> None:
    """A new answer of *turn* in the journal, behind those that broke off. Raises ModelError."""
    for cut_before in range(_cut_before(work, turn), MAX_CUT + 1):
        if verdict(_ask(work, turn, cut_before)) not in DROPPED:
            return
    raise ModelError(f"the answer broke off {MAX_CUT + 1} times", kind="broken")


def _ask(work: Work, turn: int, cut_before: int) -> Response:
    """One new answer, recorded; each cut one before it doubles what it may write."""
    request = build(work.view, work.frame, work.ledger.support)
    sizes: JsonObject = {**work.frame.sizes, **work.view.sizes}
    estimate = work.ledger.estimate(sum(int(str(size)) for size in sizes.values()))
    if estimate > work.window * NEARLY_FULL:  # only here is a count worth a call of its own
        estimate = work.model.count_tokens(request) or estimate
    longest = enlarged(work.frame, work.window - estimate, cut_before)
    request = replace(request, max_tokens=longest)
    check(request, window=work.window, estimate=estimate, paused=work.view.is_paused)
    work.journal.append(
        "request",
        turn,
        {
            "digest": work.view.digest,
            "bytes": sizes,
            "estimate": estimate,
            "messages": len(request.messages),
            "max_tokens": longest,
        },
    )
    started = work.now()
    response = work.model.respond(request)
    usage = response.usage
    work.journal.append(
        "response",
        turn,
        {
            "raw": response.raw,
            "model": work.model.name,
            "request_id": response.request_id,
            "stop_reason": response.stop_reason,
            "usage": usage_json(usage),
            "context": usage.context,
            "applied": list(response.applied_edits),
            "usd": priced(work, response),
            "estimate": estimate,
            "ms": int((work.now() - started) / timedelta(milliseconds=1)),
            "dropped": verdict(response) in DROPPED or is_failed_summary(response),
        },
    )
    return response


def is_failed_summary(response: Response) -> bool:
    """True when the service stopped to summarise and has no summary: a null block, or none."""
    found = [block for block in response.content if block.get("type") == "compaction"]
    return verdict(response) == "compacted" and not (found and found[0].get("content"))


def priced(work: Work, response: Response) -> str | None:
    """The dollars of an answer as the journal keeps them; None when a price is not known."""
    price = work.price(response.usage)
    return None if price is None else str(price)


def _cut_before(work: Work, turn: int) -> int:
    """How many answers of this turn were recorded and dropped."""
    events = work.journal.events
    return sum(event.kind == "response" and event.turn == turn for event in events)


def usage_json(usage: Usage) -> JsonObject:
    """The tokens of one answer, summed over all that is billed, as the journal keeps them."""
    total = usage.total
    counts = {
        "input": total.input,
        "cache_read": total.cache_read,
        "cache_write": total.cache_write,
        "output": total.output,
    }
    return {**counts, "iterations": [asdict(item) for item in usage.iterations]}

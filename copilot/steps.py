"""The two kinds of I/O of an investigation, each recorded before anything acts on it.

A step that the journal already holds is not done again: that is how a killed run resumes without
paying twice. Both steps are safe to repeat from their beginning at any moment.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from copilot.context.levers import Prices
from copilot.context.placement import place
from copilot.context.request import Frame, build
from copilot.context.validate import check
from copilot.context.view import View
from copilot.errors import ModelError
from copilot.journal import Event, Journal
from copilot.ledger import Ledger
from copilot.models.model import Model, Response, ToolCall, Usage, verdict
from copilot.models.support import Support
from copilot.tools.base import Case
from copilot.tools.registry import MAX_CALLS, Prepared, Ran, Registry, refused
from copilot.values import JsonObject, compact, object_at
from policies.schema import Policy

MAX_CUT = 2
DROPPED = frozenset({"cut", "broken"})
"""Answers that are paid for and never used: a cut one may hold a call whose input is cut too."""
LEAST_TOKENS = 200
"""What even the last answer of a turn may use: the envelope and one row."""
ARTIFACTS_KEPT = 300
"""Identifiers recorded of one answer; the rest stay in scratch."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """What an investigation may use. The last turn, the report, is inside every one of them."""

    turns: int
    tokens: int
    usd: Decimal
    wall_time: timedelta


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
    stop: Callable[[], bool]
    now: Callable[[], datetime]


def model_step(work: Work, turn: int) -> Response:
    """The answer of *turn*: the recorded one, or a new one, recorded. Raises ModelError."""
    recorded = work.journal.last("response", turn)
    if recorded and not recorded.data.get("dropped"):
        return Response(recorded.data["raw"])  # type: ignore[arg-type]  # JSON of the service
    for cut_before in range(_cut_before(work, turn), MAX_CUT + 1):
        response = _ask(work, turn, cut_before)
        if verdict(response) not in DROPPED:
            return response
    raise ModelError(f"the answer broke off {MAX_CUT + 1} times", kind="broken")


def _ask(work: Work, turn: int, cut_before: int) -> Response:
    """One new answer, recorded; each cut one before it doubles what it may write."""
    request = build(work.view, work.frame, work.ledger.support, enlarged=cut_before)
    sizes: JsonObject = {**work.frame.sizes, **work.view.sizes}
    estimate = int(sum(int(str(size)) for size in sizes.values()) * work.ledger.per_byte)
    check(request, window=work.window, estimate=estimate, paused=work.view.is_paused)
    work.journal.append(
        "request",
        turn,
        {
            "digest": work.view.digest,
            "bytes": sizes,
            "estimate": estimate,
            "messages": len(request.messages),
        },
    )
    started = work.now()
    response = work.model.respond(request)
    usage = response.usage
    price = work.price(usage)
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
            "usd": None if price is None else str(price),
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


def _cut_before(work: Work, turn: int) -> int:
    """How many answers of this turn were recorded and dropped."""
    events = work.journal.events
    return sum(event.kind == "response" and event.turn == turn for event in events)


def tools_step(work: Work, turn: int, calls: Sequence[ToolCall]) -> list[Event]:
    """Every call of *turn* answered and recorded, in call order; what is recorded is kept."""
    kept = [event for event in work.journal.events if event.kind == "result" and event.turn == turn]
    done = {event.data["call"] for event in kept}
    budget = work.policy.turn_tokens - sum(int(str(event.data["tokens"])) for event in kept)
    for item in _run(work, [call for call in calls if call.id not in done]):
        data = _answer(work, item, max(budget, LEAST_TOKENS))
        kept.append(work.journal.append("result", turn, data))
        budget -= int(str(data["tokens"]))
    return kept


def _run(work: Work, calls: Sequence[ToolCall]) -> Iterator[Ran | Prepared]:
    """The calls in their order, run side by side; a call made before comes back unrun."""
    ready = [work.registry.prepare(call) for call in calls[:MAX_CALLS]]
    prepared = [item for item in ready if isinstance(item, Prepared)]
    first = {item.key: item for item in reversed(prepared) if item.key}
    fresh = [
        item
        for item in prepared
        if item.key not in work.ledger.calls and first.get(item.key, item) is item
    ]
    with ThreadPoolExecutor(MAX_CALLS, thread_name_prefix="tool") as threads:
        ran = dict(
            zip(
                (item.call.id for item in fresh),
                threads.map(lambda item: work.registry.run(item, work.case), fresh),
                strict=True,
            )
        )
    yield from (ran.get(item.call.id, item) for item in ready)
    yield from (refused(call) for call in calls[MAX_CALLS:])


def _answer(work: Work, item: Ran | Prepared, budget: int) -> JsonObject:
    """What the journal keeps of one answer; its rows go to scratch first."""
    earlier = work.ledger.calls.get(item.key)
    if earlier:
        return _repeated(item.call, earlier)
    ran = item if isinstance(item, Ran) else work.registry.run(item, work.case)
    outcome = ran.outcome
    handle, size = "", 0
    if outcome.stored:
        stored = work.case.scratch.put(outcome.rows, tool=ran.call.name, arguments=ran.arguments)
        handle, size = stored.handle, stored.bytes
    placed = place(ran.call.name, outcome, handle, work.policy.tool(ran.call.name), budget)
    return {
        "call": ran.call.id,
        "tool": ran.call.name,
        "key": ran.key,
        "arguments": ran.arguments,
        "ok": outcome.ok,
        "handle": handle,
        "bytes": size,
        "total": outcome.total.value if outcome.total else len(outcome.rows),
        "complete": outcome.ok and not outcome.why_incomplete,
        "placement": placed.placement,
        "tokens": placed.tokens,
        "text": placed.text,
        "effect": outcome.effect,
        "ends": outcome.ends,
        "artifacts": [list(item) for item in ran.artifacts[:ARTIFACTS_KEPT]],
    }


def _repeated(call: ToolCall, earlier: Event) -> JsonObject:
    """The earlier answer once more, marked as such: a needed re-read is always served."""
    note = f"the same call as in turn {earlier.turn}, served from scratch"
    text = f'{{"repeat":{compact(note)},{str(earlier.data["text"])[1:]}'
    news: JsonObject = {"call": call.id, "text": text, "repeats": earlier.turn}
    return {**earlier.data, **news, "artifacts": [], "effect": {}}


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


def effects(results: Sequence[Event]) -> list[JsonObject]:
    """What the answers change in the incident's state, in call order."""
    return [effect for event in results if (effect := object_at(event.data, "effect"))]

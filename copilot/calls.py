"""All tool calls of one turn, answered and recorded: the second kind of I/O of an investigation.

A call that was made before is answered from its record: whole when the answer left the view, by a
short pointer while it still stands there. A call that brings nothing new again and again meets the
guard.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from opentelemetry.context import Context

from copilot import traces
from copilot.context.again import hinted, served_again
from copilot.context.asked import Past
from copilot.context.likeness import likeness
from copilot.context.placement import place, tokens_of
from copilot.journal import Event
from copilot.models.model import ToolCall
from copilot.steps import Work, step
from copilot.tools.base import Outcome
from copilot.tools.registry import MAX_CALLS, Prepared, Ran, refused
from copilot.values import Json, JsonObject, canonical, digest, object_at, text_at

LEAST_TOKENS = 200
"""What even the last answer of a turn may use: the envelope and one row."""
ARTIFACTS_KEPT = 300
"""Identifiers recorded of one answer; the rest stay in scratch."""


def tools_step(work: Work, turn: int, calls: Sequence[ToolCall]) -> list[Event]:
    """Every call of *turn* answered and recorded, in call order; what is recorded is kept."""
    done = {event.data["call"] for event in _results(work, turn)}
    if any(call.id not in done for call in calls):
        step(work, "tools", lambda: _answer_all(work, turn, calls))
    return _results(work, turn)


def _results(work: Work, turn: int) -> list[Event]:
    """What is recorded of the calls of *turn*."""
    return [event for event in work.journal.events if event.kind == "result" and event.turn == turn]


def _answer_all(work: Work, turn: int, calls: Sequence[ToolCall]) -> None:
    """Run and record what is not recorded yet."""
    kept = _results(work, turn)
    done = {event.data["call"] for event in kept}
    budget = work.policy.turn_tokens - sum(int(str(event.data["tokens"])) for event in kept)
    over = _over(work, calls)
    for item in _run(work, turn, [call for call in calls if call.id not in done], over):
        data = _answer(work, turn, item, max(budget, LEAST_TOKENS))
        work.journal.append("result", turn, data)
        budget -= int(str(data["tokens"]))


def effects(results: Sequence[Event]) -> list[JsonObject]:
    """What the answers change in the incident's state, in call order."""
    return [effect for event in results if (effect := object_at(event.data, "effect"))]


def _over(work: Work, calls: Sequence[ToolCall]) -> dict[str, str]:
    """The calls that go beyond what one turn may have, by id, and what they are answered."""
    over: dict[str, str] = {}
    counts: dict[str, int] = {}
    for number, call in enumerate(calls, start=1):
        counts[call.name] = counts.get(call.name, 0) + 1
        most = work.registry.per_turn(call.name)
        if number > MAX_CALLS or counts[call.name] > most:
            what = f"calls of {call.name}" if number <= MAX_CALLS else "calls"
            over[call.id] = f"not run: at most {most} {what} a turn; ask again for what you need"
    return over


def _run(
    work: Work, turn: int, calls: Sequence[ToolCall], over: Mapping[str, str]
) -> Iterator[Ran | Prepared]:
    """The calls in their order, run side by side; a call made before comes back unrun."""
    ready = [
        refused(call, over[call.id]) if call.id in over else _admitted(work, turn, call)
        for call in calls
    ]
    fresh: list[Prepared] = []
    for item in ready:
        if isinstance(item, Prepared) and not _known(work, item) and not _is_among(fresh, item):
            fresh.append(item)
    parent = traces.here()
    with ThreadPoolExecutor(MAX_CALLS, thread_name_prefix="tool") as threads:
        ran = dict(
            zip(
                (item.call.id for item in fresh),
                threads.map(lambda item: _timed(work, item, parent), fresh),
                strict=True,
            )
        )
    yield from (ran.get(item.call.id, item) for item in ready)


def _timed(work: Work, item: Prepared, parent: Context) -> Ran:
    """One call, with the time that it took."""
    begun = work.now()
    span = traces.ToolSpan(item.tool.name, item.call.id, parent)
    ran = work.registry.run(item, work.case)
    span.end(ok=ran.outcome.ok)
    return replace(ran, ms=int((work.now() - begun) / timedelta(milliseconds=1)))


def _admitted(work: Work, turn: int, call: ToolCall) -> Ran | Prepared:
    """The call ready to run, or the answer to one that cannot be or that the guard refuses."""
    item = work.registry.prepare(call)
    guard = work.ledger.guard
    if isinstance(item, Ran) or item.tool.name not in guard.closed(turn) or _known(work, item):
        return item
    names = [str(tool["name"]) for tool in work.frame.tools]
    text = guard.refusal(item.tool.name, turn, names)
    return refused(call, text, arguments=item.normal, worth="closed")


def _known(work: Work, item: Prepared) -> Past | None:
    """The same call answered before, when its answer may be served again."""
    return work.ledger.guard.asked.known(item.tool.name, item.normal) if item.key else None


def _is_among(fresh: Sequence[Prepared], item: Prepared) -> bool:
    """True when the same call is run already for this turn."""
    like = likeness(item.tool.name, item.normal)
    return bool(item.key) and any(
        like.is_same(likeness(other.tool.name, other.normal)) for other in fresh
    )


def _answer(work: Work, turn: int, item: Ran | Prepared, budget: int) -> JsonObject:
    """What the journal keeps of one answer, with what the guard has to say of it."""
    visible = {use.call for use in work.view.tool_uses() if not use.is_cleared}
    past = _known(work, item) if isinstance(item, Prepared) else None
    if isinstance(item, Prepared) and past:
        # With the whole turn to itself it is served whole, whatever its size.
        room = math.inf if budget >= work.policy.turn_tokens else budget
        data = served_again(item, past, visible, room)
    else:
        ran = item if isinstance(item, Ran) else work.registry.run(item, work.case)
        data = _placed(work, ran, budget)
    guard = work.ledger.guard
    data = guard.judged(data, visible)
    nudge = guard.nudge(turn, data)
    if not nudge:
        return data
    text = hinted(text_at(data, "text"), nudge)
    return data | {"text": text, "tokens": tokens_of(text), "nudge": nudge}


def _placed(work: Work, ran: Ran, budget: int) -> JsonObject:
    """A new answer as the policy shows it; its rows go to scratch first."""
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
        "ms": ran.ms,
        "complete": outcome.ok and not outcome.why_incomplete,
        "sha": _sha(outcome),
        "placement": placed.placement,
        "tokens": placed.tokens,
        "text": placed.text,
        "effect": outcome.effect,
        "ends": outcome.ends,
        "artifacts": [list(item) for item in ran.artifacts[:ARTIFACTS_KEPT]],
        **outcome.record,
        **({"worth": ran.worth} if ran.worth else {}),
    }


def _sha(outcome: Outcome) -> str:
    """A digest of what was found: equal for two answers that say the same."""
    total = outcome.total.value if outcome.total else None
    found: Json = outcome.facts
    if outcome.rows or outcome.total:
        found = {"rows": list(outcome.rows), "total": total}
    return digest(canonical(found))[:16]

"""Before each request: clear, compact, put back what matters. Decided, recorded, then in effect.

One event a lever, with the restatement in it, so that a kill between two writes loses nothing: what
left the view and what came back stand in the same line of the journal.
"""

from collections.abc import Sequence
from datetime import timedelta

from copilot.context import levers
from copilot.context.compaction import Kind, Summary, split, summary_in, summary_request
from copilot.context.instructions import SUMMARISED
from copilot.context.levers import Bite, Outlook
from copilot.context.restate import KEPT, Loss, loss, restatement, visible
from copilot.context.room import request_room
from copilot.context.view import Piece, emptied
from copilot.errors import ModelError
from copilot.fence import fenced
from copilot.models.model import Response
from copilot.safe_text import safe_text
from copilot.steps import Work, is_failed_summary, priced, step, usage_json
from copilot.values import JsonObject

NEARLY = 0.8
"""The share of a budget from which on its end is near."""
FOR_GOOD = frozenset({"auth", "billing", "spend_cap"})
"""Kinds of ModelError that end an investigation; others cost one summary."""


def upkeep(work: Work, turn: int) -> None:
    """Pull the lever that is due before the request of *turn*, if any is."""
    if work.view.is_closed or work.view.is_paused or work.ledger.report:
        return
    answered = work.journal.last("response", turn)
    if answered and not answered.data.get("dropped"):
        return  # resumed within a turn: nothing may come between its calls and their results
    _notice(work, turn)
    outlook = outlook_of(work, turn)
    bite = levers.bite(work.view, work.frame, work.ledger.support, outlook)
    if bite:
        clear(work, turn, bite)
        outlook = outlook_of(work, turn)
    kind = _due(work, outlook)
    if kind:
        _compact(work, turn, kind)
    _near_the_end(work, turn)


def is_at_its_end(work: Work, turn: int) -> bool:
    """Whether only the report still fits the window, and no lever makes more room."""
    outlook = outlook_of(work, turn)
    full = outlook.tokens > request_room(work.frame, work.window)
    return full and _due(work, outlook) is None


def _due(work: Work, outlook: Outlook) -> Kind | None:
    """The compaction that is due."""
    bad = work.ledger.bad_compactions
    return levers.compaction(work.frame, work.ledger.support, outlook, bad)


def _compact(work: Work, turn: int, kind: Kind) -> None:
    """Summarise; where the window is still full then, code writes what stands for the old turns."""
    if kind != "state":
        step(work, "summary", lambda: compact_view(work, turn, kind))
        if not levers.is_full(work.frame, outlook_of(work, turn)):
            return
    compact_view(work, turn, "state")


def _notice(work: Work, turn: int) -> None:
    """See whether the service did what it was asked; what it ignores is done here from now on."""
    if work.ledger.clearing_ignored and work.ledger.support.clear_tool_uses:
        downgrade(work, turn, ["clear_tool_uses"], "ignored: nothing was cleared")
    if work.view.cleared_by_server and not work.ledger.support.clear_tool_uses:
        # Where thoughts are bound to what came before, nothing of it may be changed here: the
        # bodies are simply sent again, until a summary takes their place.
        ours = not work.ledger.support.binds_thinking
        calls = [use.call for use in work.view.tool_uses() if use.is_cleared and ours]
        clear(work, turn, Bite(tuple(calls), 0, 0, "client", ""))


def downgrade(work: Work, turn: int, features: Sequence[str], why: str) -> None:
    """Record that the endpoint does not have *features*; nothing asks for them again."""
    support = work.ledger.support.without(*features)
    work.journal.append("support", turn, {**support.as_json(), "origin": "observed", "why": why})
    work.learned(support)


def threshold_summary(work: Work, turn: int, response: Response) -> None:
    """The service stopped with a summary of its own: put the tail and what it lost back."""
    if is_failed_summary(response):
        downgrade(work, turn, ["threshold"], "its summary was empty")
        return
    content = str(response.content[0].get("content"))
    keep_from = max(1, turn - work.policy.compaction.tail_turns)
    older, kept = split(work.view.set_aside, keep_from)
    data: JsonObject = {
        "by": "threshold",
        "failed": False,
        "keep_from": keep_from,
        **loss(work.ledger, content, visible(older)).as_json(),
        "state": put_back(work, "\n".join([content, visible(kept)]), goal=True),
    }
    work.journal.append("compact", turn, data)


def _near_the_end(work: Work, turn: int) -> None:
    """Say the state once more when a budget nears its end, if anything of it is gone."""
    spent, budgets = work.ledger.spent, work.budgets
    shares = (
        turn / budgets.turns,
        spent.tokens / budgets.tokens,
        float((spent.usd or 0) / budgets.usd),
        work.ledger.active / max(budgets.wall_time, timedelta(seconds=1)),
    )
    if max(shares) < NEARLY or work.journal.last("state"):
        return
    # Recorded also when nothing is gone: it is looked for once.
    text = put_back(work, visible(work.view.as_read()))
    work.journal.append("state", turn, {"text": text, "why": "a budget nears its end"})


def outlook_of(work: Work, turn: int) -> Outlook:
    """How large the next request is by our best guess, and how long this may go on."""
    size = sum(work.view.sizes.values()) + work.frame.bytes
    return Outlook(
        tokens=int(size * work.ledger.per_byte),
        per_byte=work.ledger.per_byte,
        window=work.window,
        turns_left=max(1, work.budgets.turns - turn),
        prices=work.prices,
    )


def clear(work: Work, turn: int, bite: Bite) -> None:
    """Record the bite, with what matters of the cleared results put back."""
    gone = set(bite.calls)
    before = work.view.as_read()
    rest = [piece for piece in before if piece.call not in gone]
    placeholders: JsonObject = {
        call: levers.placeholder(work.ledger.results[call].data) for call in bite.calls
    }
    data: JsonObject = {
        "by": bite.by,
        "calls": list(bite.calls),
        "up_to": bite.up_to,
        "freed": bite.freed,
        "next": bite.next,
        "placeholders": placeholders if bite.by == "client" else {},
        "state": put_back(work, visible(rest), before=visible(before)),
    }
    work.journal.append("clear", turn, data)


def compact_view(work: Work, turn: int, kind: Kind, *, retold: bool = False) -> None:
    """Replace the older turns by a summary of that kind, and put back what it lost.

    The tail is kept as it is; *retold*, as words of ours, without what the service signed.
    """
    keep_from = _tail_from(work, turn, kind)
    older, kept = split(work.view.pieces, keep_from)
    if not (retold or any(piece.call for piece in older)):
        return
    response = _asked(work, _as_read(work, older), kind) if kind != "state" else None
    summary = summary_in(response, kind) if response else Summary()
    failed = kind != "state" and not summary.content
    lost = loss(work.ledger, summary.content, visible(older)) if summary.content else Loss()
    data: JsonObject = {
        "by": kind,
        "failed": failed,
        "keep_from": keep_from,
        "block": summary.block,
        "summary": _told(work, summary.text),
        "strip_thinking": retold or (kind != "on_demand" and work.ledger.support.binds_thinking),
        **lost.as_json(),
        "model": work.model.name,
        "usage": usage_json(response.usage) if response else {},
        "usd": priced(work, response) if response else "0",
    }
    if not failed:
        text = "\n".join([summary.content, visible(kept)])
        data["state"] = put_back(work, text, goal=bool(summary.block))
    work.journal.append("compact", turn, data)


def _told(work: Work, summary: str) -> str:
    """A summary of ours as it comes back: safe to read, fenced and labelled."""
    if not summary:
        return ""
    return f"{fenced(safe_text(summary), work.view.mark)}\n{SUMMARISED}"


def _tail_from(work: Work, turn: int, kind: Kind) -> int:
    """The first turn that is kept as it is. What does not even fit the window is not kept."""
    keep_from = max(1, turn - work.policy.compaction.tail_turns)
    tail = sum(piece.bytes for piece in work.view.pieces if piece.turn >= keep_from)
    room = request_room(work.frame, work.window) - work.policy.compaction.summary_tokens
    if kind == "state" and (work.frame.bytes + tail) * work.ledger.per_byte > room:
        return turn
    return keep_from


def put_back(work: Work, text: str, *, goal: bool = False, before: str | None = None) -> str:
    """What matters and is not in *text*; with the alert when that left the request too."""
    case = work.case
    alert = f"{case.alert.words()}\n{case.question}".strip() if goal else ""
    if all(line in text for line in alert.splitlines()):
        alert = ""
    said = restatement(case.state(), work.ledger, text, goal=alert, before=before)
    return f"{KEPT}\n{fenced(safe_text(said), work.view.mark)}" if said else ""


def _as_read(work: Work, older: Sequence[Piece]) -> Sequence[Piece]:
    """The pieces with placeholders for what the service clears.

    A request for a summary takes no edits, so it would read all of that again. Bound thoughts need
    it unchanged.
    """
    if work.ledger.support.binds_thinking:
        return older
    cleared, results = work.view.cleared_by_server, work.ledger.results
    return [
        emptied(piece, levers.placeholder(results[piece.call].data))
        if piece.call in cleared
        else piece
        for piece in older
    ]


def _asked(work: Work, older: Sequence[Piece], kind: Kind) -> Response | None:
    """The answer to one request for a summary; None when the service would not give one."""
    try:
        return work.model.respond(summary_request(older, work.frame, work.ledger.support, kind))
    except ModelError as error:
        if error.kind in FOR_GOOD:
            raise
        return None

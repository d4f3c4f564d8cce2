"""A sub-investigation: a brief, a window and a journal of its own, and one short text back.

It runs the same loop as its parent over another `Work`, on the same scratch, inside what the
parent's budgets have left. Its journal lies beside the parent's and is named after the brief, so
that a killed or failed task goes on where it stopped when it is asked for again.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from copilot import prompt
from copilot.closing import ASKS_NOBODY
from copilot.context.view import View
from copilot.errors import CopilotError
from copilot.findings import outcome_of
from copilot.investigation import act, take_turns
from copilot.journal import Event, Journal
from copilot.ledger import Ledger
from copilot.models.model import Response, verdict
from copilot.notes.state import State
from copilot.steps import Budgets, Work, model_step
from copilot.tools.base import Brief, Outcome
from copilot.values import Alert, JsonObject, canonical, digest, object_at, text_at

SHARE = 4
"""A task may use one part in so many of what is left: three at once leave the parent its own."""
MAX_TOKENS = 400_000
"""The most that one task may use, over all its requests."""
ORPHANED = Alert(source="task", title="", text="")
"""A task has no alert: its brief says all that it may know."""


def with_tasks(work: Work) -> Work:
    """The same work, with somebody who takes tasks. Those who take them cannot pass them on."""
    return replace(work, case=replace(work.case, delegate=lambda brief: run_task(work, brief)))


def run_task(parent: Work, brief: Brief) -> Outcome:
    """The findings of one task; whatever goes wrong is a text, and what it cost is counted."""
    asked: JsonObject = {
        "brief": brief.text,
        "tools": [*sorted(brief.tools)],
        "max_turns": brief.max_turns,
    }
    name = f"{parent.journal.path.stem}.task-{digest(canonical(asked))[:12]}.jsonl"
    failure = ""
    try:
        with _opened(parent, brief, parent.journal.path.with_name(name)) as work:
            try:
                _explore(work)
            except CopilotError as error:
                failure = str(error)
            return outcome_of(work, parent.journal, failure)
    except CopilotError as error:
        return Outcome(ok=False, hint=f"the task could not begin: {error}", stored=False)


@contextmanager
def _opened(parent: Work, brief: Brief, path: Path) -> Iterator[Work]:
    """The task at work over its own journal, begun or gone on with."""
    ledger, view = Ledger(), View()

    def take_in(event: Event) -> None:
        ledger.add(event)
        view.add(event)

    takes_over = parent.journal.takes_over
    with Journal(path, now=parent.now, observe=take_in, take_over=takes_over) as journal:
        for event in journal.events:
            take_in(event)
        if not journal.events:
            journal.append("started", 0, _started(parent, brief))
        if not journal.last("support"):
            support = parent.ledger.support.as_json()
            journal.append("support", 0, support | {"origin": "parent"})
        registry = parent.registry.only(brief.tools)
        yield replace(
            parent,
            registry=registry,
            case=replace(
                parent.case,
                alert=ORPHANED,
                question=brief.text,
                state=State,
                answers=lambda: ledger.answers,
                seen=lambda: ledger.seen,
                refusals=lambda: 0,
                delegate=None,
                outbox=None,
            ),
            budgets=_budgets(journal.events[0].data),
            journal=journal,
            frame=replace(parent.frame, system=prompt.TASK, tools=registry.definitions()),
            view=view,
            ledger=ledger,
            limit_message=prompt.task_limit_message,
            recorder=parent.recorder.nested(),
        )


def _started(parent: Work, brief: Brief) -> JsonObject:
    """What the task's journal begins with. Its budgets are fixed here, also for a resume."""
    spent, budgets = parent.ledger.spent, parent.budgets
    tokens = min(MAX_TOKENS, (budgets.tokens - spent.tokens) // SHARE)
    usd = (budgets.usd - (spent.usd or Decimal(0))) / SHARE
    wall_time = budgets.wall_time - (parent.now() - parent.journal.events[0].time)
    case = parent.case
    sources: JsonObject = {
        "logbooks": [*sorted(case.logbooks)],
        "trackers": [*sorted(case.trackers)],
        "libraries": [*sorted(case.libraries)],
    }
    return {
        "incident": case.incident,
        "task": brief.text,
        "model": parent.model.name,
        "policy": parent.policy.name,
        "budgets": {
            "turns": brief.max_turns,
            "tokens": tokens,
            "usd": str(usd),
            "wall_time_s": int(wall_time.total_seconds()),
        },
        "mark": parent.view.mark,
        "message": prompt.task_message(brief.text, sources, parent.view.mark),
        # What a brief names was shown by nobody yet: it counts once a row holds it.
        "artifacts": [],
    }


def _budgets(started: JsonObject) -> Budgets:
    kept = object_at(started, "budgets")
    return Budgets(
        turns=int(text_at(kept, "turns")),
        tokens=int(text_at(kept, "tokens")),
        usd=Decimal(text_at(kept, "usd")),
        wall_time=timedelta(seconds=int(text_at(kept, "wall_time_s"))),
    )


def _explore(work: Work) -> None:
    """Run to the answer, which is recorded as the task's report. Raises CopilotError."""
    take_turns(work, _act)
    limit = work.journal.last("limit")
    if work.ledger.report or limit is None or text_at(limit.data, "limit") in ASKS_NOBODY:
        return
    turn = limit.turn + 1
    response = model_step(work, turn)
    if verdict(response) in ("done", "tools"):
        work.journal.append("report", turn, {"text": response.text})


def _act(work: Work, turn: int, response: Response) -> Sequence[Event]:
    """Do what the answer asks for; a text without calls is the task's answer."""
    if verdict(response) != "done":
        return act(work, turn, response)
    work.journal.append("report", turn, {"text": response.text})
    return ()

"""An investigation at its smallest for property tests: real engine, fake tools, the double in process.

No git, no HTTP, no clock: the journal and scratch are real files, the model is the strict double's
service, and what it will answer next is set by the test. A kill is an append that never happens.
"""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import Field

from copilot.artifacts import find_artifacts
from copilot.beliefs import with_effects
from copilot.calls import effects
from copilot.context.instructions import SUMMARY
from copilot.context.levers import Prices
from copilot.context.request import Frame
from copilot.context.view import View
from copilot.errors import ModelError
from copilot.investigation import act
from copilot.journal import Journal
from copilot.ledger import Ledger
from copilot.limits import close
from copilot.mending import mended
from copilot.models.model import Request, Response
from copilot.models.support import Support
from copilot.notes.state import State
from copilot.redact import Redactor
from copilot.scratch.store import Scratch
from copilot.steps import Budgets, Work, model_step
from copilot.tools import notes, scratch
from copilot.tools.arguments import Arguments
from copilot.tools.base import Case, Outcome, Tool
from copilot.tools.registry import Registry
from copilot.upkeep import upkeep
from copilot.values import Alert
from policies.schema import Policy
from tests.doubles.messages_api import Json, Options, Refusal
from tests.doubles.messages_api.service import Service

MARK = "0123456789"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
ALERT = Alert("test", "WorkflowStalled", "OPS-4711 stands still at T2_DE_Example")
WINDOW = 30_000
POLICY = Policy.model_validate(
    {
        "name": "tight",
        "turn_tokens": 3000,
        "tools": {
            "record_finding": {"clear": "never"},
            "write_notes": {"clear": "never"},
        },
        "other_tools": {"placement": "auto", "inline_tokens": 700, "pointer_tokens": 300},
        "clearing": {"trigger_tokens": 3000, "keep": 1, "at_least_tokens": 300},
        "compaction": {"trigger_tokens": 6000, "tail_turns": 1, "summary_tokens": 500},
    }
)


class Killed(BaseException):
    """What a kill is to the code that runs: nothing after it happens."""


class Look(Arguments):
    """Arguments of `look`."""

    seed: int
    rows: int = Field(1, ge=0, le=60)


class Crash(Arguments):
    """Arguments of `crash`."""


def look(arguments: Look, _: Case) -> Outcome:
    """Rows that are the same for the same seed, each with an identifier of its own."""
    rows = [
        {"source": "app.log", "line": n, "message": f"ERROR job {arguments.seed * 1000 + n + 10**7} failed at node-{arguments.seed:03}"}
        for n in range(1, arguments.rows + 1)
    ]  # fmt: skip
    return Outcome(scope={"seed": arguments.seed}, rows=tuple(rows))  # type: ignore[arg-type]  # JSON


class Printed(Arguments):
    """Arguments of `printed`."""

    number: int


def crash(_: Crash, __: Case) -> Outcome:
    """Never an outcome."""
    raise RuntimeError("inside")


TOOLS = (
    *notes.TOOLS,
    *scratch.TOOLS,
    Tool("look", "Rows.", Look, look),
    Tool("crash", "Fails.", Crash, crash),
)


def lines_of(text: str) -> Outcome:
    """What a tool printed, a row each line."""
    lines = enumerate(text.split("\n"), start=1)
    rows = [{"source": "printed", "line": n, "message": line} for n, line in lines]
    return Outcome(rows=tuple(rows))  # type: ignore[arg-type]  # JSON


class Rig:
    """One investigation over a folder; opened again it goes on. `watch` sees each request read."""

    def __init__(
        self,
        folder: Path,
        *,
        model: str = "claude-sonnet-4-6",
        support: Support | None = None,
        policy: Policy = POLICY,
        window: int = WINDOW,
    ) -> None:
        self.folder = folder
        self.policy = policy
        self.window = window
        """What we are told that the model holds; a run that is opened again may be told less."""
        self.model = model
        self.support = support or Support()
        self.summary: Callable[[str], str | None] = lambda text: ", ".join(identifiers(text))
        self.service = Service(Options(now=lambda: 0.0, summarise=lambda v, _: self._summary(v)))
        self.service.responder = self._answer
        self.watch: Callable[[Work, Request, Json], None] = lambda *_: None
        self.refused: list[str] = []
        self.printed: dict[int, str] = {}
        """What `printed` gives, by number."""
        self.number = 1
        self.appends = itertools.count(1)
        self.dies_at = 0
        self._replies: list[Json] = []
        self.work = self._opened()

    @property
    def name(self) -> str:
        """The model's."""
        return self.model

    def respond(self, request: Request) -> Response:
        """The double's answer, as Claude's door would give it."""
        body = json.loads(request.encoded())
        self._request = request
        try:
            message, _ = self.service.answer(body, frozenset(request.betas))
        except Refusal as refusal:
            self.refused.append(refusal.message)
            kind = "too_long" if "too long" in refusal.message else "invalid"
            raise ModelError(refusal.message, kind=kind) from refusal
        return Response(message)

    def count_tokens(self, _: Request) -> int | None:
        """Nobody counts here."""
        return None

    def turn(self, *replies: Json) -> None:
        """One turn of the loop that is answered so; several replies when the first are cut off."""
        self._replies = list(replies)
        while not self.work.ledger.limit:
            try:
                upkeep(self.work, self.number)
                response = model_step(self.work, self.number)
            except ModelError as error:
                if mended(self.work, self.number, error):
                    continue
                raise
            act(self.work, self.number, response)
            break
        self.number += 1

    def reopen(self) -> None:
        """Start again as after a kill."""
        self.work.journal.close()
        self.dies_at = 0
        self.work = self._opened()

    def close(self) -> None:
        """The limit that makes the next answer the last."""
        close(self.work, self.number - 1, "operator", "asked")
        model_step(self.work, self.number)

    def state(self) -> State:
        """What was recorded so far, as STATE.md would hold it."""
        results = [event for event in self.work.journal.events if event.kind == "result"]
        return with_effects(State(), effects(results))

    def _opened(self) -> Work:
        view, ledger = View(), Ledger()

        def take_in(event: Any) -> None:
            ledger.add(event)
            view.add(event)

        journal = Journal(self.folder / "journal.jsonl", now=lambda: NOW, observe=take_in)
        for event in journal.events:
            take_in(event)
        append = journal.append

        def dying(*args: Any) -> Any:
            if next(self.appends) == self.dies_at:
                raise Killed
            return append(*args)

        journal.append = dying  # type: ignore[method-assign, assignment]  # the kill
        printed = Tool("printed", "Text.", Printed, lambda a, _: lines_of(self.printed[a.number]))
        registry = Registry((*TOOLS, printed), Redactor(b"key"))
        case = Case(
            incident="inc", alert=ALERT, question="", logbooks={}, trackers={}, libraries={},
            scratch=Scratch(self.folder / "scratch", "inc"), state=self.state, recall=lambda _: (),
            answers=lambda: ledger.answers, seen=lambda: ledger.seen,
            refusals=lambda: ledger.refusals,
        )  # fmt: skip
        if not journal.events:
            found = [[item.kind, item.value, 0] for item in find_artifacts(ALERT.words())]
            append("started", 0, {"mark": MARK, "message": ALERT.words(), "artifacts": found})  # type: ignore[dict-item]
            append("support", 0, {**self.support.as_json()})
        return Work(
            model=self, window=self.window, price=lambda _: Decimal(0), prices=Prices(1.25, 0.1),
            registry=registry, policy=self.policy, case=case,
            budgets=Budgets(1000, 10**9, Decimal(10**6), timedelta(days=1)), journal=journal,
            frame=Frame(self.model, "You investigate.", registry.definitions(), 1000, self.policy),
            view=view, ledger=ledger, learned=lambda _: None, stop=lambda: "", now=lambda: NOW,
        )  # fmt: skip

    def _answer(self, read: Json) -> Json:
        text = json.dumps(read["messages"][-1])
        if SUMMARY[:60] in text:
            summary = self._summary(read)
            content = [{"type": "text", "text": summary}] if summary else []
            return {"content": content, "stop_reason": "end_turn"}
        self.watch(self.work, self._request, read)
        return self._replies[0] if len(self._replies) == 1 else self._replies.pop(0)

    def _summary(self, read: Json) -> str | None:
        return self.summary(json.dumps(read["messages"], ensure_ascii=False))


def identifiers(text: str) -> list[str]:
    """What a good summary keeps."""
    return list(dict.fromkeys(item.value for item in find_artifacts(text)))


def with_edits(rig: Rig, edits: Any) -> None:
    """From now on the endpoint applies, refuses or ignores what it is asked."""
    rig.service.options = replace(rig.service.options, edits=edits)

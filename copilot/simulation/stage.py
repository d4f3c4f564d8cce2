"""What an investigation is told again under, and the work that its levers know: nothing real."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from copilot.context.levers import Prices
from copilot.context.request import Frame
from copilot.models.model import Usage
from copilot.notes.state import State
from copilot.redact import Redactor
from copilot.scratch.store import Scratch
from copilot.simulation.tape import Tape
from copilot.simulation.teller import Teller
from copilot.steps import Budgets, Work
from copilot.tools.base import Case
from copilot.tools.registry import Registry
from copilot.values import Alert

NOWHERE = Path("simulation")


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which an investigation is told again."""

    frame: Frame
    """With the policy and the model."""
    window: int
    turns: int
    """The budget, from which the levers guess how long it may go on."""
    prices: Prices
    price: Callable[[Usage], Decimal | None]
    cache_minimum: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What was investigated."""

    alert: Alert
    question: str


def at_work(
    terms: Terms, asked: Question, teller: Teller, tape: Tape, state: Callable[[], State]
) -> Work:
    """The work of `upkeep` and `model_step`. The other budgets were kept when it was recorded."""
    return Work(
        model=teller,
        window=terms.window,
        price=terms.price,
        prices=terms.prices,
        registry=Registry((), Redactor(b"simulation")),
        policy=terms.frame.policy,
        case=_case(asked, teller, state),
        budgets=Budgets(terms.turns, 2**63, Decimal(2**63), timedelta.max),
        journal=tape,
        frame=terms.frame,
        view=teller.view,
        ledger=teller.ledger,
        learned=lambda _: None,
        stop=lambda: "",
        now=lambda: tape.time,
    )


def _case(asked: Question, teller: Teller, state: Callable[[], State]) -> Case:
    """What the levers read of a case: alert, question and state."""
    ledger = teller.ledger
    return Case(
        incident="simulation",
        alert=asked.alert,
        question=asked.question,
        logbooks={},
        trackers={},
        libraries={},
        scratch=Scratch(NOWHERE, "simulation"),
        state=state,
        recall=lambda _: (),
        answers=lambda: ledger.answers,
        seen=lambda: ledger.seen,
        refusals=lambda: ledger.refusals,
    )

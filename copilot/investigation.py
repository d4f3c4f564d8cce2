"""The loop: hops 4 to 8 of one alert, on one screen. docs/explanation/flow.md draws the same.

A plain function over a `Work`: it opens and closes nothing, and it runs the same with a durable
engine around it as without. Every step may be done again after a kill, with the same effect once.
"""

from collections.abc import Callable, Sequence

from copilot.calls import tools_step
from copilot.closing import last_words
from copilot.context.validate import InvalidRequestError
from copilot.errors import ModelError
from copilot.journal import Event
from copilot.limits import close, enforce
from copilot.mending import mended
from copilot.models.model import Response, verdict
from copilot.notebook import Ending, Notebook
from copilot.steps import Work, is_failed_summary, model_step
from copilot.upkeep import threshold_summary, upkeep

Act = Callable[[Work, int, Response], Sequence[Event]]
Record = Callable[[Work, int, Sequence[Event]], None]
MAX_NUDGES = 2
ASK_FOR_REPORT = (
    "That was text without a report. Call submit_report, or go on with tools. "
    "An inconclusive report that says what would settle it is welcome."
)
UNUSABLE = frozenset({"too_long", "invalid", "refused", "broken"})
"""Kinds of ModelError that asking again cannot mend, or only at a price: the report is written
without the model. A service that is away or fails is waited for."""


def investigate(work: Work, notebook: Notebook) -> Ending:
    """Run until the report is written, and return how it ended.

    Raises ModelError when the service cannot be reached or refuses us; the journal is whole then
    and the same call resumes. A limit ends in a report, never in an exception.
    """
    take_turns(work, act, notebook.record)
    if not work.ledger.report:
        last_words(work)
    return notebook.finish(work)


def take_turns(work: Work, do: Act, record: Record = lambda *_: None) -> None:
    """Turn after turn, until a report is recorded or a limit is reached. Raises ModelError."""
    turn = max(1, work.ledger.turn)
    if not work.journal.last("response"):
        enforce(work, turn)
    while not work.ledger.report and not work.ledger.limit:
        try:
            upkeep(work, turn)
            response = model_step(work, turn)
        except ModelError as error:
            if mended(work, turn, error):
                continue
            if error.kind not in UNUSABLE:
                raise
            close(work, turn, "window" if error.kind == "too_long" else "model", str(error))
            break
        except InvalidRequestError as error:  # our own mistake still ends in a report
            close(work, turn, "model", str(error))
            break
        record(work, turn, do(work, turn, response))
        turn += 1
        enforce(work, turn)


def act(work: Work, turn: int, response: Response) -> Sequence[Event]:
    """Do what the answer asks for; return the results that came of it."""
    match verdict(response):
        case "tools":
            return tools_step(work, turn, response.tool_calls)
        case "done" if not work.journal.last("nudge", turn):
            if work.ledger.nudges < MAX_NUDGES:
                work.journal.append("nudge", turn, {"text": ASK_FOR_REPORT})
            else:
                close(work, turn, "turns", "the model answers without handing in a report")
        case "refused":
            close(work, turn, "model", f"the model refused to go on: {response.text[:300]}")
        case "compacted" if work.view.set_aside or is_failed_summary(response):
            threshold_summary(work, turn, response)
        case "full":
            close(work, turn, "window", "the conversation fills the model's window")
        case _:
            pass  # pause: the same content goes back as it is
    return ()

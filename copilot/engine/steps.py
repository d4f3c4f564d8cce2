"""Steps of one run: the record that says what was done, with the gate in front of each.

The vendor replays recorded outputs by position. We do not want them: what a step brought is in the
caller's own journal, in any version's words. So a run that is taken up again first *catches up*:
it calls one step for each recorded one, which returns without running, and from there on steps are
new. What the vendor gives us is the fence: a run has one owner, and a late one cannot record.
"""

from collections.abc import Callable

from dbos import DBOS
from dbos import error as vendor_error
from sqlalchemy.exc import SQLAlchemyError

from copilot.engine.gate import Gate, Passage
from copilot.engine.serializer import RecordedError
from copilot.engine.vendor import Fence, outside, reason
from copilot.errors import EngineError
from copilot.values import JsonObject

Io = Callable[[], JsonObject]
"""Does something once, and says in a few words what it was. Safe to repeat after a kill."""
HOLE = "unrecorded"
"""The name given to a step whose result could not be recorded: its number is used up."""


class Steps:
    """What a body gets to do its I/O with. One thread at a time, apart from `nested`."""

    def __init__(self, run: str, gate: Gate, fence: Fence) -> None:
        self.run = run
        self._gate = gate
        self._fence = fence
        self._inside = Passage()

    def step(self, name: str, io: Io) -> JsonObject:
        """Do *io* as the next step of the run; when this returns, it is recorded.

        An error of *io* is recorded and raised. Raises EngineError when the record cannot be
        written. When the run was cancelled or is somebody else's by now, a BaseException of the
        vendor unwinds the body: let it pass.
        """
        with self._gate.step() as self._inside:
            self._fence.check()
            return _recorded(self.run, name, io)

    def nested(self) -> "Nested":
        """What work inside a step does its own I/O with: it passes the gate and records nothing."""
        return Nested(self._gate, self._fence, lambda: self._inside)

    def catch_up(self) -> int:
        """Go past all that is recorded, without running anything; return how many steps it was."""
        # Outside the run's context, or the question itself would be recorded as a step.
        recorded = outside(recorded_steps, self.run)
        last = max(recorded, default=0)
        for position in range(1, last + 1):
            try:
                _recorded(self.run, recorded.get(position, HOLE), dict)
            except RecordedError:
                continue  # that step failed; what came of it is in the journal
        return last


class Nested:
    """The gate for calls inside a step, from any of its threads."""

    def __init__(self, gate: Gate, fence: Fence, inside: Callable[[], Passage]) -> None:
        self._gate = gate
        self._fence = fence
        self._inside = inside

    def step(self, name: str, io: Io) -> JsonObject:  # noqa: ARG002 - the shape of Steps.step
        """Do *io* when the gate is open."""
        with self._gate.call(self._inside()):
            self._fence.check()
            return io()

    def nested(self) -> "Nested":
        """The same: deeper is no different."""
        return self


def recorded_steps(run: str) -> dict[int, str]:
    """The names of a run's recorded steps by their position, which counts from 1."""
    found = DBOS.list_workflow_steps(run, load_output=False)
    return {step["function_id"]: step["function_name"] for step in found}


def _recorded(run: str, name: str, io: Io) -> JsonObject:
    try:
        return DBOS.run_step({"name": name}, io)
    except (vendor_error.DBOSException, SQLAlchemyError) as error:
        raise EngineError(
            f"step {name} of {run} was done and could not be recorded ({reason(error)}); "
            "free space on the disk or bring the database back: the run goes on by itself",
            retryable=True,
        ) from error

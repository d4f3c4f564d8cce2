"""One run of the queue: an incident is investigated, and the inbox learns how that ended.

Whatever happens, the run returns: a fault is data here, because the queue keeps no traceback and a
person must find every incident in one of a few states.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from copilot import app
from copilot.daemon.caps import USED_UP, Allowance
from copilot.daemon.first_alert import first_alert
from copilot.daemon.jobs import Job, job_of
from copilot.daemon.patience import patiently
from copilot.daemon.payments import count, count_again
from copilot.daemon.right_of_way import RightOfWay
from copilot.daemon.shared_models import SharedModels
from copilot.daemon.strikes import MOST, Strikes
from copilot.errors import CopilotError, CredentialsError, EngineError, ModelError
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Ending, Entry
from copilot.journal import Event, JournalTakenError
from copilot.steps import Recorder, StopReason
from copilot.values import JsonObject
from copilot.workspace import Workspace

ASIDE_S = 10.0
"""How long a turn may wait for senders: as long as they wait for their answer."""
LOG = logging.getLogger(__name__)
ALONE = (
    f"the model's service failed its request in {MOST} runs in a row, and answered others"
    " meanwhile: {error}; `copilot incidents retry {incident}` goes on where it stopped"
)


@dataclass(frozen=True, slots=True)
class Worker:
    """Runs jobs, each on a thread of the engine."""

    workspace: Callable[[], Workspace]
    """The workspace as it is configured now; a run keeps the one that it began with."""
    inbox: Inbox
    models: SharedModels
    allowance: Callable[[Entry], Allowance]
    observe: Callable[[Event], None]
    """Takes each new event of any investigation, for the counters."""
    ended: Callable[[str, float], None]
    """Takes how a run ended and after how many seconds."""
    strikes: Strikes
    way: RightOfWay
    take_over: bool = False
    """True where another host may still hold a record that the queue says is ours."""

    def run(self, data: JsonObject, recorder: Recorder) -> JsonObject:
        """Do the job and return how it ended; never raises what can be told in words."""
        job = job_of(data)
        workspace = self.workspace().with_run(job.options)
        begun = workspace.now()
        entry = patiently(lambda: self.inbox.started(job.incident, job.run))
        if entry.status != "running":
            return {"outcome": "cancelled", "reason": "it was cancelled before it began"}
        try:
            outcome, reason = self._outcome(workspace, job, recorder)
        except JournalTakenError as error:  # another host goes on with this very run
            LOG.warning("investigation taken over", extra={"incident": job.incident})
            return {"outcome": "taken_over", "reason": str(error)}
        if outcome != "waiting_model":
            self.strikes.forget(job.incident)
        # Only who has the run may say so: one that was frozen may have lost it meanwhile.
        recorder.nested().step("ended", partial(self._tell, job, outcome, reason))
        self.ended(outcome, (workspace.now() - begun).total_seconds())
        said = {"incident": job.incident, "outcome": outcome, "reason": reason}
        LOG.info("investigation ended", extra=said)
        return {"outcome": outcome, "reason": reason}

    def _tell(self, job: Job, outcome: Ending, reason: str) -> JsonObject:
        patiently(lambda: self.inbox.finished(job.incident, job.run, outcome, reason))
        return {}

    def _outcome(self, workspace: Workspace, job: Job, recorder: Recorder) -> tuple[Ending, str]:
        """How the investigation ended, and why; a service that is away is waited for."""
        try:
            return "reported", self._investigate(workspace, job, recorder)
        except ModelError as error:
            answered = self.models.answered(workspace)
            if error.kind == "failed" and self.strikes.failed(job.incident, answered):
                return "failed", ALONE.format(error=error, incident=job.incident)
            return "waiting_model", str(error)
        except CredentialsError as error:
            return "waiting_model", str(error)
        except (JournalTakenError, EngineError):
            raise  # the engine's own care: another host has it, or it is queued again
        except CopilotError as error:
            return "waiting_model" if error.retryable else "failed", str(error)
        except Exception as error:
            LOG.exception("investigation failed", extra={"incident": job.incident})
            return "failed", f"a fault of the copilot, {type(error).__name__}; the log has it"

    def _investigate(self, workspace: Workspace, job: Job, recorder: Recorder) -> str:
        """The verdict of the incident's report. Raises CopilotError."""
        record = workspace.journal_path(job.incident, 1).with_name(job.record)
        count_again(self.inbox, job.incident, record)

        def observe(event: Event) -> None:
            count(self.inbox, job.incident, record, event)
            if event.kind == "response":
                self.strikes.forget(job.incident)
            self.observe(event)

        wishes = app.Wishes(
            question=job.question,
            observe=observe,
            stop=lambda: patiently(lambda: self._stop(job)),
            model_for=self.models.model_for,
            record=record,
            recorder=recorder,
            take_over=self.take_over,
        )
        alert = patiently(lambda: first_alert(workspace, self.inbox, job.incident))
        ending = app.investigate_incident(workspace, job.incident, alert, wishes)
        return ending.report.verdict

    def _stop(self, job: Job) -> StopReason:
        """Why the report is wanted now. Raises ModelError when the next turn has to wait.

        Between two turns is also where an investigation lets senders go first.
        """
        self.way.stand_aside(ASIDE_S)
        entry = self.inbox.incident(job.incident)
        if entry is None:
            return ""
        if entry.resolved and not job.question:
            return "resolved"
        if self.allowance(entry) == "nothing":
            raise ModelError(USED_UP, kind="spend_cap", retryable=True)
        return ""

"""The desk: what the inbox promised becomes notes, runs and, if need be, triage reports.

One thread looks again and again. All that it does may be done twice with the same effect once, so
that a kill between any two of its lines loses nothing.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from copilot import alerts
from copilot.daemon.breaker import Breaker
from copilot.daemon.caps import USED_UP, Allowance
from copilot.daemon.jobs import Job, due_job
from copilot.daemon.right_of_way import RightOfWay
from copilot.daemon.shared_models import SharedModels
from copilot.daemon.triage import triage
from copilot.engine.engine import Engine
from copilot.errors import CopilotError, EngineError, InboxError
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import SEVERITIES, Entry, Severity, Stored
from copilot.notes.front import Front
from copilot.workspace import Workspace

LOG = logging.getLogger(__name__)
NOTED_AT_ONCE = 200
NOTED_IN_A_FLOOD = 10
"""While each note steps aside, its time is soon over: no more are read for nothing."""
NOTING_FOR = timedelta(seconds=1)
"""Then it is looked whether something is due: in a flood, noting alone could take minutes."""
ASIDE_S = 2.0
"""How long one commit waits for senders who are at the door."""
TRIAGED_AT_ONCE = 20
RECONCILED_AT_ONCE = 1000
REST = timedelta(seconds=30)
"""A triage that failed is tried again so late."""
RESTING_SEEN = 500
RECONCILE_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Triage:
    """A triage that was begun."""

    at: datetime
    ended: Future[bool]

    def is_to_be_repeated(self, now: datetime) -> bool:
        """Whether it failed, and long enough ago."""
        failed = self.ended.done() and (self.ended.cancelled() or not self.ended.result())
        return failed and now - self.at > REST


@dataclass
class Desk:
    """What is done between the door and the workers."""

    workspace: Callable[[], Workspace]
    inbox: Inbox
    engine: Engine
    models: SharedModels
    allowance: Callable[[Entry], Allowance]
    now: Callable[[], datetime]
    way: RightOfWay
    problem: str = ""
    """Why the last round could not do its work; empty when it could."""
    _threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="triage")
    )
    _wrong: dict[str, str] = field(default_factory=dict)
    """What was said last of incidents that cannot be worked on."""
    _triages: dict[str, Triage] = field(default_factory=dict)
    """Of incidents that no model looks at now; forgotten when one does."""
    _reconciled: datetime | None = None

    def round(self) -> bool:
        """Do what there is to do; whether there was anything."""
        try:
            done = self._hand_out() + self._triage() + self._note()
            self._reconcile()
        except (CopilotError, OSError) as error:
            if str(error) != self.problem:
                LOG.warning("desk cannot work", extra={"why": str(error)})
            self.problem = str(error)
            return False
        self.problem = ""
        return done > 0

    def close(self) -> None:
        """Begin no more triage."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def note(self, entry: Entry, stored: Sequence[Stored]) -> bool:
        """Bring alerts of an incident into its notes; whether there were any. Raises NotesError."""
        if not stored:
            return False
        head = Front(identity=entry.identity, started=entry.began, previous=entry.previous)
        arrived = [alerts.from_json(one.alert) for one in stored]
        self.workspace().incidents.note(entry.id, head, arrived, entry.alerts)
        self.inbox.noted(one.key for one in stored)
        return True

    def hand_out(self, entry: Entry, job: Job) -> bool:
        """Queue a run for the incident, unless one goes on already; whether it is this one."""
        wanted = f"inv:{entry.id}:{job.run}"
        priority = SEVERITIES.index(entry.severity) + 1
        run = self.engine.submit(wanted, job.as_json(), dedup=entry.id, priority=priority)
        self.inbox.queued(entry.id, int(run.rpartition(":")[2]))
        return run == wanted

    def _note(self, incident: str = "") -> int:
        """Bring new alerts into the notes, for a while; with *incident*, those of it."""
        begun = self.now()
        noted = 0
        most = NOTED_IN_A_FLOOD if not incident and self.way.is_pressed else NOTED_AT_ONCE
        for entry, stored in self.inbox.unnoted(most, incident):
            if not incident:
                self.way.stand_aside(ASIDE_S)
            noted += self._try(entry, partial(self.note, entry, stored))
            if self.now() - begun > NOTING_FOR:
                break
        return noted

    def _hand_out(self) -> int:
        """Queue what is due, as far as workers and money go and the model can be asked."""
        # One in the queue for each worker of ours: it finds the next at once, and the rest waits
        # where it is ordered anew. What runs does not count; it may be another daemon's.
        free = self.workspace().settings.daemon.workers - self.inbox.count("queued")
        if free <= 0 or not self.breaker.may_try:
            return 0
        if not self.breaker.is_well:
            return self._send_one_ahead()
        handed = 0
        for entry in self._due(free):
            allowed = self.allowance(entry)
            if allowed != "nothing":
                handed += self._try(entry, partial(self._begin, entry, allowed))
        return handed

    def _send_one_ahead(self) -> int:
        """Queue the one that finds out whether the model answers again."""
        for entry in self._by_last_try():
            allowed = self.allowance(entry)
            if allowed != "nothing" and self._try(entry, partial(self._begin, entry, allowed)):
                return 1
        return 0

    def _by_last_try(self) -> list[Entry]:
        """What may begin, the one that was tried longest ago first, however severe it is.

        A request that the service fails at each time must not stand for all others.
        """
        return sorted(self._due(RESTING_SEEN), key=lambda entry: entry.updated)

    def _begin(self, entry: Entry, allowed: Allowance) -> bool:
        self._note(entry.id)
        return self.hand_out(entry, due_job(self.workspace(), entry, allowed))

    def _try(self, entry: Entry, do: Callable[[], bool]) -> bool:
        """Whether *do* did something. What is wrong with one incident holds up no other."""
        try:
            done = do()
        except (InboxError, EngineError):
            raise  # nothing can be worked on now
        except (CopilotError, OSError) as error:
            if self._wrong.get(entry.id) != str(error):
                said = {"incident": entry.id, "why": str(error)}
                LOG.warning("an incident cannot be worked on", extra=said)
            self._wrong[entry.id] = str(error)
            return False
        self._wrong.pop(entry.id, None)
        return done

    def _due(self, limit: int) -> list[Entry]:
        """What may begin, most severe and oldest first; who waited for a service has rested."""
        now = self.now()
        rest = self.workspace().settings.daemon.model_pause / 2
        rested = [
            entry
            for entry in self.inbox.due(now, RESTING_SEEN, status="waiting_model")
            if now - entry.updated > rest
        ]
        found = [*rested, *self.inbox.due(now, limit)]
        found.sort(key=lambda entry: (SEVERITIES.index(entry.severity), entry.due))
        return found[:limit]

    @property
    def breaker(self) -> Breaker:
        """Whether the model can be asked."""
        return self.models.breaker(self.workspace())

    @property
    def model_trouble(self) -> str:
        """Why no language model looks at incidents now; empty while it answers."""
        if not self.breaker.is_well:
            return f"the model cannot be asked ({self.breaker.reason})"
        silence = self.workspace().settings.daemon.model_silence
        if self.breaker.is_silent(silence.total_seconds()):
            return f"the model has not answered for {silence.total_seconds():.0f} s"
        return ""

    def _triage(self) -> int:
        """Begin triage of what is due and will not be looked at by a model soon."""
        now, begun = self.now(), 0
        known, self._triages = self._triages, {}
        for entry, reason in self._hindered(TRIAGED_AT_ONCE + len(known)):
            old = known.get(entry.id)
            if old and not old.is_to_be_repeated(now):
                self._triages[entry.id] = old
                continue
            self._note(entry.id)
            ended = self._threads.submit(triage, self.workspace(), self.inbox, entry.id, reason)
            self._triages[entry.id] = Triage(now, ended)
            begun += 1
        return begun

    def _hindered(self, most: int) -> Iterator[tuple[Entry, str]]:
        """Incidents, at most so many of each status, and why no language model looks at them."""
        now, trouble = self.now(), self.model_trouble
        for entry in self.inbox.due(now, most, status="waiting_model"):
            yield entry, entry.reason
        allowed: dict[Severity, Allowance] = {}
        for entry in self.inbox.due(now, most):
            if entry.severity not in allowed:
                allowed[entry.severity] = self.allowance(entry)
            if trouble:
                yield entry, trouble
            elif allowed[entry.severity] == "nothing":
                yield entry, USED_UP
        if trouble:
            silence = self.workspace().settings.daemon.model_silence
            for status in ("queued", "running"):
                for entry in self.inbox.list(status=status, limit=most):
                    if now - entry.due > silence:
                        yield entry, trouble

    def _reconcile(self) -> None:
        """Bring into the inbox what ended in the queue without a word of the worker."""
        now = self.now()
        if self._reconciled and now - self._reconciled < RECONCILE_EVERY:
            return
        self._reconciled = now
        for status in ("queued", "running"):
            for entry in self.inbox.list(status=status, limit=RECONCILED_AT_ONCE):
                run = self.engine.run(f"inv:{entry.id}:{entry.runs}")
                if run is None:
                    why = "the queue does not know its run any more"
                    self.inbox.finished(entry.id, entry.runs, "waiting_model", why)
                elif run.status == "cancelled":
                    self.inbox.finished(entry.id, entry.runs, "cancelled", entry.reason)
                elif run.status == "succeeded":
                    why = "its run ended without a word"
                    self.inbox.finished(entry.id, entry.runs, "waiting_model", why)
                elif run.is_over and not run.retryable:
                    why = run.error or run.status.replace("_", " ")
                    self.inbox.finished(entry.id, entry.runs, "failed", why)

"""The composition root: a workspace, an alert and a person's wishes become an investigation."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from copilot import alerts, assembly, surface, traces
from copilot.context.request import Frame
from copilot.context.view import View
from copilot.errors import NotFoundError
from copilot.investigation import investigate
from copilot.journal import Event, Journal, read_events
from copilot.ledger import Ledger
from copilot.models.model import Model
from copilot.models.retries import Attempt
from copilot.notebook import Ending, Notebook
from copilot.report.values import Report
from copilot.steps import Plain, Recorder, StopReason, Work
from copilot.subtask import with_tasks
from copilot.tools.base import Case
from copilot.tools.registry import Registry
from copilot.values import Alert, JsonObject, object_at, text_at
from copilot.workspace import Workspace

ModelFor = Callable[[Workspace, Callable[[Attempt], None]], AbstractContextManager[Model]]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What whoever starts an investigation asks of it beyond the settings."""

    question: str = ""
    observe: Callable[[Event], None] = lambda _: None
    stop: Callable[[], StopReason] = lambda: ""
    on_attempt: Callable[[Attempt], None] = lambda _: None
    model_for: ModelFor = assembly.model_for
    """Gives the model; a daemon's investigations share one client."""
    notice: str = ""
    """What a reader of the report must know first."""
    record: Path | None = None
    """The journal; None: the unfinished one of the same question, else a new one."""
    recorder: Recorder = field(default_factory=Plain)
    """Does the I/O in steps; a durable engine's own, with `take_over`."""
    take_over: bool = False
    """True when the caller knows that nobody else may go on with this investigation."""


def run(workspace: Workspace, alert: Alert, wishes: Wishes) -> Ending:
    """Investigate *alert* to its report; an unfinished investigation of it is resumed.

    An alert that is no incident gets its report without any search. Raises CopilotError; the
    journal is whole then, and the same call goes on where it stopped.
    """
    workspace.notes.create()
    alert = alerts.redacted(alert, workspace.redactor)
    incident = workspace.incidents.open_for(alert, workspace.settings.identity_labels)
    return investigate_incident(workspace, incident, alert, wishes)


def resume(workspace: Workspace, incident: str, wishes: Wishes) -> Ending:
    """Go on with an incident's unfinished investigation, or investigate it once more."""
    events = workspace.events(incident)
    if not events:
        raise NotFoundError(
            f"{incident} was never investigated here; give the alert, the ticket or the workflow"
        )
    begun = events[0].data
    alert = alerts.from_json(object_at(begun, "alert"))
    asked = replace(wishes, question=wishes.question or text_at(begun, "question"))
    return investigate_incident(workspace, incident, alert, asked)


def investigate_incident(
    workspace: Workspace, incident: str, alert: Alert, wishes: Wishes
) -> Ending:
    """Investigate *incident*, which is open in the notes; *alert* is redacted. Raises CopilotError.

    An unfinished record is resumed: what it holds is neither asked nor paid for again.
    """
    wishes = replace(wishes, question=workspace.redactor.redact(wishes.question))
    path = wishes.record or record_for(workspace, incident, wishes.question)
    made = _prepared(workspace, incident, alert, wishes.question, path)

    def observe(event: Event) -> None:
        made.take_in(event)
        wishes.observe(event)

    with (
        traces.investigation(incident, made.frame.model),
        wishes.model_for(workspace, wishes.on_attempt) as model,
        Journal(path, now=workspace.now, observe=observe, take_over=wishes.take_over) as journal,
    ):
        for event in journal.events:
            made.take_in(event)
        _begin(workspace, made, journal)
        if not journal.last("support") and not journal.last("report"):
            wishes.recorder.step("support", lambda: _ask_for_support(workspace, model, journal))
        work = _work(workspace, wishes, made, model, journal)
        return investigate(with_tasks(work), Notebook(workspace.notes, incident, wishes.notice))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What an investigation needs before its record is opened."""

    registry: Registry
    frame: Frame
    case: Case
    ledger: Ledger
    view: View

    def take_in(self, event: Event) -> None:
        """Learn of an event, old or new."""
        self.ledger.add(event)
        self.view.add(event)


def _prepared(
    workspace: Workspace, incident: str, alert: Alert, question: str, path: Path
) -> _Prepared:
    """All that is known beforehand. Raises ConfigError before anything is recorded."""
    events = read_events(path) if path.exists() else ()
    registry = surface.registry_for(workspace, events[0].data if events else None)
    frame = assembly.frame_for(workspace, registry)
    assembly.window_for(frame)
    ledger = Ledger()
    case = assembly.case_for(workspace, incident, alert, question, ledger)
    return _Prepared(registry, frame, case, ledger, View())


def _work(
    workspace: Workspace, wishes: Wishes, made: _Prepared, model: Model, journal: Journal
) -> Work:
    """The investigation at work, once it is known what the endpoint can do."""
    frame = made.frame
    return Work(
        model=model,
        window=assembly.window_for(frame, journal.events),
        price=assembly.price_for(frame.model),
        prices=assembly.rates_for(frame.model),
        registry=made.registry,
        policy=frame.policy,
        case=made.case,
        budgets=assembly.budgets_for(workspace),
        journal=journal,
        frame=frame,
        view=made.view,
        ledger=made.ledger,
        learned=partial(
            workspace.discovery.remember, frame.model, workspace.settings.model.base_url
        ),
        stop=wishes.stop,
        now=workspace.now,
        recorder=wishes.recorder,
    )


def _begin(workspace: Workspace, made: _Prepared, journal: Journal) -> None:
    """Record what a new investigation begins with, and the report of one that needs none."""
    if not journal.events:
        remote = surface.definitions_of_servers(made.registry)
        journal.append("started", 0, assembly.started(workspace, made.case, remote))
    _dismiss(workspace, made.case.alert, journal)


def _ask_for_support(workspace: Workspace, model: Model, journal: Journal) -> JsonObject:
    """Record what the endpoint can do; when nobody knew, that took a paid request."""
    event = journal.append("support", 0, assembly.support_for(workspace, model))
    return {"turn": 0, "kind": event.kind, "seq": event.seq}


def _dismiss(workspace: Workspace, alert: Alert, journal: Journal) -> None:
    """Write the report at once when the alert is no incident; nothing is asked or searched."""
    reason = alerts.dismissal(alert, workspace.settings.ignore_alerts)
    if reason and not journal.last("report"):
        report = Report(verdict="no_action", summary=f"Not an incident: {reason}.", cause=None)
        journal.append("report", 0, {"report": report.model_dump(mode="json"), "author": "rule"})


def record_for(workspace: Workspace, incident: str, question: str) -> Path:
    """The unfinished record of the same question, model and policy, else a new one."""
    count = len(workspace.journals(incident))
    goes_on = begun_with(workspace, incident, question) == assembly.model_name(workspace)
    return workspace.journal_path(incident, count if goes_on else count + 1)


def begun_with(workspace: Workspace, incident: str, question: str) -> str:
    """The model of the incident's unfinished investigation of that question; else an empty text.

    Only the latest counts, and one that another policy or version began cannot go on.
    """
    journals = workspace.journals(incident)
    events = read_events(journals[-1]) if journals else ()
    if not events or events[-1].kind == "ended":
        return ""
    begun = events[0].data
    same = (begun.get("version"), begun.get("policy"), begun.get("question")) == (
        assembly.VERSION,
        workspace.policy.name,
        question,
    )
    return text_at(begun, "model") if same else ""

"""What a run does, fixed when it is queued: a restart, on whatever host, does the same."""

from dataclasses import asdict, dataclass, replace

from copilot import app, assembly
from copilot.daemon.caps import Allowance
from copilot.inbox.values import Entry
from copilot.values import JsonObject, object_at, text_at
from copilot.workspace import RunOptions, Workspace


@dataclass(frozen=True, slots=True)
class Job:
    """One run over an incident."""

    incident: str
    run: int
    record: str
    """The file name of the journal."""
    options: RunOptions
    question: str = ""

    def as_json(self) -> JsonObject:
        """The job as the queue keeps it."""
        return asdict(self)


def job_of(data: JsonObject) -> Job:
    """The job that `as_json` made *data* of."""
    options = object_at(data, "options")
    return Job(
        incident=text_at(data, "incident"),
        run=int(text_at(data, "run")),
        record=text_at(data, "record"),
        options=RunOptions(
            model=text_at(options, "model"),
            turns=int(text_at(options, "turns")),
            usd=float(text_at(options, "usd")),
            policy=text_at(options, "policy"),
        ),
        question=text_at(data, "question"),
    )


def next_job(workspace: Workspace, entry: Entry, allowed: Allowance, question: str = "") -> Job:
    """The next run over that incident, with what the money allows."""
    options = replace(workspace.run_options, model=assembly.model_name(workspace))
    if allowed == "cheaper" and options.model != assembly.OFFLINE:
        options = replace(options, model=workspace.settings.daemon.spend.cheaper_model)
    return _job(workspace, entry, allowed, options, question)


def due_job(workspace: Workspace, entry: Entry, allowed: Allowance) -> Job:
    """The next run of an incident that is due; an unfinished investigation goes on as it began.

    What another model would have to pay for again is cheaper with the model that was paid.
    """
    ours = {assembly.model_name(workspace), workspace.settings.daemon.spend.cheaper_model}
    begun = app.begun_with(workspace, entry.id, "")
    if begun not in ours:
        return next_job(workspace, entry, allowed)
    return _job(workspace, entry, allowed, replace(workspace.run_options, model=begun))


def _job(
    workspace: Workspace, entry: Entry, allowed: Allowance, options: RunOptions, question: str = ""
) -> Job:
    if allowed == "cheaper" and options.model != assembly.OFFLINE:
        turns = min(options.turns, workspace.settings.daemon.spend.fewer_turns)
        options = replace(options, turns=turns)
    record = app.record_for(workspace.with_run(options), entry.id, question).name
    return Job(entry.id, entry.runs + 1, record, options, question)

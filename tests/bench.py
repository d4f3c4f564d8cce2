"""A small real workspace for tests: a logbook of twelve lines, a scripted model, a still clock."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from copilot import alerts, assembly, surface
from copilot.config import load_settings
from copilot.context.levers import Prices
from copilot.context.view import View
from copilot.investigation import investigate
from copilot.journal import Event, Journal
from copilot.ledger import Ledger
from copilot.notebook import Ending, Notebook
from copilot.steps import Budgets, StopReason, Work
from copilot.values import Alert
from copilot.workspace import Workspace
from tests.doubles.scripted_model import Call, ScriptedModel, Turn

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LOG = """\
2026-11-30 10:00:00,000 INFO broker: accepted job wf_alpha_001
2026-11-30 10:01:00,000 INFO mover: copied /store/a.root for wf_alpha_001
2026-11-30 10:02:00,000 INFO mover: copied /store/b.root for wf_alpha_001
2026-11-30 10:30:00,000 ERROR mover: cannot resolve host se01.example.org for wf_alpha_001
2026-11-30 10:31:00,000 ERROR mover: cannot resolve host se01.example.org for wf_alpha_001
2026-11-30 10:32:00,000 WARN broker: wf_alpha_001 waits for its input
2026-11-30 10:40:00,000 ERROR broker: wf_alpha_001 failed with exit code 8028
2026-11-30 10:41:00,000 INFO broker: accepted job wf_beta_002
2026-11-30 10:42:00,000 INFO mover: copied /store/c.root for wf_beta_002
"""
ALERT = Alert(
    source="test",
    title="WorkflowStalled",
    text="wf_alpha_001 makes no progress",
    labels={"alertname": "WorkflowStalled", "workflow": "wf_alpha_001"},
    starts_at=datetime(2026, 11, 30, 10, 45, tzinfo=UTC),
    raw='{"title": "WorkflowStalled"}',
)
SEARCH: Call = ("search_logbook", {"text": "cannot resolve", "order": "oldest"})
FINDING: Call = (
    "record_finding",
    {
        "claim": "the name `se01.example.org` does not resolve",
        "status": "confirmed",
        "evidence": [{"reference": "R0001:1", "quote": "cannot resolve host se01.example.org"}],
    },
)
REPORT: dict[str, Any] = {
    "verdict": "action_needed",
    "summary": "Copies fail because a name does not resolve.",
    "cause": {
        "claim": "the name `se01.example.org` does not resolve",
        "status": "confirmed",
        "evidence": [{"reference": "R0001:1", "quote": "cannot resolve host se01.example.org"}],
    },
}
SUBMIT: Call = ("submit_report", REPORT)
AMPLE = Budgets(20, 10**9, Decimal(10**6), timedelta(days=1))
STORY: Sequence[Turn] = ([SEARCH], [FINDING], [SUBMIT])


def made_workspace(folder: Path) -> Workspace:
    """A workspace in *folder* with the log above imported."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "copilot.yaml").write_text("model:\n  name: offline\n")
    (folder / "app.log").write_text(LOG)
    workspace = Workspace(load_settings(folder, {}, folder), {}, now=lambda: NOW)
    workspace.logbooks["logs"].import_file(folder / "app.log", "app.log")
    workspace.notes.create()
    return workspace


@dataclass
class Bench:
    """Runs investigations of one incident in a workspace."""

    workspace: Workspace
    alert: Alert = ALERT
    budgets: Budgets = AMPLE
    stop: StopReason = ""
    events: list[Event] = field(default_factory=list)
    observe: Callable[[Event], None] = lambda _: None

    def run(self, script: Sequence[Turn], **kwargs: Any) -> Ending:
        """Investigate with that script."""
        with self.work(ScriptedModel(script, **kwargs)) as (work, notebook):
            return investigate(work, notebook)

    @contextlib.contextmanager
    def work(self, model: ScriptedModel) -> Iterator[tuple[Work, Notebook]]:
        """The parts of an investigation over this workspace's one journal."""
        workspace = self.workspace
        alert = alerts.redacted(self.alert, workspace.redactor)
        incident = workspace.incidents.open_for(alert, workspace.settings.identity_labels)
        registry = surface.registry_for(workspace)
        ledger = Ledger()
        view = View()

        def take_in(event: Event) -> None:
            ledger.add(event)
            view.add(event)
            self.events.append(event)
            self.observe(event)

        path = workspace.journal_path(incident, 1)
        case = assembly.case_for(workspace, incident, alert, "", ledger)
        with Journal(path, now=workspace.now, observe=take_in) as journal:
            self.events.clear()
            for event in journal.events:
                take_in(event)
            if not journal.events:
                remote = surface.definitions_of_servers(registry)
                journal.append("started", 0, assembly.started(workspace, case, remote))
            work = Work(
                model=model,
                window=200_000,
                price=lambda _: Decimal("0.001"),
                prices=Prices(write=1.25, read=0.1),
                registry=registry,
                policy=workspace.policy,
                case=case,
                budgets=self.budgets,
                journal=journal,
                frame=assembly.frame_for(workspace, registry),
                view=view,
                ledger=ledger,
                learned=lambda _: None,
                stop=lambda: self.stop,
                now=workspace.now,
            )
            yield work, Notebook(workspace.notes, incident)

    def results(self) -> list[Event]:
        """The answers of the last run, in order."""
        return [event for event in self.events if event.kind == "result"]

    def alert_incident(self) -> str:
        """The id of the bench's incident."""
        return self.workspace.incidents.open_for(
            self.alert, self.workspace.settings.identity_labels
        )

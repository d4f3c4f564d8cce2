"""What a stall detector says, as alerts: on every host the same labels and starts for a stall."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from connectors.logbook import Filters, LastSeen
from copilot.intake import fields
from copilot.intake.bounds import RAW_CHARACTERS, TEXT_CHARACTERS
from copilot.intake.filter_words import said
from copilot.intake.stall_record import Blind, Stalled
from copilot.intake.survey import has_ended
from copilot.settings.daemon import StallDetector
from copilot.values import Alert, Json, compact
from copilot.window import iso

STALLED = "WorkflowStalled"
SILENT = "LogbookSilent"
WORDS = {"silent": "silent", "still": "without progress", "unreachable": "unreachable"}


@dataclass(frozen=True, slots=True)
class StallAlerts:
    """The alerts of one detector. *severity_label* is the label that carries a severity."""

    settings: StallDetector
    severity_label: str

    def stalled(self, row: LastSeen, stall: Stalled, now: datetime) -> Alert:
        """A workflow made no progress for too long."""
        text = (
            f"{self._workflow(row.value)} made no progress for {_length(now - stall.last)}: its "
            f"last entry of progress is of {iso(stall.last)}, and {self.settings.threshold} is the "
            f"most it may be silent.\nProgress is {said(progress(self.settings))}; there were "
            f"{row.count} such entries in the {self.settings.horizon} before."
        )
        return self._alert(
            self.labels(row.value),
            f"{row.value} made no progress since {iso(stall.last)}",
            text,
            stall.start,
        )

    def over(self, row: LastSeen, stall: Stalled, now: datetime) -> Alert:
        """A workflow that was reported is not stalled any more."""
        if has_ended(row):
            does, end = "has ended", row.ended
        elif row.last and row.last > stall.last:
            does, end = "makes progress again", row.last
        else:
            does, end = "may rest, by the settings of now", now
        return self._alert(
            self.labels(row.value),
            f"{row.value} {does}",
            f"{self._workflow(row.value)} {does}.",
            stall.start,
            end,
        )

    def blind(self, blind: Blind, start: datetime, why: str) -> Alert:
        """Nothing can be said of workflows; *why* in words."""
        name = self.settings.logbook
        text = (
            f"{why}\nWhile this lasts, no workflow is reported as stalled by {self.settings.name}."
        )
        return self._alert(
            self._silent(), f"logbook {name} is {WORDS[blind.kind]} since {iso(blind.since)}",
            text, start,
        )  # fmt: skip

    def sighted(self, start: datetime, now: datetime) -> Alert:
        """What `blind` said is over."""
        text = f"the logbook {self.settings.logbook} has news again"
        return self._alert(self._silent(), text, f"{text}.", start, now)

    def labels(self, workflow: str) -> dict[str, str]:
        """The labels of the alert about that workflow."""
        return fields.texts(
            {
                "alertname": STALLED,
                "workflow": workflow,
                self.settings.field: workflow,
                "logbook": self.settings.logbook,
                self.severity_label: self.settings.severity,
            }
        )

    def _silent(self) -> dict[str, str]:
        """Its `service` is the logbook: two silent logbooks are two troubles."""
        name = self.settings.logbook
        severity = self.settings.severity
        return {
            "alertname": SILENT,
            "service": name,
            "logbook": name,
            self.severity_label: severity,
        }

    def _workflow(self, workflow: str) -> str:
        return f"The workflow {workflow} ({self.settings.field} in {self.settings.logbook})"

    def _alert(
        self, labels: Mapping[str, str], title: str, text: str, start: datetime,
        end: datetime | None = None,
    ) -> Alert:  # fmt: skip
        facts: dict[str, Json] = {**labels, "detector": self.settings.name, "says": text}
        return Alert(
            source="stall-detector",
            title=fields.title(title),
            text=fields.cut(text, TEXT_CHARACTERS),
            status="resolved" if end else "firing",
            labels=labels,
            starts_at=start,
            ends_at=end,
            raw=fields.cut(compact(facts), RAW_CHARACTERS),
        )


def progress(settings: StallDetector) -> Filters:
    """What counts as progress."""
    return Filters(fields=settings.progress_fields, text=settings.progress)


def ending(settings: StallDetector) -> Filters | None:
    """What ends a workflow, or None when nothing does."""
    if not settings.terminal and not settings.terminal_fields:
        return None
    return Filters(fields=settings.terminal_fields, text=settings.terminal)


def _length(length: timedelta) -> str:
    return str(timedelta(seconds=int(length.total_seconds())))

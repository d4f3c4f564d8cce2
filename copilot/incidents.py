"""Provisional: replaced by the notes builder. One incident an identity and start."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from copilot.notes.repository import NotesRepository
from copilot.notes.state import State
from copilot.values import Alert, digest


class Incidents:
    """The incidents in the notes."""

    def __init__(self, notes: NotesRepository, *, now: Callable[[], datetime]) -> None:
        self._notes = notes
        self._now = now

    def open_for(self, alert: Alert, identity_labels: Sequence[str]) -> str:
        """The id of the incident of *alert*."""
        named = [f"{key}={alert.labels[key]}" for key in identity_labels if key in alert.labels]
        start = alert.starts_at or self._now()
        identity = "\n".join(named or [alert.title])
        incident = f"inc-{start:%Y%m%d}-{digest(identity)[:6]}"

        def change(state: State) -> State:
            front = replace(
                state.front, incident=incident, title=alert.title, status="investigating",
                started=state.front.started or self._now(), labels=dict(alert.labels), alerts=1,
            )  # fmt: skip
            return replace(state, front=front, alert=state.alert or alert.raw)

        if self._notes.front(incident) is None:
            self._notes.update(incident, change, subject=f"{incident}: opened", trailers={})
        return incident

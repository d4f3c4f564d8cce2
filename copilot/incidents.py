"""Which alerts are one incident, which incident came before, and when one is over.

The notes are the only record: identity, status and recurrence are in the front matter of each
STATE.md. An incident is open until a person closes it, or until its report has lain for a week
without another alert; the same trouble after that is a new incident, linked to the last one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, get_args

from copilot.arrivals import CLOSED, REPORTED, opened, with_arrivals, with_moment
from copilot.errors import NotFoundError, UsageError
from copilot.identity import OVER_AFTER, identity, incident_id
from copilot.notes.front import Front
from copilot.notes.repository import NotesRepository
from copilot.notes.sections import Moment, in_utc
from copilot.notes.state import State
from copilot.values import Alert

Judgement = Literal["right", "wrong", "partly"]
"""What a person thought of a verdict."""


class Incidents:
    """The incidents in the notes."""

    def __init__(self, notes: NotesRepository, *, now: Callable[[], datetime]) -> None:
        self._notes = notes
        self._now = now

    def open_for(self, alert: Alert, identity_labels: Sequence[str]) -> str:
        """The id of the incident that *alert* belongs to, opened when there was none.

        When this returns, the alert is in the notes and committed. The same alert again changes
        nothing, unless its incident was closed meanwhile: that opens it anew.
        """
        now = self._now()
        same = identity(alert.labels, alert.title or alert.text, identity_labels)
        start = in_utc(alert.starts_at) if alert.starts_at else now
        known = self.known(alert, identity_labels)
        going_on = [one for one in known if not _is_over(one, now)]
        incident = going_on[0].incident if going_on else self._free_id(same, start)
        self.note(incident, Front(identity=same, started=start, previous=_last(known)), [alert])
        return incident

    def known(self, alert: Alert, identity_labels: Sequence[str]) -> list[Front]:
        """The incidents of the same identity as *alert*, over or not."""
        same = identity(alert.labels, alert.title or alert.text, identity_labels)
        return [one for one in self._notes.incidents().incidents if one.identity == same]

    def is_going_on(self, alert: Alert, identity_labels: Sequence[str]) -> bool:
        """Whether *alert* would join an incident that is not over."""
        now = self._now()
        return any(not _is_over(one, now) for one in self.known(alert, identity_labels))

    def close(
        self, incident: str, *, judgement: str = "", cause: str = "", note: str = ""
    ) -> str | None:
        """Close the incident with what a person thinks of its verdict; the commit, if any.

        *judgement* is right, wrong, partly or empty. Raises NotFoundError and UsageError.
        """
        if judgement and judgement not in get_args(Judgement):
            raise UsageError(
                f"{judgement!r} is no judgement of a verdict; use right, wrong, partly"
            )
        now = self._now()

        def change(state: State) -> State:
            old = state.front
            front = replace(
                old,
                judgement=judgement or old.judgement,
                cause=cause or old.cause,
                note=note or old.note,
            )
            if front == old and old.status == CLOSED:
                return state
            front = replace(front, status=CLOSED, closed=now, updated=now)
            text = "; ".join(
                filter(None, ["Closed", judgement and f"verdict {judgement}", cause, note])
            )
            return with_moment(replace(state, front=front), Moment(now, text))

        return self._change(incident, change, "closed")

    def reopen(self, incident: str, *, note: str = "") -> str | None:
        """Open a closed incident again; the commit, or None when it was open."""
        now = self._now()

        def change(state: State) -> State:
            if state.front.status != CLOSED:
                return state
            text = f"Reopened; {note}" if note else "Reopened"
            return with_moment(opened(state, now), Moment(now, text))

        return self._change(incident, change, "reopened")

    def note(
        self, incident: str, head: Front, alerts: Sequence[Alert], total: int = 0
    ) -> str | None:
        """Note *alerts* of an incident, opened with *head* if it is new; the commit, if any.

        *total* is how many alerts it has by whoever counts them; 0: each new one counts once.
        """
        now = self._now()
        head = replace(head, incident=incident)

        def change(state: State) -> State:
            return with_arrivals(state, head, alerts, now, total)

        what = "opened" if self._notes.front(incident) is None else "another alert"
        return self._commit(incident, change, f"{what}, {alerts[0].title}")

    def _free_id(self, same: str, start: datetime) -> str:
        """The incident's id; another one when an incident of another identity has it."""
        attempt = 0
        while True:
            incident = incident_id(same, start, attempt)
            found = self._notes.front(incident)
            if found is None or found.identity == same:
                return incident
            attempt += 1

    def _change(self, incident: str, change: Callable[[State], State], subject: str) -> str | None:
        if self._notes.front(incident) is None:
            raise NotFoundError(
                f"no such incident: {incident}; `copilot incidents list` shows those that there are"
            )
        return self._commit(incident, change, subject)

    def _commit(self, incident: str, change: Callable[[State], State], subject: str) -> str | None:
        return self._notes.update(incident, change, subject=f"{incident}: {subject}", trailers={})


def _is_over(front: Front, now: datetime) -> bool:
    if front.status == CLOSED:
        return True
    quiet = front.updated is not None and now - front.updated > OVER_AFTER
    return front.status == REPORTED and quiet


def _last(known: Sequence[Front]) -> str:
    """The incident that began last among those, or an empty id."""
    oldest = datetime.min.replace(tzinfo=UTC)
    return max(known, key=lambda one: one.started or oldest).incident if known else ""

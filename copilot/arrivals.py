"""How arriving alerts change the state of their incident. Pure, and done twice it changes nothing.

Each alert is one moment of the timeline, told from the next by its reference. A storm would drown
the page: beyond the first moments its alerts are only counted.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from copilot.notes.front import Front
from copilot.notes.sections import Moment, in_utc
from copilot.notes.state import State
from copilot.values import Alert

CLOSED = "closed"
REPORTED = "reported"
OPEN = "open"
MOST_MOMENTS = 40
RESOLVED = "resolved"


def with_arrivals(
    state: State, head: Front, alerts: Sequence[Alert], now: datetime, total: int = 0
) -> State:
    """The state once *alerts* are noted; *head* is what a new incident begins with.

    *total* is how many alerts its incident has where somebody else counts; else each new arrival
    counts once. A closed incident is opened anew by an alert that fires.
    """
    if not state.front.identity:
        first = alerts[0]
        head = replace(head, title=first.title, status=OPEN, updated=now, labels=first.labels)
        state = replace(state, front=head, alert=first.raw or first.words())
    for alert in alerts:
        state = _with_one(state, alert, now)
    if total > state.front.alerts:
        state = replace(state, front=replace(state.front, alerts=total, updated=now))
    return state


def opened(state: State, now: datetime) -> State:
    """The state of an incident that is no longer closed."""
    status = REPORTED if state.front.verdict else OPEN
    return replace(state, front=replace(state.front, status=status, closed=None, updated=now))


def with_moment(state: State, moment: Moment) -> State:
    """The state with one more moment, in the order of time."""
    timeline = sorted([*state.timeline, moment], key=lambda one: one.time)
    return replace(state, timeline=tuple(timeline))


def _with_one(state: State, alert: Alert, now: datetime) -> State:
    moment = _moment(alert, state.front.started or now)
    if state.front.status == CLOSED and alert.status != RESOLVED:
        state = opened(state, now)
    if any(one.reference == moment.reference for one in state.timeline):
        return state
    if alert.status != RESOLVED:
        front = replace(state.front, alerts=state.front.alerts + 1, updated=now)
        state = replace(state, front=front)
    noted = sum(one.reference.startswith(("alert ", "resolved ")) for one in state.timeline)
    return with_moment(state, moment) if noted < MOST_MOMENTS else state


def _moment(alert: Alert, opened_at: datetime) -> Moment:
    """When the alert began, or was over; its reference is there only once."""
    key = hashlib.sha256(
        f"{alert.fingerprint} {alert.title} {alert.starts_at}".encode("utf-8", "replace")
    ).hexdigest()[:8]
    name = alert.title or alert.source
    if alert.status == RESOLVED:
        over = alert.ends_at or alert.starts_at
        return Moment(in_utc(over) if over else opened_at, f"Resolved: {name}", f"resolved {key}")
    start = in_utc(alert.starts_at) if alert.starts_at else opened_at
    return Moment(start, f"Alert: {name}", f"alert {key}")

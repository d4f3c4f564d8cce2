"""Which incident an arrival belongs to. Pure: rows in, changed rows out.

An arrival is judged by its own times, not by when it came in, so that senders may repeat it,
send it through two peers, or say that it is over before they said that it began.
Ignored arrivals have incidents of their own: they neither start nor hold up anybody else's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from copilot.identity import OVER_AFTER, incident_id
from copilot.inbox.values import SEVERITIES, URGENT, Arrival, Outcome, Rules, Severity, Status

UNSEEN = "resolved before it was seen"
TOO_LATE = "resolved before the investigation began"
LATE = timedelta(minutes=15)
"""A copy of an alert may come so long after the word that it is over: another peer sends it, or it
was sent again while we were away. Alertmanager gives a copy up after its group's interval, which is
5 minutes, and 15 s more for each peer."""
AT_WORK: frozenset[Status] = frozenset({"waiting", "queued", "running", "waiting_model"})


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of an incident when an alert comes in."""

    id: str
    identity: str
    ignored: bool
    title: str
    severity: Severity
    status: Status
    reason: str
    previous: str
    began: datetime
    """When the earliest of its alerts started."""
    ended: datetime | None
    """When the last of those that are resolved ended."""
    opened: datetime
    due: datetime
    updated: datetime
    firing: int
    """How many of its alerts are not resolved."""
    urgent: bool
    """True when an alert of a high severity was seen firing."""
    alerts: int
    newest: bool = True
    """False when another incident of the identity was opened after it."""

    @property
    def resolved(self) -> bool:
        """True when all its alerts are. One that was adopted has none, and is not."""
        return self.firing == 0 and self.ended is not None


@dataclass(frozen=True, slots=True)
class Firing:
    """What is known of an alert that was seen before."""

    key: str
    incident: str
    resolved: bool
    seen_firing: bool
    ignored: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that one decision reads."""

    newest: Case | None
    """The incident of the arrival's identity that was opened last, of its kind (ignored or not)."""
    firing: Firing | None
    """The alert with the arrival's key."""
    home: Case | None
    """The incident of that alert."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What changes: the case and the alert as they are from now on."""

    outcome: Outcome
    case: Case
    firing: Firing
    superseded: Case | None = None
    """The case that is no longer the newest of its identity."""
    is_anew: bool = False
    """True when the alert was over and fires once more under its old key."""


def decide(
    arrival: Arrival, rows: Rows, now: datetime, rules: Rules, taken: Callable[[str], bool]
) -> Decision:
    """The incident that *arrival* belongs to, and what it changes there.

    *taken* says whether an incident has that id already.
    """
    if rows.firing and rows.home and (arrival.ignored or not rows.firing.ignored):
        if not _fires_anew(arrival, rows.firing, rows.home, now, rules):
            return _again(arrival, rows.firing, rows.home, now, rules)
        arrival = replace(arrival, starts_at=now)
        return replace(_placed(arrival, rows, now, rules, taken), is_anew=True)
    return _placed(arrival, rows, now, rules, taken)


def _placed(
    arrival: Arrival, rows: Rows, now: datetime, rules: Rules, taken: Callable[[str], bool]
) -> Decision:
    """An alert that was not seen before, or is to be treated like one."""
    if rows.newest and _goes_on(rows.newest, arrival, now, rules):
        return _join(arrival, rows.newest, now, rules)
    return _open(arrival, rows.newest, now, rules, taken)


def _fires_anew(arrival: Arrival, firing: Firing, case: Case, now: datetime, rules: Rules) -> bool:
    """Whether an alert that is known fires once more, with the start that it had before.

    Some senders keep the start or tell none, and Alertmanager itself ends an alert whose source is
    away. What comes soon after the end may be a late copy, which must change nothing in whatever
    order it comes; what still fires when no copy can be under way does fire.
    """
    if arrival.status != "firing":
        return False
    if not arrival.is_dated and _is_old(case, now):
        return True
    return firing.resolved and case.resolved and now - case.updated > max(LATE, rules.cooldown)


def _is_old(case: Case, now: datetime) -> bool:
    """Whether a person closed the incident, or its report has lain for long."""
    return case.status == "closed" or (
        case.status not in AT_WORK and now - case.updated > OVER_AFTER
    )


def _goes_on(case: Case, arrival: Arrival, now: datetime, rules: Rules) -> bool:
    """Whether the incident is not over for an alert that started when *arrival* did."""
    if _is_old(case, now):
        return False
    if not case.resolved or case.ended is None:
        return True
    start = arrival.starts_at
    return start - case.ended <= rules.cooldown and case.began - start <= rules.cooldown


def _again(arrival: Arrival, firing: Firing, case: Case, now: datetime, rules: Rules) -> Decision:
    """The alert was seen before: only its end, or that it fired at all, may be news."""
    if arrival.status == "resolved":
        if firing.resolved or _is_of_before(arrival, case):
            return Decision("repeated", case, firing)
        case = replace(case, firing=case.firing - 1, ended=_later(case, arrival, now), updated=now)
        return Decision("resolved", _settled(case, TOO_LATE), replace(firing, resolved=True))
    if firing.seen_firing:
        return Decision("repeated", case, firing)
    firing = replace(firing, seen_firing=True)
    if _is_urgent(arrival) and not case.urgent:
        case = _woken(replace(case, urgent=True, updated=now), now, rules)
    return Decision("repeated", case, firing)


def _is_of_before(arrival: Arrival, case: Case) -> bool:
    """Whether it ends the firing before this one: the alert began again, with its old start."""
    end = arrival.ends_at
    return end is not None and arrival.starts_at <= end < case.began


def _join(arrival: Arrival, case: Case, now: datetime, rules: Rules) -> Decision:
    """Another alert of an incident that goes on."""
    is_firing = arrival.status == "firing"
    case = replace(
        case,
        severity=min(case.severity, arrival.severity, key=SEVERITIES.index),
        began=min(case.began, arrival.starts_at),
        ended=case.ended if is_firing else _later(case, arrival, now),
        firing=case.firing + is_firing,
        urgent=case.urgent or _is_urgent(arrival),
        alerts=case.alerts + 1,
        updated=now,
    )
    if is_firing:
        case = _woken(case, now, rules)
    joined: Outcome = "joined" if is_firing else "resolved"
    return Decision("ignored" if arrival.ignored else joined, case, _first(arrival, case))


def _open(
    arrival: Arrival, newest: Case | None, now: datetime, rules: Rules, taken: Callable[[str], bool]
) -> Decision:
    """The first alert of a new incident."""
    is_firing = arrival.status == "firing"
    dismissed = arrival.ignored or ("" if is_firing else UNSEEN)
    case = Case(
        id=_free_id(arrival, taken),
        identity=arrival.identity,
        ignored=bool(arrival.ignored),
        title=arrival.title,
        severity=arrival.severity,
        status="dismissed" if dismissed else "waiting",
        reason=dismissed,
        previous=newest.id if newest else "",
        began=arrival.starts_at,
        ended=None if is_firing else _end(arrival, now),
        opened=now,
        due=now + rules.debounce,
        updated=now,
        firing=int(is_firing),
        urgent=_is_urgent(arrival),
        alerts=1,
    )
    opened: Outcome = ("recurred" if newest else "opened") if is_firing else "resolved"
    return Decision(
        "ignored" if arrival.ignored else opened,
        case,
        _first(arrival, case),
        replace(newest, newest=False) if newest else None,
    )


def _free_id(arrival: Arrival, taken: Callable[[str], bool]) -> str:
    attempt = 0
    while taken(found := incident_id(arrival.identity, arrival.starts_at, attempt)):
        attempt += 1
    return found


def _first(arrival: Arrival, case: Case) -> Firing:
    is_firing = arrival.status == "firing"
    return Firing(arrival.key, case.id, not is_firing, is_firing, bool(arrival.ignored))


def _is_urgent(arrival: Arrival) -> bool:
    """Whether it is to be investigated even when it is over by then."""
    return arrival.status == "firing" and arrival.severity in URGENT and not arrival.ignored


def _woken(case: Case, now: datetime, rules: Rules) -> Case:
    """The case after news that it fires: one that was dismissed, or failed, waits again."""
    if case.status not in ("dismissed", "failed") or case.ignored:
        return case
    return replace(case, status="waiting", reason="", due=now + rules.debounce)


def _settled(case: Case, reason: str) -> Case:
    """The case after one of its alerts ended: nobody looks at what is over and was not urgent."""
    if case.status != "waiting" or case.firing or case.urgent:
        return case
    return replace(case, status="dismissed", reason=reason)


def _later(case: Case, arrival: Arrival, now: datetime) -> datetime:
    end = _end(arrival, now)
    return max(case.ended, end) if case.ended else end


def _end(arrival: Arrival, now: datetime) -> datetime:
    """When the alert ended; senders that do not say, or say nonsense, end it now."""
    end = arrival.ends_at
    return end if end and end >= arrival.starts_at else now

"""What may become of an incident after it was accepted: one pure rule a step, and its writing.

A step that comes late (another run is on, a person has cancelled or closed) changes nothing and is
no error: a killed daemon does again what it may have done already.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from copilot.errors import NotFoundError, UsageError
from copilot.inbox.decision import AT_WORK
from copilot.inbox.reading import ENTRY, entry_of
from copilot.inbox.tables import incidents
from copilot.inbox.values import Ending, Entry, Known, Status

Change = dict[str, Any]
"""The columns that change; empty when nothing does."""
STARTED: frozenset[Status] = frozenset({"queued", "running"})


def queued(entry: Entry, run: int) -> Change:
    """The run was handed to the engine."""
    is_next = run > entry.runs and entry.status in {"waiting", "waiting_model"}
    return {"status": "queued", "runs": run, "reason": ""} if is_next else {}


def started(entry: Entry, run: int) -> Change:
    """A worker has the run."""
    is_next = run > entry.runs and entry.status in AT_WORK
    is_this = run == entry.runs and entry.status == "queued"
    return {"status": "running", "runs": run, "reason": ""} if is_next or is_this else {}


def finished(entry: Entry, run: int, ending: Ending, reason: str) -> Change:
    """The run has ended."""
    is_next = run > entry.runs and entry.status in AT_WORK
    is_this = run == entry.runs and entry.status in STARTED
    return {"status": ending, "runs": run, "reason": reason} if is_next or is_this else {}


def cancelled(entry: Entry, reason: str) -> Change:
    """A person wants no investigation."""
    return {"status": "cancelled", "reason": reason} if entry.status in AT_WORK else {}


def retried(entry: Entry, now: datetime) -> Change:
    """A person, or the model's return, wants another run. Raises UsageError when it is closed."""
    if entry.status == "closed":
        raise UsageError(f"{entry.id} is closed; reopen it first")
    if entry.status in AT_WORK and entry.status != "waiting_model":
        return {}
    return {"status": "waiting", "reason": "", "due": now}


def closed(entry: Entry) -> Change:
    """A person says that it is over."""
    return {} if entry.status == "closed" else {"status": "closed", "reason": ""}


def reopened(entry: Entry, now: datetime) -> Change:
    """A person says that it is not."""
    if entry.status != "closed":
        return {}
    return {"status": "reported"} if entry.runs else {"status": "waiting", "due": now}


def change(
    connection: Connection, incident: str, now: datetime, rule: Callable[[Entry], Change]
) -> Entry:
    """The incident after *rule* was applied to it. Raises NotFoundError and what *rule* raises."""
    wanted = select(*ENTRY).where(incidents.c.id == incident)
    row = connection.execute(wanted.with_for_update()).one_or_none()
    if row is None:
        raise NotFoundError(
            f"no such incident: {incident}; `copilot incidents list` shows those that there are"
        )
    entry = entry_of(row)
    changed = rule(entry)
    if not changed:
        return entry
    same = incidents.c.id == incident
    connection.execute(update(incidents).where(same).values(changed | {"updated": now}))
    return entry_of(connection.execute(wanted).one())


def adopt(connection: Connection, known: Sequence[Known]) -> int:
    """How many of the *known* incidents were missing, and are here now."""
    count = 0
    for one in sorted(known, key=lambda one: one.began):
        if connection.scalar(select(incidents.c.number).where(incidents.c.id == one.id)):
            continue
        same = (incidents.c.identity == one.identity) & ~incidents.c.ignored
        newer = select(incidents.c.number).where(same, incidents.c.began > one.began)
        is_newest = connection.scalar(newer.limit(1)) is None
        if is_newest:
            connection.execute(update(incidents).where(same).values(newest=False))
        connection.execute(insert(incidents), _row(one, is_newest=is_newest))
        count += 1
    return count


def _row(known: Known, *, is_newest: bool) -> dict[str, Any]:
    return {
        "id": known.id,
        "identity": known.identity,
        "ignored": False,
        "newest": is_newest,
        "title": known.title,
        "severity": known.severity,
        "status": known.status,
        "reason": "",
        "previous": known.previous,
        "began": known.began,
        "ended": None,
        "opened": known.began,
        "due": known.updated,
        "updated": known.updated,
        "firing": 0,
        "urgent": False,
        "alerts": 0,
        "runs": known.runs,
    }

"""Questions to the inbox. They never wait for whoever writes."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from copilot.inbox.tables import alerts, incidents, spending
from copilot.inbox.values import Entry, Severity, Status, Stored

RESOLVED = (incidents.c.firing == 0) & incidents.c.ended.is_not(None)
ENTRY = tuple(
    RESOLVED.label("resolved") if one.name == "resolved" else incidents.c[one.name]
    for one in fields(Entry)
)
STORED = tuple(
    alerts.c.resolved if one.name == "status" else alerts.c[one.name] for one in fields(Stored)
)


def entry_of(row: Row[Any]) -> Entry:
    """The incident in a row of the columns ENTRY."""
    return Entry(**{**row._asdict(), "resolved": bool(row.resolved)})


def incident(connection: Connection, id: str) -> Entry | None:
    """The incident, or None."""
    row = connection.execute(select(*ENTRY).where(incidents.c.id == id)).one_or_none()
    return entry_of(row) if row else None


def listed(
    connection: Connection, conditions: Iterable[ColumnElement[bool]], limit: int
) -> list[Entry]:
    """The incidents that meet all the conditions, newest first."""
    rows = select(*ENTRY).where(*conditions).order_by(incidents.c.number.desc()).limit(limit)
    return [entry_of(row) for row in connection.execute(rows)]


def conditions(
    status: Status | None, severity: Severity | None, identity: str, since: datetime | None
) -> Iterator[ColumnElement[bool]]:
    """What an incident must meet; what is None or empty does not matter."""
    if status:
        yield incidents.c.status == status
    if severity:
        yield incidents.c.severity == severity
    if identity:
        yield incidents.c.identity == identity
    if since:
        yield incidents.c.updated >= since


def due(connection: Connection, status: Status, now: datetime, limit: int) -> list[Entry]:
    """The incidents of that status whose time has come, most severe and then oldest first."""
    rows = (
        select(*ENTRY)
        .where(incidents.c.status == status, incidents.c.due <= now)
        .order_by(*(incidents.c[name] for name in ("severity", "opened", "due", "number")))
        .limit(limit)
    )
    return [entry_of(row) for row in connection.execute(rows)]


def alerts_of(connection: Connection, incident: str, limit: int) -> list[Stored]:
    """The incident's alerts in the order they came, at most *limit*."""
    its = select(*STORED).where(alerts.c.incident == incident).order_by(alerts.c.number)
    return [_stored(row) for row in connection.execute(its.limit(limit))]


def newest_alerts(connection: Connection, limit: int) -> list[Stored]:
    """The alerts that were seen first last, newest first, at most *limit*."""
    rows = select(*STORED).order_by(alerts.c.number.desc()).limit(limit)
    return [_stored(row) for row in connection.execute(rows)]


def unnoted(
    connection: Connection, limit: int, incident: str = ""
) -> list[tuple[Entry, list[Stored]]]:
    """At most *limit* alerts that are not in the notes, oldest first, by incident."""
    rows = select(*STORED).where(~alerts.c.noted).order_by(alerts.c.number).limit(limit)
    if incident:
        rows = rows.where(alerts.c.incident == incident)
    found = sorted((_stored(row) for row in connection.execute(rows)), key=lambda one: one.incident)
    by_incident = {its: list(some) for its, some in groupby(found, key=lambda one: one.incident)}
    return [(entry, by_incident[entry.id]) for entry in entries(connection, by_incident)]


def entries(connection: Connection, ids: Iterable[str]) -> list[Entry]:
    """The incidents of those ids, oldest first."""
    rows = select(*ENTRY).where(incidents.c.id.in_(list(ids))).order_by(incidents.c.number)
    return [entry_of(row) for row in connection.execute(rows)]


def counts(connection: Connection) -> dict[Status, int]:
    """How many incidents there are of each status that occurs."""
    rows = select(incidents.c.status, func.count().label("its")).group_by(incidents.c.status)
    return {row.status: row.its for row in connection.execute(rows)}


def count(connection: Connection, status: Status) -> int:
    """How many incidents have that status."""
    its = select(func.count()).where(incidents.c.status == status)
    return connection.scalar(its) or 0


def spent(connection: Connection, since: datetime) -> Decimal:
    """What was spent since then, in dollars."""
    total = select(func.sum(spending.c.usd)).where(spending.c.at >= since)
    return connection.scalar(total) or Decimal(0)


def _stored(row: Row[Any]) -> Stored:
    values = row._asdict()
    is_resolved = values.pop("resolved")
    values["alert"] = json.loads(values["alert"])
    return Stored(**values, status="resolved" if is_resolved else "firing")

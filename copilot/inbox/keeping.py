"""What the inbox keeps besides alerts: what was spent; and how long it keeps anything."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import Connection, delete, exists, insert, select, tuple_, update

from copilot.inbox.decision import AT_WORK
from copilot.inbox.tables import alerts, incidents, spending

CHUNK = 500
"""Rows that are forgotten in one transaction; senders wait no longer than for these."""
SUMMED_UP = "forgotten"
"""Stands for the incident in the row that sums up a day."""


@dataclass(frozen=True, slots=True)
class Payment:
    """What one step of a run has cost."""

    incident: str
    run: int
    seq: int
    at: datetime
    usd: Decimal


def pay(connection: Connection, payment: Payment) -> None:
    """Record the payment. Recorded twice it counts once, with the larger amount."""
    same = (
        (spending.c.incident == payment.incident)
        & (spending.c.run == payment.run)
        & (spending.c.seq == payment.seq)
    )
    usd = max(payment.usd, Decimal(0))
    known = connection.scalar(select(spending.c.usd).where(same))
    if known is None:
        row = {"incident": payment.incident, "run": payment.run, "seq": payment.seq}
        connection.execute(insert(spending), row | {"at": payment.at, "usd": usd})
    elif usd > known:
        connection.execute(update(spending).where(same).values(usd=usd))


def forget_incidents(connection: Connection, before: datetime) -> int:
    """How many incidents were deleted: some that ended, and were not heard of since *before*."""
    heard = exists().where(alerts.c.incident == incidents.c.id, alerts.c.last_seen >= before)
    over = incidents.c.status.not_in(AT_WORK) & (incidents.c.updated < before)
    ids = connection.scalars(select(incidents.c.id).where(over, ~heard).limit(CHUNK)).all()
    if ids:
        connection.execute(delete(alerts).where(alerts.c.incident.in_(ids)))
        connection.execute(delete(incidents).where(incidents.c.id.in_(ids)))
    return len(ids)


def sum_up_spending(connection: Connection, before: datetime) -> int:
    """How many payments older than *before* became part of their day's sum; none is lost."""
    old = select(spending).where(spending.c.at < before, spending.c.incident != SUMMED_UP)
    rows = connection.execute(old.limit(CHUNK)).all()
    days: defaultdict[int, list[tuple[datetime, Decimal]]] = defaultdict(list)
    for row in rows:
        days[row.at.toordinal()].append((row.at, row.usd))
    for day, payments in days.items():
        _add_to_day(connection, day, payments)
    if rows:
        paid = tuple_(spending.c.incident, spending.c.run, spending.c.seq)
        gone = [(row.incident, row.run, row.seq) for row in rows]
        connection.execute(delete(spending).where(paid.in_(gone)))
    return len(rows)


def _add_to_day(connection: Connection, day: int, payments: list[tuple[datetime, Decimal]]) -> None:
    its = (spending.c.incident == SUMMED_UP) & (spending.c.run == 0) & (spending.c.seq == day)
    last = max(at for at, _ in payments)
    total = sum((usd for _, usd in payments), Decimal(0))
    known = connection.execute(select(spending).where(its)).one_or_none()
    if known is None:
        row = {"incident": SUMMED_UP, "run": 0, "seq": day, "at": last, "usd": total}
        connection.execute(insert(spending), row)
    else:
        sum_so_far = {"at": max(known.at, last), "usd": known.usd + total}
        connection.execute(update(spending).where(its).values(**sum_so_far))

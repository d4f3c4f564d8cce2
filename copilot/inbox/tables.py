"""The inbox's tables, the same on SQLite and PostgreSQL.

Times are whole microseconds since 1970 and money is whole billionths of a dollar: exact, small,
and in order. An alert is JSON text in ASCII, so that no character of it can be refused; every
other text is spelled out as `safe_text` does, because PostgreSQL has no place for NUL.
"""

import json
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    TypeDecorator,
    true,
)

from copilot.inbox.values import SEVERITIES, Severity
from copilot.safe_text import safe_text
from copilot.values import JsonObject

_encoded = json.JSONEncoder(separators=(",", ":")).encode
VERSION = "1"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NANODOLLAR = Decimal(1).scaleb(-9)


class Instant(TypeDecorator[datetime]):
    """A time in UTC, as microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return the number that is stored."""
        del dialect
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Return the time that was stored."""
        del dialect
        return None if value is None else EPOCH + MICROSECOND * value


class Dollars(TypeDecorator[Decimal]):
    """An amount of money, as billionths of a dollar."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """Return the number that is stored."""
        del dialect
        return None if value is None else int((value / NANODOLLAR).to_integral(ROUND_HALF_UP))

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Decimal | None:
        """Return the amount; a sum of amounts may be none."""
        del dialect
        return None if value is None else int(value) * NANODOLLAR


class Words(TypeDecorator[str]):
    """Text that any database takes and any terminal can show."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the text with what acts spelled out."""
        del dialect
        return None if value is None else safe_text(value)


class Rank(TypeDecorator[Severity]):
    """A severity, as its place in the order: 0 is the most severe."""

    impl = SmallInteger
    cache_ok = True

    def process_bind_param(self, value: Severity | None, dialect: Dialect) -> int | None:
        """Return the number that is stored."""
        del dialect
        return None if value is None else SEVERITIES.index(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Severity | None:
        """Return the severity that was stored."""
        del dialect
        return None if value is None else SEVERITIES[value]


def as_text(alert: JsonObject) -> str:
    """The alert as it is stored: ASCII, with everything else as escapes."""
    return _encoded(alert)


NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only in an INTEGER

tables = MetaData()

about = Table(
    "about",
    tables,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

incidents = Table(
    "incidents",
    tables,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("id", Words, nullable=False, unique=True),
    Column("identity", Words, nullable=False),
    Column("ignored", Boolean, nullable=False),
    Column("newest", Boolean, nullable=False),
    Column("title", Words, nullable=False),
    Column("severity", Rank, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", Words, nullable=False),
    Column("previous", Words, nullable=False),
    Column("began", Instant, nullable=False),
    Column("ended", Instant),
    Column("opened", Instant, nullable=False),
    Column("due", Instant, nullable=False),
    Column("updated", Instant, nullable=False),
    Column("firing", Integer, nullable=False),
    Column("urgent", Boolean, nullable=False),
    Column("alerts", Integer, nullable=False),
    Column("runs", Integer, nullable=False, default=0),
)
Index("incidents_due", *(incidents.c[name] for name in ("status", "severity", "opened", "due")))
Index(
    "incidents_newest",
    incidents.c.identity,
    incidents.c.ignored,
    unique=True,
    sqlite_where=incidents.c.newest == true(),  # as a query says it; bare, it would fit none
    postgresql_where=incidents.c.newest,
)

alerts = Table(
    "alerts",
    tables,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("key", Words, nullable=False, unique=True),
    Column("incident", Words, nullable=False, index=True),
    Column("alert", Text, nullable=False),
    Column("source", Words, nullable=False),
    Column("group", Words, nullable=False),
    Column("severity", Rank, nullable=False),
    Column("starts_at", Instant, nullable=False),
    Column("ends_at", Instant),
    Column("ignored", Words, nullable=False),
    Column("resolved", Boolean, nullable=False),
    Column("seen_firing", Boolean, nullable=False),
    Column("noted", Boolean, nullable=False),
    Column("count", Integer, nullable=False),
    Column("first_seen", Instant, nullable=False),
    Column("last_seen", Instant, nullable=False),
)
Index(
    "alerts_unnoted",
    alerts.c.number,
    sqlite_where=~alerts.c.noted,
    postgresql_where=~alerts.c.noted,
)

spending = Table(
    "spending",
    tables,
    Column("incident", Words, primary_key=True),
    Column("run", Integer, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Instant, nullable=False, index=True),
    Column("usd", Dollars, nullable=False),
)

"""Which alerts are the same trouble, how an incident is called, and when a report is old.

Pure: the notes and the inbox ask the same rules.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from copilot.values import canonical, digest

OVER_AFTER = timedelta(days=7)
"""A report that lies so long without another alert ends its incident."""


def identity(labels: Mapping[str, str], title: str, identity_labels: Sequence[str]) -> str:
    """A short digest, equal for alerts of the same trouble.

    Those of the *identity_labels* that the alert carries decide; without any, its title does.
    """
    named = {name: labels[name] for name in identity_labels if labels.get(name)}
    return digest(canonical(dict(named) if named else " ".join(title.lower().split())))[:16]


def incident_id(identity: str, start: datetime, attempt: int = 0) -> str:
    """`inc-20260131-3fa9c1`: the day it began, and six digits of identity and start.

    The same alert gives the same id. *attempt* counts up when another incident has it already.
    """
    text = f"{identity} {start.astimezone(UTC).isoformat()} {attempt or ''}"
    day = start.astimezone(UTC)
    return f"inc-{day.year:04}{day.month:02}{day.day:02}-{digest(text)[:6]}"

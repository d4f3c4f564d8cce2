"""Two copies of one ticket, from two exports, made into one that has lost nothing."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from connectors.tracker import Ticket

PARTS = ("comments", "changes", "links", "attachments")


def touched(ticket: Ticket) -> datetime | None:
    """When the ticket last changed: its update, else its last comment, else its creation."""
    comments = (comment.created for comment in ticket.comments or ())
    times = [time for time in (ticket.created, *comments) if time]
    return ticket.updated or max(times, default=None)


def is_older(ticket: Ticket, other: Ticket) -> bool:
    """True when *ticket* certainly changed last before *other* did."""
    time, other_time = touched(ticket), touched(other)
    return time is not None and other_time is not None and time < other_time


def merged(kept: Ticket, new: Ticket) -> Ticket:
    """The newer copy, with the parts that only the other holds and a note on what may be stale."""
    newer, other = (kept, new) if is_older(new, kept) else (new, kept)
    parts = [part for part in PARTS if getattr(newer, part) is None]
    parts = [part for part in parts if getattr(other, part) is not None]
    if other.description and not newer.description:
        parts.append("description")
    notes = list(newer.missing)
    for part in parts:
        said = [note for note in other.missing if note.startswith(f"{part}:")]
        stale = touched(newer) != touched(other)
        notes += said or ([f"{part}: as of {other.source}"] if stale else [])
    carried: dict[str, Any] = {part: getattr(other, part) for part in parts}
    return replace(newer, **carried, missing=tuple(notes))

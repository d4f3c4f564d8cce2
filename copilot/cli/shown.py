"""Values in the words that tables show. Pure."""

from datetime import datetime

from copilot.window import iso


def seconds(time: datetime | None) -> str:
    """The instant in UTC to the second; an empty text when there is none."""
    return iso(time.replace(microsecond=0)) if time else ""


def exact(time: datetime | None) -> str | None:
    """The instant in UTC as exactly as it is known, for JSON."""
    return iso(time) if time else None


def counted(count: int, noun: str) -> str:
    """`1 line`, `2,345 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

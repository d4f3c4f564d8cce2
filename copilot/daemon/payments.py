"""What investigations have paid, counted from their records into the inbox."""

from decimal import Decimal
from pathlib import Path

from copilot.daemon.patience import patiently
from copilot.inbox.inbox import Inbox
from copilot.journal import Event, read_events
from copilot.values import text_at


def count(inbox: Inbox, incident: str, record: Path, event: Event) -> None:
    """Count what an event of that record has cost, if anything; twice is once."""
    usd = Decimal(text_at(event.data, "usd") or 0)
    if usd:
        number = int(record.stem)
        patiently(lambda: inbox.spend(incident, number, event.seq, event.time, usd))


def count_again(inbox: Inbox, incident: str, record: Path) -> None:
    """Count all of a record: who wrote it may have died between an answer and the counting."""
    if record.exists():
        for event in read_events(record):
            count(inbox, incident, record, event)

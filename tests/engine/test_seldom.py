"""Claims about a vendor's log while its database is away."""

import json
import logging

import pytest

from copilot.engine import vendor
from copilot.engine.seldom import BETWEEN_S, Seldom
from copilot.logs import entry


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def line(text: str, place: int = 1) -> logging.LogRecord:
    """Return what the vendor logs at a line of its code."""
    return logging.LogRecord("dbos", logging.WARNING, "dbos.py", place, text, None, None)


def test_the_first_is_written_and_then_one_a_minute_with_the_count_of_the_others() -> None:
    clock = Clock()
    seldom = Seldom(clock)

    first = seldom(line("connection refused"))
    flood = [seldom(line(f"connection refused, try {number}")) for number in range(500)]
    clock.time += BETWEEN_S
    later = line("connection refused")

    assert (first, any(flood), seldom(later)) == (True, False, True)
    assert json.loads(json.dumps(entry(later)))["held_back"] == 500


def test_another_trouble_is_written_at_once() -> None:
    seldom = Seldom(Clock())
    seldom(line("connection refused"))

    assert seldom(line("the schema is of another version", place=2))


def test_the_vendors_logger_speaks_seldom(caplog: pytest.LogCaptureFixture) -> None:
    vendor.quiet()
    logger = logging.getLogger("dbos")

    for number in range(50):
        logger.warning("the database is away (%d)", number)

    assert len([one for one in caplog.records if "is away" in one.getMessage()]) == 1

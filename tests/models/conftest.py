"""A Claude that talks to the double, and a record of its attempts and waits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from copilot.models.claude import Claude, Endpoint
from copilot.models.model import Json, Request
from copilot.models.retries import Attempt, Retries
from tests.doubles.messages_api import MessagesApi

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
SEARCH: Json = {
    "name": "search_logbook",
    "description": "Search the logbook.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
}


@dataclass(slots=True)
class Line:
    """One Claude on one double. `step` is how far the clock goes with each look at it."""

    claude: Claude
    attempts: list[Attempt] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)


Connect = Callable[..., Line]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Return a function that makes a Line to a double; closed at the end of the test."""
    lines: list[Line] = []

    def connected(
        api: MessagesApi, *, key: str | None = None, step_s: float = 0.0, streams: bool = True
    ) -> Line:
        attempts: list[Attempt] = []
        waits: list[float] = []
        looks = iter(range(1_000_000))
        claude = Claude(
            "claude-opus-5-5",
            Endpoint(key or api.key, api.url, silence_s=5, answer_s=60, streams=streams),
            retries=Retries(sleep=waits.append, random=lambda: 0.5),
            now=lambda: NOON + timedelta(seconds=step_s * next(looks)),
            on_attempt=attempts.append,
        )
        lines.append(Line(claude, attempts, waits))
        return lines[-1]

    yield connected
    for line in lines:
        line.claude.close()


def request(*messages: Json, **changes: object) -> Request:
    """A request that the double takes; *changes* replace its fields."""
    fields: dict[str, object] = {
        "model": "claude-opus-5-5",
        "system": ({"type": "text", "text": "You investigate."},),
        "tools": (SEARCH,),
        "messages": messages or ({"role": "user", "content": "Why is the workflow stuck?"},),
        "max_tokens": 1000,
        **changes,
    }
    return Request(**fields)  # type: ignore[arg-type] # the fields are named by the tests

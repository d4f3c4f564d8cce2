"""A logbook whose server is a script: each request takes the next reply, and is kept to look at."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from connectors.opensearch import OpenSearchLogbook, Outside, Site, Told
from connectors.opensearch.caller import Pace
from connectors.opensearch.replies import Ask, NoReply, Reply

CAPS = {
    "indices": ["logs-a"],
    "fields": {
        "@timestamp": {"date": {"type": "date"}},
        "message": {"text": {"type": "text"}},
        "level": {"keyword": {"type": "keyword"}},
        "pod": {"keyword": {"type": "keyword"}},
    },
}
COMPLETE = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
Answer = Mapping[str, Any]


def reply(body: Any, status: int = 200, **headers: str) -> Reply:
    """Return a reply with *body* as JSON."""
    kinds = {"content-type": "application/json; charset=UTF-8"}
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, {**kinds, **{k.replace("_", "-"): v for k, v in headers.items()}}, text)


def answered(*hits: Answer, total: int | None = None, shards: Answer | None = None) -> Answer:
    """Return a complete search answer with those hits."""
    count = {"value": len(hits) if total is None else total, "relation": "eq"}
    listed = [{"_index": "logs-a", "_id": str(n), "sort": [n], **hit} for n, hit in enumerate(hits)]
    return {
        "timed_out": False,
        "_shards": shards or COMPLETE,
        "hits": {"total": count, "hits": listed},
    }


def every(part: Answer, count: int) -> Answer:
    """Return the answer to a multi-search whose parts are all the same."""
    return {"took": 1, "responses": [part] * count}


@dataclass
class Script:
    """A sender that answers each request with the next outcome; the last one again and again."""

    outcomes: list[Any] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)

    def send(self, ask: Ask) -> Reply:
        """Return the next reply, or raise the next NoReply."""
        if ask.path.endswith("_field_caps"):
            return reply(CAPS)
        if ask.path.startswith("_resolve"):
            return reply({"indices": []})
        self.asked.append(ask)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if callable(outcome):
            outcome = outcome(ask)
        if isinstance(outcome, NoReply):
            raise outcome
        assert isinstance(outcome, Reply)
        return outcome

    @property
    def searches(self) -> list[dict[str, Any]]:
        """The bodies of all multi-searches so far, their headers left out."""
        return [line for ask in self.asked if isinstance(ask.body, list) for line in ask.body[1::2]]


@dataclass
class Time:
    """A clock that only sleeping moves, and what was slept."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Let *seconds* pass."""
        self.slept.append(seconds)
        self.now += seconds


Scripted = Callable[..., OpenSearchLogbook]


@pytest.fixture
def script() -> Script:
    """Return a script without outcomes."""
    return Script()


@pytest.fixture
def passing() -> Time:
    """Return the time of the logbook."""
    return Time()


@pytest.fixture
def scripted(script: Script, passing: Time) -> Scripted:
    """Return a function that makes a logbook whose server answers with those outcomes."""

    def made(*outcomes: Any, told: Told | None = None, **site: Any) -> OpenSearchLogbook:
        script.outcomes = list(outcomes)
        pace = Pace(lambda: passing.now, passing.sleep, lambda: 0.5)
        here = Site("https://logs.example", ("logs-*",), told=told or Told(), **site)
        return OpenSearchLogbook(here, name="app", outside=Outside(pace, sender=script))

    return made


def always(part: Answer) -> Callable[[Ask], Reply]:
    """Return an outcome that answers every search of a request with *part*; no frozen views."""

    def outcome(ask: Ask) -> Reply:
        if isinstance(ask.body, list):
            return reply(every(part, len(ask.body) // 2))
        return reply({"error": {"type": "illegal_argument_exception", "reason": "no PIT"}}, 400)

    return outcome

"""A Jira to ask, a tracker on it, and a clock that only moves when somebody sleeps."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from connectors.jira_tracker import Clock, JiraSite, JiraTracker, Patience, open_jira
from tests.doubles.jira import Issue, Jira, Site
from tests.doubles.jira.site import NOON


class TurnedClock:
    """Time that passes only in sleeps, which are kept."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.sleeps: list[float] = []
        self.chance = 0.0

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.seconds += seconds

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    def clock(self) -> Clock:
        return Clock(lambda: self.seconds, self.now, self.sleep, lambda: self.chance)


@pytest.fixture
def turned() -> TurnedClock:
    return TurnedClock()


@pytest.fixture(params=["cloud", "server"])
def deployment(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def served() -> Iterator[Callable[..., Jira]]:
    """Start a Jira with these issues; the rest are fields of its site."""
    with ExitStack() as stack:

        def serve(*issues: Issue, **site: Any) -> Jira:
            return stack.enter_context(Jira(Site(issues=[*issues], **site)))

        yield serve


def site_of(jira: Jira, **changes: Any) -> JiraSite:
    """How to reach *jira*, limited to OPS and AS."""
    site = JiraSite(jira.url, ("OPS", "AS"), user=jira.site.user)
    return replace(site, **changes)


def tracker_on(jira: Jira, turned: TurnedClock, **changes: Any) -> JiraTracker:
    """A tracker on *jira*, with the clock that is turned by hand."""
    patience = changes.pop("patience", Patience())
    token = changes.pop("token", jira.site.token)
    return open_jira(
        site_of(jira, **changes), token=lambda: token, clock=turned.clock(), patience=patience
    )

"""One cassette per shape of call to Jira: how it is recorded, scrubbed and matched.

Record them anew with `python -m tests.connectors.jira.cassettes`: from the double, which needs no
account. The address is rewritten, so that a port never matters; replay needs no server.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import vcr

from connectors.jira_tracker import JiraSite, JiraTracker, open_jira
from connectors.tracker import TicketSearch
from copilot.errors import CopilotError
from tests.connectors.jira.conftest import TurnedClock
from tests.doubles.jira import Fault, Issue, Jira, Remark, Site

FOLDER = Path(__file__).resolve().parents[2] / "cassettes" / "jira"
PUBLIC = "https://jira.example.org"
KEPT = frozenset({"content-type", "retry-after", "ratelimit-reason"})
ISSUES = [
    Issue("OPS-1", "Müller's disk is full", comments=[Remark(f"c{n}") for n in range(3)]),
    Issue("OPS-2", "disk", changes=[("status", "Open", "Done")]),
]


@dataclass(frozen=True, slots=True)
class Case:
    """One call: which Jira answers, with which fault first, and what is asked."""

    site: Site
    call: Callable[[JiraTracker], Any]
    fault: Fault | None = None


def _search(tracker: JiraTracker) -> Any:
    return tracker.search(TicketSearch(text="disk"))


CASES = {
    "cloud_search": Case(Site("cloud", ISSUES, page_cap=1), _search),
    "server_search": Case(Site("server", ISSUES, page_cap=1), _search),
    "cloud_ticket": Case(
        Site("cloud", ISSUES, comment_cap=2),
        lambda tracker: tracker.ticket("OPS-1", frozenset({"comments", "changes", "links"})),
    ),
    "rate_limit": Case(
        Site("cloud", ISSUES),
        _search,
        Fault(429, {"Retry-After": "7", "RateLimit-Reason": "jira-burst-based"}),
    ),
}


def cassette(name: str, *, mode: str = "none") -> "vcr.cassette.CassetteContextDecorator":
    """A context that plays the cassette, or with mode `all` records it."""
    recorder = vcr.VCR(
        cassette_library_dir=str(FOLDER),
        record_mode=vcr.record_mode.RecordMode(mode),
        match_on=["method", "uri", "body"],
        before_record_request=_scrubbed_request,
        before_record_response=_scrubbed_response,
        decode_compressed_response=True,
    )
    return recorder.use_cassette(f"{name}.yaml")


def play(case: Case, url: str = PUBLIC) -> Any:
    """What the call gives at *url*, and how long it waited."""
    turned = TurnedClock()
    site = JiraSite(url, ("OPS",), user=case.site.user)
    tracker = open_jira(site, token=lambda: case.site.token, clock=turned.clock())
    return case.call(tracker), turned.sleeps


def record() -> None:
    """Write every cassette anew, from the double."""
    for name, case in CASES.items():
        (FOLDER / f"{name}.yaml").unlink(missing_ok=True)
        with Jira(case.site) as jira, cassette(name, mode="all"):
            if case.fault:
                jira.fault("/search/jql", case.fault)
            try:
                play(case, jira.url)
            except CopilotError as error:
                print(f"{name}: {error}")  # noqa: T201 - a command for a person


def _scrubbed_request(request: "vcr.request.Request") -> "vcr.request.Request":
    scrubbed = copy.copy(request)
    parts = urlsplit(request.uri)
    scrubbed.uri = f"{PUBLIC}{parts.path}{'?' if parts.query else ''}{parts.query}"
    scrubbed.headers = {
        name: value for name, value in request.headers.items() if name.lower() == "content-type"
    }
    return scrubbed


def _scrubbed_response(response: dict[str, Any]) -> dict[str, Any]:
    scrubbed = copy.deepcopy(response)
    scrubbed["headers"] = {
        name: value for name, value in response["headers"].items() if name.lower() in KEPT
    }
    body = scrubbed["body"]["string"].decode()
    start = body.find("http://127.0.0.1:")
    while start >= 0:
        end = body.index('"', start)
        body = body[:start] + PUBLIC + urlsplit(body[start:end]).path + body[end:]
        start = body.find("http://127.0.0.1:")
    scrubbed["body"]["string"] = body.encode()
    return scrubbed


if __name__ == "__main__":
    record()

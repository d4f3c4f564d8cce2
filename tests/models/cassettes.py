"""One cassette per shape of call: what is recorded, how it is scrubbed, how it is matched.

Record them anew with `python -m tests.models.cassettes`: from the double, which needs no key. The
address is rewritten to the public one, so that a port never matters; replay needs no server.
"""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import vcr

from copilot.errors import ModelError
from copilot.models.claude import PUBLIC_URL, Claude, Endpoint
from copilot.models.model import Json, Request
from copilot.models.retries import Retries
from tests.doubles.messages_api import MessagesApi, Status, calls, says, thinks
from tests.doubles.messages_api.script import Turn

FOLDER = Path(__file__).resolve().parents[1] / "cassettes"
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
KEPT_REQUEST_HEADERS = frozenset({"content-type", "anthropic-version", "anthropic-beta"})
KEPT_RESPONSE_HEADERS = frozenset({"content-type", "retry-after"})
REQUEST_ID = re.compile(rb'"request_id": ?"[^"]*"')
QUESTION = Request(
    model="claude-opus-5-5",
    system=({"type": "text", "text": "You investigate."},),
    tools=({"name": "search_logbook", "input_schema": {"type": "object"}},),
    messages=({"role": "user", "content": "Why does the Müller workflow wait?"},),
    max_tokens=1000,
    betas=("context-management-2025-06-27",),
    context_management={"edits": [{"type": "clear_tool_uses_20250919"}]},
)


@dataclass(frozen=True, slots=True)
class Case:
    """One call: what the double plays, and what we do with the client."""

    turn: Turn | None
    call: Callable[[Claude], object]
    streams: bool = True


CASES = {
    "message": Case(says("It waits for a lock."), lambda claude: claude.respond(QUESTION), False),
    "stream": Case(
        thinks("First the errors.", calls(("search_logbook", {"query": "ü\u2028"}), text="Hm.")),
        lambda claude: claude.respond(QUESTION),
    ),
    "count_tokens": Case(None, lambda claude: claude.count_tokens(QUESTION)),
    "rate_limit": Case(
        Status(429, "rate_limit_error", "Too many requests", headers={"retry-after": "30"}),
        lambda claude: claude.respond(QUESTION),
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


def play(case: Case, endpoint: Endpoint) -> object:
    """What the call gives at *endpoint*, tried once. Raises ModelError."""
    once = Retries(sleep=lambda _seconds: None, random=lambda: 0.0, tries=1)
    claude = Claude(QUESTION.model, endpoint, retries=once, now=lambda: NOON)
    try:
        return case.call(claude)
    finally:
        claude.close()


def record() -> None:
    """Write every cassette anew, from the double."""
    for name, case in CASES.items():
        (FOLDER / f"{name}.yaml").unlink(missing_ok=True)
        with MessagesApi(*([case.turn] if case.turn else [])) as api, cassette(name, mode="all"):
            try:
                play(case, Endpoint(api.key, api.url, streams=case.streams))
            except ModelError as error:
                print(f"{name}: {error}")  # noqa: T201 - a command for a person


def _scrubbed_request(request: "vcr.request.Request") -> "vcr.request.Request":
    """The request without what names a person, a key or a port."""
    scrubbed = copy.copy(request)
    scrubbed.uri = PUBLIC_URL + urlsplit(request.uri).path
    scrubbed.headers = {
        name: value
        for name, value in request.headers.items()
        if name.lower() in KEPT_REQUEST_HEADERS
    }
    return scrubbed


def _scrubbed_response(response: Json) -> Json:
    """The response without ids, cookies and the organisation; the live one stays as it is."""
    scrubbed = copy.deepcopy(response)
    scrubbed["headers"] = {
        name: value
        for name, value in response["headers"].items()
        if name.lower() in KEPT_RESPONSE_HEADERS
    }
    body = scrubbed["body"]
    body["string"] = REQUEST_ID.sub(b'"request_id": "req_scrubbed"', body["string"])
    return scrubbed


if __name__ == "__main__":
    record()

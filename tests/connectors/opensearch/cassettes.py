"""One cassette per question to an OpenSearch: how it is recorded, scrubbed and matched.

Record them anew with `python -m tests.connectors.opensearch.cassettes`: from the real node. The
address is rewritten, so that a port never matters; replay needs neither a server nor Java.
"""

import copy
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import vcr

from connectors.logbook import Filters, Latest, Search
from connectors.opensearch import OpenSearchLogbook, Site
from copilot.errors import CopilotError
from copilot.window import ALWAYS, Window
from tests.nodes.opensearch.node import running

FOLDER = Path(__file__).resolve().parents[2] / "cassettes" / "opensearch"
PUBLIC = "https://opensearch.example.org"
INDEX = "taped"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = Window(NOON, NOON + timedelta(hours=1))
LINES = [
    *(f"2026-03-01T12:{n:02d}:00.000250Z INFO a.B: step {n} done" for n in range(0, 40, 4)),
    "2026-03-01T12:41:00Z ERROR a.B: store-7 refused job-1",
    "2026-03-01T12:42:00Z ERROR a.B: store-8 refused job-2",
]
Question = Callable[[OpenSearchLogbook], Any]
QUESTIONS: dict[str, Question] = {
    "search": lambda book: book.search(Search(Filters(text="store-7"), HOUR)),
    "overview": lambda book: book.overview(HOUR, Filters(), timedelta(minutes=30)),
    "patterns": lambda book: book.patterns(ALWAYS, None, Filters()),
    "fields": lambda book: book.fields(),
    "context": lambda book: book.context("app.log", 11, 1, 1),
    "trace": lambda book: book.trace("job-2", ALWAYS, 10),
    "latest": lambda book: book.latest(Latest("component")),
    "no_such_index": lambda book: _other(book).search(Search()),
}


def _other(book: OpenSearchLogbook) -> OpenSearchLogbook:
    return OpenSearchLogbook(Site(book.site.url, ("not-there",)), name="taped")


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


def play(question: Question, url: str = PUBLIC) -> Any:
    """What the question is answered with, or the text of the error."""
    try:
        return question(OpenSearchLogbook(Site(url, (INDEX,)), name="taped"))
    except CopilotError as error:
        return str(error).replace(url, PUBLIC)


def record() -> None:
    """Write every cassette anew, from a real node."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "node") as url:
        path = Path(folder) / "app.log"
        path.write_text("\n".join(LINES) + "\n")
        OpenSearchLogbook(Site(url, (INDEX,)), name="taped").import_file(path, "app.log")
        for name, question in QUESTIONS.items():
            (FOLDER / f"{name}.yaml").unlink(missing_ok=True)
            with cassette(name, mode="all"):
                play(question, url)


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
        name: value for name, value in response["headers"].items() if name.lower() == "content-type"
    }
    return scrubbed


if __name__ == "__main__":
    record()

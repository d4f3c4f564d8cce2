"""Whether an OpenSearch can be read as configured: what one wants to know before an incident."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from connectors.opensearch.book import OpenSearchLogbook
from connectors.opensearch.query import Query
from connectors.opensearch.replies import Ask
from connectors.opensearch.searches import Searches
from connectors.opensearch.span import span_bodies, span_of
from copilot.errors import CopilotError
from copilot.safe_text import safe_text
from copilot.values import object_at, text_at
from copilot.window import ALWAYS, iso

STALE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Reached:
    """One thing that was tried. `fix` is empty exactly when it works."""

    found: str
    fix: str = ""


def reach(book: OpenSearchLogbook, now: datetime) -> Iterator[Reached]:
    """The server, the indices with their fields, the newest entry. A failure ends it."""
    site = book.site
    try:
        if not site.msearch_only:
            yield Reached(f"{_server(book)} at {site.url}")
        schema = book.schema()
        count = f"{len(schema.indices)} indices" if schema.indices else ", ".join(site.indices)
        yield Reached(f"{count}; the time is {schema.time.name} ({schema.time.kind})")
        for gap in schema.gaps:
            yield Reached(gap, "open it, or take it out of `indices`")
        searches = Searches(book.caller, schema)
        span = span_of(schema, ALWAYS, searches.many(span_bodies(schema, Query(), ALWAYS)))
    except CopilotError as error:
        yield Reached(str(error), "mend this logbook in copilot.yaml or its secret; then try again")
        return
    if span.why:
        yield Reached(span.why, "look at the cluster's health")
    if not span.last:
        yield Reached("no entry has a time", "look whether anything writes into these indices")
        return
    age = now - span.last
    told = f"the newest entry of {span.total.value} is of {iso(span.last)}"
    late = "look whether the shipper of the logs runs" if age > STALE else ""
    yield Reached(told, late)


def _server(book: OpenSearchLogbook) -> str:
    version = object_at(book.caller.ask(Ask("GET", "", "say hello")), "version")
    kind = text_at(version, "distribution") or "Elasticsearch or a relative"
    return safe_text(f"{kind} {text_at(version, 'number')}", limit=60)

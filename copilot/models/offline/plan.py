"""Which calls come next. Steps in a fixed order; a step without anything to ask is passed over.

look (statistics) - probe (the alert's own names) - compare (what rose, what vanished) - sift (the
stored answers) - drill (around the leading lines) - doubt (could it be something else?) - note.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from copilot.models.offline.dossier import Line
from copilot.models.offline.noting import note
from copilot.models.offline.doubting import doubt
from copilot.models.offline.queries import (
    FIRSTS_BY_SOURCE,
    every_line,
    health_before,
    of_trouble,
    phrase_of,
)
from copilot.models.offline.records import ask_records, ask_siblings
from copilot.models.offline.view import SMALL, View, is_identifier
from copilot.models.offline.wants import Want
from copilot.values import JsonObject, text_at

MAX_CALLS = 8
ENTITIES_PROBED = 6
MAX_LOGBOOKS = 2


@dataclass(frozen=True, slots=True)
class Step:
    """The calls of one turn, and why, in words."""

    name: str
    why: str
    wants: tuple[Want, ...]


def next_step(view: View) -> Step | None:
    """The step to take now; None when it is time to report."""
    if not view.transcript.may_call:
        return None
    for name, why, ask in STEPS:
        if name in view.transcript.steps:
            continue
        wants = [want for want in ask(view) if want.tool in view.tools]
        if wants:
            return Step(name, why, tuple(dict.fromkeys(wants))[:MAX_CALLS])
    return None


def look(view: View) -> Iterator[Want]:
    """Statistics of every logbook; tickets, documents and past incidents by the alert's words."""
    brief = view.brief
    for name in brief.logbooks[:MAX_LOGBOOKS]:
        yield Want("logbook_overview", {"logbook": name})
    about = brief.title[:200] or brief.subject
    yield Want("search_incidents", {"text": about, "limit": 3})
    subject = next((item.text for item in brief.entities if item.weight > 1), "")
    for name in brief.trackers[:1]:
        if brief.ticket:
            yield Want("get_ticket", {"key": brief.ticket, "tracker": name})
        if subject or about:
            yield Want("search_tickets", {"text": subject or about, "tracker": name, "limit": 5})
    for name in brief.libraries[:1]:
        yield Want("search_documents", {"text": about, "library": name, "limit": 3})


def probe(view: View) -> Iterator[Want]:
    """The alert's own names; and when the healthy sources are from."""
    entities = [item for item in view.brief.entities if item.weight > 1]
    entities += [item for item in view.brief.entities if item.weight == 1 and item not in entities]
    for extent in view.extents:
        if not extent.total:
            continue
        if extent.healthy:
            sources = list(extent.healthy)
            yield _search(extent.logbook, {"sources": sources, "order": "oldest", "limit": 1})
        if extent.total <= SMALL:
            yield _search(extent.logbook, {"order": "oldest", "limit": 2 * SMALL})
        for entity in entities[:ENTITIES_PROBED]:
            text = {"text": as_term(entity.text), "order": "oldest", "limit": 300}
            yield _search(extent.logbook, text)


def compare(view: View) -> Iterator[Want]:
    """What rose against a healthy time, over all and about what the alert names."""
    for extent in view.extents:
        if not extent.total:
            continue
        focus = view.focus_of(extent.logbook)
        logbook: JsonObject = {"logbook": extent.logbook}
        yield Want("logbook_patterns", logbook | focus.both())
        if focus.is_bounded and extent.untimed:
            yield Want("logbook_patterns", logbook)
        for entity in view.brief.entities:
            total = view.found(entity.text) or 0
            if entity.weight > 1 and 8 < total < extent.total // 2:
                yield Want("logbook_patterns", logbook | {"text": as_term(entity.text)})
                break


def sift(view: View) -> Iterator[Want]:
    """The troubles among the stored answers, the first ones first."""
    for item in view.transcript.of_step("compare"):
        if item.answer.lines:
            compared = bool(item.answer.facts.get("baseline_entries"))
            yield Want(
                "query_scratch", of_trouble(item.answer.handle, patterns=True, compared=compared)
            )
    for item in view.transcript.of_step("probe"):
        answer = item.answer
        if not answer.lines or item.input.get("sources"):
            continue
        if not text_at(item.input, "text"):
            yield Want("query_scratch", every_line(answer.handle))
        elif answer.lines > len(answer.rows):
            yield Want("query_scratch", of_trouble(answer.handle, patterns=False, compared=False))


def sift_more(view: View) -> Iterator[Want]:
    """The rest of what did not fit into one answer."""
    for item in view.transcript.of_step("sift"):
        shown = len(item.answer.rows)
        sql = text_at(item.input, "sql")
        if shown and not item.answer.complete and "OFFSET" in sql:
            yield Want(
                "query_scratch",
                item.input | {"sql": re.sub(r"OFFSET \d+", f"OFFSET {shown}", sql)},
            )


def drill(view: View) -> Iterator[Want]:
    """Around the leading lines; their own names; the texts that were cut."""
    leading = [item.first for item in view.causes[:3]]
    if not leading:
        leading = [item.first for item in view.candidates[:2]]
    for line in leading[:2]:
        if line.record is None:
            around: JsonObject = {"reference": line.reference, "before": 4, "after": 5}
            yield Want("logbook_context", _in_logbook(view, around))
    for line in leading[:3]:
        phrase = phrase_of(line)
        if phrase:
            text = {"text": phrase, "order": "oldest", "limit": 500}
            yield _search(_logbook_of(view, line), text)
    for name in _names_in_tickets(view):
        yield _search(
            _logbook_of(view, None), {"text": as_term(name), "order": "oldest", "limit": 50}
        )
    for item in view.transcript.of_step("probe"):
        if item.answer.lines and leading and text_at(item.input, "text"):
            yield Want("query_scratch", health_before(item.answer.handle, leading[0].time))
            break


def count(view: View) -> Iterator[Want]:
    """Where else the leading lines stand, the first of each file; what went well before them."""
    for item in view.transcript.of_step("drill"):
        if item.tool == "search_logbook" and item.answer.lines > 1:
            yield Want("query_scratch", {"handle": item.answer.handle, "sql": FIRSTS_BY_SOURCE})


def as_term(text: str) -> str:
    """*text* as one term of a search: exact for an identifier, else as the beginning of a word."""
    if " " in text:
        return f'"{text}"'
    return text if is_identifier(text) or text[-1].isdigit() else f"{text}*"


def _search(logbook: str, arguments: JsonObject) -> Want:
    return Want("search_logbook", {"logbook": logbook} | arguments)


def _in_logbook(view: View, arguments: JsonObject) -> JsonObject:
    return {"logbook": _logbook_of(view, None)} | arguments


def _logbook_of(view: View, line: Line | None) -> str:
    """The logbook that a line came from; the first one where that cannot be told."""
    for item in view.transcript.exchanges:
        if line and item.answer.handle and line.reference.startswith(f"{item.answer.handle}:"):
            name = text_at(item.input, "logbook")
            if name:
                return name
    return view.extents[0].logbook if view.extents else ""


def _names_in_tickets(view: View) -> Sequence[str]:
    """Names of settings that a ticket speaks of: they may be in a log or a configuration."""
    texts = "\n".join(line.message for line in view.dossier.tickets)
    return list(dict.fromkeys(re.findall(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b", texts)))[:2]


STEPS: tuple[tuple[str, str, Callable[[View], Iterator[Want]]], ...] = (
    ("look", "Statistics first, and whether this was seen before.", look),
    ("probe", "Where the alert's own names occur.", probe),
    ("compare", "What rose and what vanished against a healthy time.", compare),
    ("sift", "The first troubles among what was found.", sift),
    ("siftmore", "The rest of them.", sift_more),
    (
        "records",
        "Structured records: what is empty, what differs from their siblings.",
        ask_records,
    ),
    ("siblings", "The same of the siblings.", ask_siblings),
    ("drill", "Around the leading lines.", drill),
    ("count", "How often they occur, and where first.", count),
    ("doubt", "Could it be something else?", doubt),
    ("note", "What is to outlive this conversation.", note),
)

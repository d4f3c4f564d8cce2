"""Which calls come next. Steps in a fixed order; a step without anything to ask is passed over.

look (statistics), probe (the alert's own names), homes
(in which files), compare (what rose, what vanished), sift (the
stored answers), drill (around the leading lines), count (where else), pulse (does
anything fall silent?), doubt (something else?).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from copilot.models.offline.doubting import doubt
from copilot.models.offline.entities import as_term
from copilot.models.offline.focus import around
from copilot.models.offline.lines import Line
from copilot.models.offline.phrases import phrase_of
from copilot.models.offline.pulse import ask_beat, ask_last_beat, ask_pulse
from copilot.models.offline.queries import (
    FIRSTS_BY_SOURCE,
    GAP,
    PAGE,
    every_line,
    health_before,
    last_lines,
    of_class,
    of_entries,
    of_patterns,
)
from copilot.models.offline.records import ask_records, ask_siblings
from copilot.models.offline.view import MANY_SOURCES, SMALL, View
from copilot.models.offline.wants import Want
from copilot.values import Json, JsonObject, text_at

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
    if brief.libraries:
        yield Want("search_documents", {"text": about, "limit": 3})


def probe(view: View) -> Iterator[Want]:
    """The alert's own names; and when the healthy sources are from."""
    entities = [item for item in view.brief.entities if item.weight > 1]
    entities += [item for item in view.brief.entities if item.weight == 1 and item not in entities]
    for extent in view.extents:
        if not extent.total:
            continue
        if extent.healthy:
            sources = list[Json](extent.healthy)
            yield _search(extent.logbook, {"sources": sources, "order": "oldest", "limit": 1})
        window = around(view.brief, extent)
        if window:
            yield _search(extent.logbook, window | {"limit": 1})
        if extent.total <= SMALL:
            yield _search(extent.logbook, {"order": "oldest", "limit": 2 * SMALL})
        for entity in entities[:ENTITIES_PROBED]:
            text: JsonObject = {"text": as_term(entity.text), "order": "oldest", "limit": 300}
            yield _search(extent.logbook, text)


def find_homes(view: View) -> Iterator[Want]:
    """In which files the alert's names stand, where there are many files."""
    if max((len(extent.sources) for extent in view.extents), default=0) < MANY_SOURCES:
        return
    names = {as_term(item.text) for item in view.brief.entities if item.weight > 1}
    for item in view.transcript.of_step("probe"):
        if text_at(item.input, "text") in names and item.answer.lines:
            yield Want("query_scratch", {"handle": item.answer.handle, "sql": FIRSTS_BY_SOURCE})


def compare(view: View) -> Iterator[Want]:
    """What rose against a healthy time, over all and about what the alert names."""
    for extent in view.extents:
        if not extent.total:
            continue
        focus = view.focus_of(extent.logbook)
        logbook: JsonObject = {"logbook": extent.logbook}
        if view.homes:
            homes: JsonObject = {"sources": list[Json](view.homes)}
            if focus.is_bounded and extent.untimed:
                yield Want("logbook_patterns", logbook | homes)
            yield Want("logbook_patterns", logbook | homes | focus.both())
        yield Want("logbook_patterns", logbook | focus.both())
        if focus.is_bounded and (extent.untimed or focus.is_guess):
            yield Want("logbook_patterns", logbook)
        for entity in view.brief.entities:
            total = view.found(entity.text) or 0
            if entity.weight > 1 and 8 < total < extent.total // 2:
                yield Want("logbook_patterns", logbook | {"text": as_term(entity.text)})
                break


def sift(view: View) -> Iterator[Want]:
    """The troubles among the stored answers, the worst and first ones first."""
    for number, item in enumerate(view.transcript.of_step("compare")):
        answer = item.answer
        compared = bool(answer.facts.get("baseline_entries"))
        pages = 2 if number == 0 and answer.lines > PAGE else 1
        for page in range(pages if answer.lines else 0):
            yield Want("query_scratch", of_patterns(answer.handle, compared=compared, page=page))
    for item in view.transcript.of_step("probe"):
        answer = item.answer
        if not answer.lines or item.input.get("sources") or item.input.get("since"):
            continue
        if not text_at(item.input, "text"):
            for page in range(-(-answer.lines // PAGE)):
                yield Want("query_scratch", every_line(answer.handle, page))
        elif answer.lines > len(answer.rows):
            yield Want("query_scratch", of_entries(answer.handle))


def sift_more(view: View, before: str) -> Iterator[Want]:
    """The rest of what did not fit into one answer of the step *before*."""
    for item in view.transcript.of_step(before):
        sql = text_at(item.input, "sql")
        offset = re.search(r"OFFSET (\d+)", sql)
        shown = len(item.answer.rows)
        if not offset or not shown:
            continue
        start = int(offset[1])
        if not item.answer.complete:
            yield _page(item.input, sql, start + shown)
        elif shown == PAGE and _page(item.input, sql, start + PAGE).input not in view.asked:
            yield _page(item.input, sql, start + PAGE)


def _page(input: JsonObject, sql: str, start: int) -> Want:
    return Want("query_scratch", input | {"sql": re.sub(r"OFFSET \d+", f"OFFSET {start}", sql)})


def drill(view: View) -> Iterator[Want]:
    """Around the leading lines; their own names; the texts that were cut."""
    leading = [item.first for item in view.causes[:3]]
    if not leading:
        leading = [item.first for item in view.candidates[:2]]
    for line in leading[:3]:
        if line.is_cut or GAP in line.message or "\n" in line.message:
            handle, _, number = line.reference.partition(":")
            yield Want("read_scratch", {"handle": handle, "first": int(number), "count": 1})
    for line in leading[:2]:
        if not line.path:
            around: JsonObject = {"reference": line.reference, "before": 4, "after": 5}
            yield Want("logbook_context", _in_logbook(view, around))
    for line in leading[:3]:
        phrase = phrase_of(line)
        if phrase:
            text: JsonObject = {"text": phrase, "order": "oldest", "limit": 500}
            yield _search(_logbook_of(view, line), text)
    for name in _names_in_tickets(view):
        yield _search(
            _logbook_of(view, None), {"text": as_term(name), "order": "oldest", "limit": 50}
        )


def count(view: View) -> Iterator[Want]:
    """Where else the leading lines stand, the first of each file; what went well before them."""
    for item in view.transcript.of_step("drill"):
        if item.tool == "search_logbook" and item.answer.lines > 1:
            yield Want("query_scratch", {"handle": item.answer.handle, "sql": FIRSTS_BY_SOURCE})
    codes = {entity.text for entity in view.brief.entities if entity.text.isdigit()}
    for item in view.transcript.of_step("probe"):
        if text_at(item.input, "text") in codes and item.answer.lines > 1:
            yield Want("query_scratch", last_lines(item.answer.handle))
    leading = view.causes[0] if view.causes else None
    templates = [item.answer for item in view.transcript.of_step("compare") if item.answer.lines]
    for answer in sorted(templates, key=lambda answer: -answer.lines)[:2]:
        if leading and leading.sign.role == "cause" and not leading.first.path:
            compared = bool(answer.facts.get("baseline_entries"))
            query = of_class(answer.handle, leading.cause, compared=compared)
            yield Want("query_scratch", query)
        time = leading.first.when if leading else ""
        yield Want("query_scratch", health_before(answer.handle, time))


def _search(logbook: str, arguments: JsonObject) -> Want:
    named: JsonObject = {"logbook": logbook}
    return Want("search_logbook", named | arguments)


def _in_logbook(view: View, arguments: JsonObject) -> JsonObject:
    logbook: JsonObject = {"logbook": _logbook_of(view, None)}
    return logbook | arguments


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
    ("homes", "In which files they stand.", find_homes),
    ("compare", "What rose and what vanished against a healthy time.", compare),
    ("sift", "The first troubles among what was found.", sift),
    ("siftmore", "The rest of them.", lambda view: sift_more(view, "sift")),
    ("siftlast", "And the last of them.", lambda view: sift_more(view, "siftmore")),
    (
        "records",
        "Structured records: what is empty, what differs from their siblings.",
        ask_records,
    ),
    ("siblings", "The same of the siblings.", ask_siblings),
    ("drill", "Around the leading lines.", drill),
    ("count", "How often they occur, and where first.", count),
    ("pulse", "No line names a cause: does anything fall silent?", ask_pulse),
    ("beat", "What came steadily, and when it ended.", ask_beat),
    ("beatlast", "The last of what stopped.", ask_last_beat),
    ("doubt", "Could it be something else?", doubt),
)

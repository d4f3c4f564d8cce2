"""Progress that stopped without a word: lines that came at a steady rate and then no more.

Asked only where no line names a cause. Others that go on show that the program fell silent, and
not the log.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from copilot.models.offline.causes import Sign, Strength, class_called
from copilot.models.offline.lines import Line, line_of
from copilot.models.offline.origins import origin_of
from copilot.models.offline.phrases import phrase_of
from copilot.models.offline.queries import steady
from copilot.models.offline.view import View
from copilot.models.offline.wants import Want
from copilot.values import JsonObject, object_at, text_at
from copilot.window import iso, parse_iso

BEATS_MISSED = 10
"""Usual distances without a line after which it has stopped."""
SHORTEST = timedelta(minutes=1)
NAMES_ASKED = 2


@dataclass(frozen=True, slots=True)
class Stop:
    """A kind of line that came steadily and stopped, with the last of it."""

    line: Line
    """The last one where it was found, else one of its kind."""
    last: datetime
    count: int
    """How often it had come."""
    usual: timedelta
    """The usual distance between two of them."""
    goes_on: Line
    """The last line of the logbook: others were still writing."""

    @property
    def sign(self) -> Sign:
        """Its class of causes: a stop is a hint and never more."""
        return Sign(class_called("stopped"), Strength.HINT)


def ask_pulse(view: View) -> Iterator[Want]:
    """All templates of all times: of the alert's own names, else over all; and the last line."""
    if view.causes or view.missing_subject:
        return
    for extent in view.extents:
        if not extent.total:
            continue
        logbook: JsonObject = {"logbook": extent.logbook}
        yield Want("search_logbook", logbook | {"order": "newest", "limit": 1})
        yield Want("logbook_patterns", logbook)
        names = [item for item in view.brief.entities if item.weight > 1 and view.present(item)]
        for entity in names[:NAMES_ASKED]:
            yield Want("logbook_patterns", logbook | {"text": f'"{entity.text}"'})


def ask_beat(view: View) -> Iterator[Want]:
    """Which of the templates came often, those first that ended first."""
    for item in view.transcript.of_step("pulse"):
        if item.tool == "logbook_patterns" and item.answer.lines:
            yield Want("query_scratch", steady(item.answer.handle))


def ask_last_beat(view: View) -> Iterator[Want]:
    """The last line of the kind that stopped."""
    stop = stopped(view)
    phrase = phrase_of(stop.line) if stop else ""
    if stop and phrase:
        asked: JsonObject = {"text": phrase, "order": "newest", "limit": 1}
        yield Want("search_logbook", asked | {"sources": [stop.line.source]} | _logbook(view))


def _logbook(view: View) -> JsonObject:
    return {"logbook": view.extents[0].logbook} if view.extents else {}


def stopped(view: View) -> Stop | None:
    """What of the alert's own stopped, the most frequent kind; None when all of it goes on."""
    newest = _lines(view, "pulse", "search_logbook")
    goes_on = max(newest, key=lambda line: line.time, default=None)
    if goes_on is None or not goes_on.time:
        return None
    circle = view.circle()
    found = [
        stop
        for line in _lines(view, "beat", "query_scratch")
        if circle.holds(line) and (stop := _stop(line, goes_on))
    ]
    if not found or (circle.names_nothing and len(found) > 1):
        return None  # which of them the alert is about, nobody can tell
    best = max(found, key=lambda stop: stop.count)
    last = [line for line in _lines(view, "beatlast", "search_logbook") if _same(line, best.line)]
    return Stop(last[0] if last else best.line, best.last, best.count, best.usual, goes_on)


def _stop(line: Line, goes_on: Line) -> Stop | None:
    first, last, end = (parse_iso(text) for text in (line.first_seen, line.last_seen, goes_on.time))
    usual = (last - first) / max(line.count - 1, 1)
    is_over = end - last > max(BEATS_MISSED * usual, SHORTEST)
    return Stop(line, last, line.count, usual, goes_on) if is_over else None


def _same(line: Line, other: Line) -> bool:
    return line.kind == other.kind and origin_of(line) == origin_of(other)


def _lines(view: View, step: str, tool: str) -> list[Line]:
    rows = (
        row
        for item in view.transcript.of_step(step)
        if item.tool == tool and not (step == "pulse" and text_at(item.input, "text"))
        for row in item.answer.rows
    )
    found = (line_of(row) for row in rows if object_at(row, "values") or text_at(row, "time"))
    return [line for line in found if line]


def moment(time: datetime) -> str:
    """A time as prose has it, to the second."""
    return iso(time.replace(microsecond=0))


def seconds(length: timedelta) -> str:
    """A length of time in words that fit its size."""
    count = length.total_seconds()
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if count >= 2 * size:
            return f"{count / size:.0f} {name}"
    return "second" if round(count) <= 1 else f"{count:.0f} seconds"

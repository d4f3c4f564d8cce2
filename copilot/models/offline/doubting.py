"""An attempt to disprove the leading hypothesis, and to rule its usual rivals out."""

from collections.abc import Iterator

from copilot.models.offline.causes import CauseClass, Strength, classes, sign_of
from copilot.models.offline.lines import Line
from copilot.models.offline.phrases import phrase_of
from copilot.models.offline.view import View
from copilot.models.offline.wants import Want
from copilot.values import JsonObject

RIVALS = ("disk", "memory", "network", "permission", "certificate", "name_resolution", "refused")
"""Those that people ask about first, in this order."""
RIVALS_ASKED = 4


def doubt(view: View) -> Iterator[Want]:
    """Searches that ask: is it in a healthy time as well, does a line speak of another cause."""
    for extent in view.extents[:1]:
        logbook: JsonObject = {"logbook": extent.logbook}
        for cause in view.causes[:2]:
            yield from _in_healthy_time(view, cause.first, logbook)
        for rival in rivals(view):
            yield Want("search_logbook", logbook | {"text": rival.ask, "limit": 5})


def rivals(view: View) -> tuple[CauseClass, ...]:
    """The common causes that nothing speaks of so far; those that the alert suspects come first."""
    spoken = {item.sign.name for item in view.candidates if item.sign.strength is Strength.DIRECT}
    suspected = sign_of(f"{view.brief.title} {view.brief.text}"[:1500]).name
    order = sorted(RIVALS, key=lambda name: name != suspected)
    by_name = {item.name: item for item in classes() if item.ask}
    return tuple(by_name[name] for name in order if name not in spoken)[:RIVALS_ASKED]


def _in_healthy_time(view: View, line: Line, logbook: JsonObject) -> Iterator[Want]:
    phrase = phrase_of(line)
    focus = view.focus_of("")
    if not phrase or not focus.compares:
        return
    window = {"since": focus.baseline_since, "until": focus.baseline_until}
    given: JsonObject = {key: value for key, value in window.items() if value}
    yield Want("search_logbook", logbook | given | {"text": phrase, "limit": 5})

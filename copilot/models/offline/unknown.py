"""The report where no line names a cause: it says so, and what would settle it."""

from copilot.models.offline.outlook import TOLD, not_checked, pointers, ruled_out
from copilot.models.offline.pulse import Stop, moment, seconds
from copilot.models.offline.story import Story
from copilot.models.offline.telling import chain, facts
from copilot.models.offline.view import View
from copilot.models.offline.wording import claim, evidence, listed, said, times, when, where
from copilot.values import Json, JsonObject, text_at


def not_here(view: View) -> JsonObject:
    """What the alert is about is in none of the logs: said with the searches that show it."""
    texts = (text_at(item.input, "text").strip('"*') for item in view.missing_subject)
    missing = list(dict.fromkeys(texts))
    ruled_out: list[Json] = [
        {
            "claim": f"{text_at(item.input, 'text')} occurs in these logs",
            "why": "a complete search over all of it found nothing",
            "evidence": [{"reference": item.answer.handle, "quote": ""}],
        }
        for item in view.missing_subject[:TOLD]
    ]
    return {
        "verdict": "inconclusive",
        "summary": f"Not in these logs: no line names {', '.join(missing)}. Nothing can be said "
        "about its cause from what was imported.",
        "ruled_out": ruled_out,
        "not_checked": listed(["Logs that were not imported.", *not_checked(view, None, "")]),
        "next_steps": [
            "Import the logs of the component that handles it, for the time of the alert.",
            "Check the spelling of the name in the alert.",
        ],
    }


def fell_silent(view: View, story: Story, stop: Stop) -> JsonObject:
    """No line names a cause, but progress stopped: possible, with what would settle it."""
    says, at = stop.sign.cause.says if stop.sign.cause else "", moment(stop.last)
    place, until = where(stop.line), when(stop.goes_on)
    told = (
        f"{says} ({place}, after {at}). Until then such a line came about every "
        f"{seconds(stop.usual)}, {times(stop.count)} in all; others go on until {until}. "
        f"The line says: {said(stop.line)}"
    )
    pieces = [evidence(stop.line), evidence(stop.goes_on)]
    return {
        "verdict": "inconclusive",
        "summary": f"Possibly: progress of {place} stopped after {at}; no error line says why. "
        f"Others go on until {until}.",
        "cause": claim(told, "possible", pieces),
        "chain": listed(chain(story)),
        "evidence": listed(facts(view, story)),
        "ruled_out": listed(ruled_out(view, story)),
        "not_checked": listed(not_checked(view, story, f"Why it stopped after {at}.")),
        "next_steps": listed((_settled(stop, place, at), *pointers(view))),
    }


def _settled(stop: Stop, place: str, at: str) -> str:
    return (
        f"Look at what {place} did after {at}: whether it still runs, its threads and open calls, "
        f"and the log of the side that it was waiting for. Begin with {stop.line.source}, "
        f"line {stop.line.line}."
    )


def nothing_found(view: View, story: Story) -> JsonObject:
    """No line names a cause: what was seen all the same, and what would settle it."""
    total = sum(item.total for item in view.extents)
    seen = f"{total} log entries were looked at; none of them names a cause."
    if story.chain:
        seen += f" The most striking line: {said(story.chain[0].first)}"
    steps = ["Import the logs of the side that the alert does not name, for the same time."]
    steps += [item.cause.settle for item in story.chain if item.sign.cause]
    return {
        "verdict": "inconclusive",
        "summary": seen if total else "There is nothing to look at: no log entries are imported.",
        "chain": listed(chain(story)),
        "evidence": listed(facts(view, story)),
        "ruled_out": listed(ruled_out(view, story)),
        "not_checked": listed(not_checked(view, story, "")),
        "next_steps": listed(dict.fromkeys((*steps[:5], *pointers(view)))),
    }

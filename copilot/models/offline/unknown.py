"""The report where no line names a cause: it says so, and what would settle it."""

from copilot.models.offline.outlook import TOLD, not_checked, pointers, ruled_out
from copilot.models.offline.story import Story
from copilot.models.offline.telling import chain, facts
from copilot.models.offline.view import View
from copilot.models.offline.wording import listed, said
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

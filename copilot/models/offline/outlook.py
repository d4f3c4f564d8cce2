"""What else a reader must know: what was ruled out, what was not checked, what to do next."""

from collections.abc import Iterator

from copilot.models.offline.doubting import rivals
from copilot.models.offline.lines import Line
from copilot.models.offline.story import Story
from copilot.models.offline.view import View
from copilot.models.offline.wording import evidence, said
from copilot.values import JsonObject, text_at

TOLD = 12
SEARCHES_FAILED = 3


def ruled_out(view: View, story: Story) -> Iterator[JsonObject]:
    """What a healthy time has as well, and the usual causes that no line speaks of."""
    for item in story.noise:
        line = item.first
        why = f"a healthy time has it too: {line.count} here, {line.baseline} there"
        yield {"claim": f"{said(line)}", "why": why, "evidence": [evidence(line)]}
    by_ask = {rival.ask: rival for rival in rivals(view)}
    for exchange in view.transcript.of_step("doubt"):
        rival = by_ask.get(text_at(exchange.input, "text"))
        if rival and exchange.answer.proves_absence:
            yield {
                "claim": rival.says,
                "why": "a complete search over the logs found no line that says so",
                "evidence": [{"reference": exchange.answer.handle, "quote": ""}],
            }


def not_checked(view: View, story: Story | None, open: str) -> list[str]:
    """What nobody looked at, and *open*, which keeps the cause from being sure."""
    found = [open] if open else []
    focus = view.focus_of("")
    if focus.note:
        found.append(f"The time of the alert: {focus.note}.")
    blind = [line for line in view.dossier.lines if line.sign.role == "blind"]
    found += [f"Not collected: {said(line)}" for line in blind[:2]]
    failed = (
        item.answer.text
        for item in view.transcript.exchanges
        if not item.answer.ok and item.answer.text and item.tool.startswith("search")
    )
    found += [f"A search failed: {text[:200]}" for text in list(failed)[:SEARCHES_FAILED]]
    if story and story.strangers:
        found.append(_of_others(story))
    if not view.brief.trackers:
        found.append("Tickets: no tracker is configured.")
    return found[:TOLD]


def _of_others(story: Story) -> str:
    """Trouble that is none of this alert's, in one line."""
    first, count = story.strangers[0].first, len(story.strangers)
    kinds = "one kind" if count == 1 else f"{count} kinds"
    return (
        f"Other errors in this logbook that share nothing with this alert: {kinds}, "
        f"such as in {first.source}, line {first.line}."
    )


def next_steps(view: View, story: Story) -> list[str]:
    """What would settle or fix it, where to begin, and where it is written about."""
    steps = [f"{item.cause.settle} Begin with {_place(item.first)}." for item in story.causes]
    return list(dict.fromkeys((*steps, *pointers(view))))[:TOLD]


def _place(line: Line) -> str:
    """Where to open the logs."""
    return f"the cited record of {line.source}" if line.path else f"{line.source}, line {line.line}"


def pointers(view: View) -> Iterator[str]:
    """Runbooks, past incidents and tickets that may be about the same."""
    yield from (f"Runbook: {path}" for path in view.brief.runbooks)
    found = [line for line in view.dossier.documents if line.source not in view.brief.runbooks]
    for line in found[:2]:
        yield f"Document: {line.source}, {line.fields.get('title', '')}".rstrip(", ")
    for line in view.dossier.past[:2]:
        yield f"Compare with {line.source}: {line.fields.get('title', '')}".rstrip(": ")
    for line in view.dossier.tickets:
        is_own = bool(view.brief.ticket) and view.brief.ticket in line.source
        if view.related(line) and not is_own:
            yield f"See {line.source}: {said(line)}"

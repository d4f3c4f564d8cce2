"""The report as data, the arguments of submit_report: the story, and what was searched."""

from collections.abc import Iterator

from copilot.models.offline.causes import Strength
from copilot.models.offline.doubting import rivals
from copilot.models.offline.entities import is_identifier
from copilot.models.offline.lines import Line
from copilot.models.offline.ranking import QUIET, Candidate, names, names_sibling, order
from copilot.models.offline.story import Story, tell
from copilot.models.offline.view import View
from copilot.models.offline.wording import (
    all_evidence,
    cause_claim,
    claim,
    evidence,
    is_direct,
    said,
    story_claim,
    times,
    when,
    where,
)
from copilot.values import Json, JsonObject, text_at

UNSURE = frozenset({"lost_worker", "overload", "timeout", "limit", "waiting", "crash"})
"""Classes whose line shows that something happened, and not that it made the alert."""
CLAIMS = 12


def draft(view: View) -> JsonObject:
    """The report for what is known now."""
    if view.missing_subject:
        return _not_here(view)
    story = tell(view)
    if not story.causes:
        return _nothing_found(view, story)
    cause = _cause(view, story)
    status = str(cause["status"])
    leading = story.causes[0]
    verdict = {"confirmed": "action_needed", "likely": "action_suggested"}.get(
        status, "inconclusive"
    )
    return {
        "verdict": verdict,
        "summary": _summary(view, story, status),
        "cause": cause,
        "chain": _listed(_chain(story)),
        "evidence": _listed(_facts(view, story)),
        "ruled_out": _listed(_ruled_out(view, story)),
        "not_checked": list[Json](_not_checked(view, leading, status)),
        "next_steps": list[Json](_next_steps(view, story)),
    }


def _cause(view: View, story: Story) -> JsonObject:
    leading = story.causes[0]
    pieces = [piece for item in story.causes for piece in all_evidence(item.first)]
    if len(story.causes) > 1:
        parts = [
            f"({number}) {item.cause.says.lower()}, {times(item.count)}: {said(item.first)}"
            for number, item in enumerate(story.causes, start=1)
        ]
        text = f"{len(parts)} independent causes: " + "; ".join(parts)
        return claim(text, "confirmed", pieces)
    fact = next((item for item in view.facts if item.explains and item.line == leading.first), None)
    if fact:
        found: list[JsonObject] = [
            {"reference": ref, "quote": quote} for ref, quote in fact.evidence
        ]
        same = [item for item in view.facts if item.explains and item is not fact]
        found += [
            {"reference": ref, "quote": quote} for item in same[:2] for ref, quote in item.evidence
        ]
        return claim(f"{leading.cause.says}. {fact.claim}", "likely", found)
    pieces += [evidence(line) for line in story.support]
    return claim(cause_claim(leading), _status(view, leading, story), pieces)


def _status(view: View, leading: Candidate, story: Story) -> str:
    """confirmed, likely or possible, by how exact the line is and how near to the alert."""
    first = leading.first
    if _strays(view, leading) or (first.level in QUIET and leading.sign.role == "cause"):
        return "possible"
    if leading.sign.strength is not Strength.DIRECT:
        return "likely" if first.severity > 1 else "possible"
    rival = next((item for item in view.causes[1:] if item.sign.name != leading.sign.name), None)
    contested = rival is not None and rival.points > leading.points - 1.0 and not leading.is_related
    if leading.sign.name in UNSURE or contested:
        return "likely"
    return "confirmed" if is_direct(first) or story.support else "likely"


def _strays(view: View, leading: Candidate) -> bool:
    """True when the leading line may be about something else than the alert is.

    What the alert names is in the logs, but not where that line stands, and the line is not new
    either; or the file speaks of others of its kind, no trouble names it, and no time tells that
    the two belong together.
    """
    present = [item for item in view.brief.entities if view.present(item)]
    first = leading.first
    is_new = first.compared and not first.baseline
    if present and not leading.is_near and not is_new:
        return True
    exact = [item.text for item in present if item.weight > 1 and is_identifier(item.text)]
    if not exact or view.brief.times:
        return False
    named = any(names(item.first, text) for item in view.candidates for text in exact)
    here = (line for line in view.dossier.lines if line.source == first.source)
    return not named and any(names_sibling(line, view.brief) for line in here)


def _chain(story: Story) -> Iterator[JsonObject]:
    """What was before and what followed, in the order of time."""
    told = [
        (order(line), claim(_before_claim(line), "likely", [evidence(line)]))
        for line in story.before
    ]
    told += [
        (
            order(line),
            claim(f"{when(line)} it ended so: {said(line)}".strip(), "likely", [evidence(line)]),
        )
        for line in story.ends
    ]
    for item in story.chain:
        status = "confirmed" if is_direct(item.first) else "likely"
        told.append((order(item.first), claim(story_claim(item), status, all_evidence(item.first))))
    yield from (step for _, step in sorted(told, key=lambda pair: pair[0]))


def _before_claim(line: Line) -> str:
    moment = f"{when(line)}, " if when(line) else ""
    word = "until then it went well" if line.sign.role == "healthy" else "just before"
    return f"{moment}{where(line)}, {word}: {said(line)}"


def _facts(view: View, story: Story) -> Iterator[JsonObject]:
    """Structured facts, settings, and that the healthy time is without the error."""
    shown = 0
    for fact in view.facts:
        if not (fact.explains and story.causes and fact.line == story.causes[0].first):
            pieces: list[JsonObject] = [
                {"reference": ref, "quote": quote} for ref, quote in fact.evidence
            ]
            yield claim(fact.claim, "likely", pieces)
            shown += 1
        if shown > 5:
            break
    for line in story.settings:
        yield claim(f"The setting is {said(line)} ({line.source}).", "likely", [evidence(line)])
    for item in view.transcript.of_step("doubt"):
        bounded = item.input.get("since") or item.input.get("until")
        if bounded and item.answer.proves_absence:
            text = f"In the healthy time there is no line with {text_at(item.input, 'text')}."
            yield claim(text, "likely", [{"reference": item.answer.handle, "quote": ""}])


def _ruled_out(view: View, story: Story) -> Iterator[JsonObject]:
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


def _not_checked(view: View, leading: Candidate | None, status: str) -> list[str]:
    found = []
    focus = view.focus_of("")
    if focus.note:
        found.append(f"The time of the alert: {focus.note}.")
    blind = [line for line in view.dossier.lines if line.sign.role == "blind"]
    found += [f"Not collected: {said(line)}" for line in blind[:2]]
    for item in view.transcript.exchanges:
        if not item.answer.ok and item.answer.text and item.tool.startswith("search"):
            found.append(f"A search failed: {item.answer.text[:200]}")
    if leading and status != "confirmed":
        found.append(f"What would settle it: {leading.cause.settle}")
    if not view.brief.trackers:
        found.append("Tickets: no tracker is configured.")
    return found[:CLAIMS]


def _next_steps(view: View, story: Story) -> list[str]:
    """What would settle or fix it, and where it is written about."""
    steps = [item.cause.settle for item in story.causes]
    return list(dict.fromkeys((*steps, *_pointers(view))))[:CLAIMS]


def _pointers(view: View) -> Iterator[str]:
    """Runbooks, past incidents and tickets that may be about the same."""
    for line in view.dossier.documents[:2]:
        yield f"Runbook: {line.source}, {line.fields.get('title', '')}".rstrip(", ")
    for line in view.dossier.past[:2]:
        yield f"Compare with {line.source}: {line.fields.get('title', '')}".rstrip(": ")
    for line in view.dossier.tickets:
        is_own = bool(view.brief.ticket) and view.brief.ticket in line.source
        if view.related(line) and not is_own:
            yield f"See {line.source}: {said(line)}"


def _summary(view: View, story: Story, status: str) -> str:
    leading = story.causes[0]
    if len(story.causes) > 1:
        parts = ", ".join(f"{item.cause.says.lower()} ({item.count})" for item in story.causes)
        return f"{len(story.causes)} independent causes, not one: {parts}."[:1400]
    line = leading.first
    since = f" since {when(line)}" if when(line) else ""
    sure = {"confirmed": "", "likely": "Most likely: ", "possible": "Possibly: "}[status]
    fact = next((item for item in view.facts if item.explains and item.line == line), None)
    told = fact.claim if fact else f"{where(line)}{since}: {said(line)}"
    text = f"{sure}{leading.cause.says}. {told}"
    ends = [item for item in story.chain if item.sign.role == "consequence"]
    if ends:
        text = f"{text.rstrip('.')}. What followed: {said(ends[-1].first)}"
    return text[:1400]


def _not_here(view: View) -> JsonObject:
    """What the alert is about is in none of the logs: said with the searches that show it."""
    texts = (text_at(item.input, "text").strip('"*') for item in view.missing_subject)
    missing = list(dict.fromkeys(texts))
    ruled_out: list[Json] = [
        {
            "claim": f"{text_at(item.input, 'text')} occurs in these logs",
            "why": "a complete search over all of it found nothing",
            "evidence": [{"reference": item.answer.handle, "quote": ""}],
        }
        for item in view.missing_subject[:CLAIMS]
    ]
    return {
        "verdict": "inconclusive",
        "summary": f"Not in these logs: no line names {', '.join(missing)}. Nothing can be said "
        "about its cause from what was imported.",
        "ruled_out": ruled_out,
        "not_checked": list[Json](["Logs that were not imported.", *_not_checked(view, None, "")]),
        "next_steps": [
            "Import the logs of the component that handles it, for the time of the alert.",
            "Check the spelling of the name in the alert.",
        ],
    }


def _nothing_found(view: View, story: Story) -> JsonObject:
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
        "chain": _listed(_chain(story)),
        "evidence": _listed(_facts(view, story)),
        "ruled_out": _listed(_ruled_out(view, story)),
        "not_checked": list[Json](_not_checked(view, None, "")),
        "next_steps": list[Json](dict.fromkeys((*steps[:5], *_pointers(view)))),
    }


def _listed(items: Iterator[JsonObject]) -> list[Json]:
    return list[Json](items)[:CLAIMS]

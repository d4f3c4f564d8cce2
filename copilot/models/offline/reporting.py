"""The report as data, the arguments of submit_report: the cause, the story, and what is open."""

from collections.abc import Iterable

from copilot.models.offline.outlook import next_steps, not_checked, ruled_out
from copilot.models.offline.pulse import stopped
from copilot.models.offline.record_facts import Fact
from copilot.models.offline.standing import Standing, standing
from copilot.models.offline.story import Story, tell
from copilot.models.offline.telling import chain, fact_evidence, facts
from copilot.models.offline.unknown import fell_silent, not_here, nothing_found
from copilot.models.offline.view import View
from copilot.models.offline.wording import (
    all_evidence,
    cause_claim,
    claim,
    evidence,
    listed,
    said,
    times,
    when,
    where,
)
from copilot.values import JsonObject

SUMMARY_WORDS = 120
"""Characters of a line that the summary repeats."""
SURE = {"confirmed": "", "likely": "Most likely: ", "possible": "Possibly: "}
VERDICTS = {"confirmed": "action_needed", "likely": "action_suggested"}


def draft(view: View) -> JsonObject:
    """The report for what is known now."""
    if view.missing_subject:
        return not_here(view)
    story = tell(view)
    if not story.causes:
        stop = stopped(view)
        return fell_silent(view, story, stop) if stop else nothing_found(view, story)
    fact = next((item for item in story.facts if _is_leading(item, story)), None)
    sure = _standing(view, story, fact)
    return {
        "verdict": VERDICTS.get(sure.status, "inconclusive"),
        "summary": _summary(story, sure.status, fact),
        "cause": _cause(story, sure.status, fact),
        "chain": listed(chain(story)),
        "evidence": listed(facts(view, story)),
        "ruled_out": listed(ruled_out(view, story)),
        "not_checked": listed(not_checked(view, story, sure.open)),
        "next_steps": listed(next_steps(view, story)),
    }


def _is_leading(fact: Fact, story: Story) -> bool:
    return fact.explains and fact.line == story.causes[0].first


def _standing(view: View, story: Story, fact: Fact | None) -> Standing:
    if len(story.causes) > 1:
        return Standing("confirmed")
    if fact:
        return Standing("likely", "The records show this; no line says that it made the alert.")
    return standing(view, story.causes[0], story)


def _cause(story: Story, status: str, fact: Fact | None) -> JsonObject:
    leading = story.causes[0]
    pieces = [piece for item in story.causes for piece in all_evidence(item.first)]
    if len(story.causes) > 1:
        parts = [
            f"({number}) {item.cause.says.lower()}, {times(item.count)}: {said(item.first)}"
            for number, item in enumerate(story.causes, start=1)
        ]
        return claim(f"{len(parts)} independent causes: " + "; ".join(parts), status, pieces)
    if fact:
        same = [item for item in story.facts if item.explains and item is not fact]
        return claim(f"{leading.cause.says}. {fact.claim}", status, _evidence_of([fact, *same[:2]]))
    pieces += [evidence(line) for line in story.support]
    return claim(cause_claim(leading), status, pieces)


def _evidence_of(found: Iterable[Fact]) -> list[JsonObject]:
    return [piece for fact in found for piece in fact_evidence(fact)]


def _summary(story: Story, status: str, fact: Fact | None) -> str:
    """At most two short sentences: what it is and where, and the line's own words."""
    leading = story.causes[0]
    if len(story.causes) > 1:
        parts = ", ".join(f"{item.cause.says.lower()} ({item.count})" for item in story.causes)
        return f"{len(story.causes)} independent causes, not one: {parts}."[:1400]
    line = leading.first
    if fact:
        return f"{SURE[status]}{leading.cause.says}. {fact.claim}"[:1400]
    since = f" since {when(line)}" if when(line) else ""
    words = said(line, SUMMARY_WORDS).rstrip(".")
    ended = words if words.endswith("…") else f"{words}."
    return f"{SURE[status]}{leading.cause.says} ({where(line)}{since}). It says: {ended}"

"""What is told beside the cause: what was before, what followed, and the other facts."""

from collections.abc import Iterator

from copilot.models.offline.lines import Line
from copilot.models.offline.phrases import phrase_of
from copilot.models.offline.ranking import Candidate, order
from copilot.models.offline.record_facts import Fact
from copilot.models.offline.story import Story
from copilot.models.offline.view import View
from copilot.models.offline.wording import (
    all_evidence,
    claim,
    evidence,
    is_direct,
    said,
    story_claim,
    when,
    where,
)
from copilot.values import JsonObject, text_at

FACTS_TOLD = 6


def chain(story: Story) -> Iterator[JsonObject]:
    """What was before and what followed, in the order of time."""
    told = [
        (order(line), claim(_before_claim(line), "likely", [evidence(line)]))
        for line in story.before
    ]
    told += [
        (order(line), claim(f"{when(line)} it ended so: {said(line)}".strip(), "likely",
                            [evidence(line)]))
        for line in story.ends
    ]  # fmt: skip
    for item in story.chain:
        status = "confirmed" if is_direct(item.first) else "likely"
        text = f"{_earlier(item, story)}{story_claim(item)}"
        told.append((order(item.first), claim(text, status, all_evidence(item.first))))
    yield from (step for _, step in sorted(told, key=lambda pair: pair[0]))


def _earlier(item: Candidate, story: Story) -> str:
    """What keeps a reader from taking an earlier trouble for a consequence."""
    first = story.causes[0].first if story.causes else None
    is_earlier = first and first.when and item.first.when and item.first.when < first.when
    return "Before the cause, " if is_earlier else ""


def _before_claim(line: Line) -> str:
    moment = f"{when(line)}, " if when(line) else ""
    word = "until then it went well" if line.sign.role == "healthy" else "just before"
    return f"{moment}{where(line)}, {word}: {said(line)}"


def facts(view: View, story: Story) -> Iterator[JsonObject]:
    """Structured facts, settings, and that the healthy time is without the error."""
    leading = story.causes[0].first if story.causes else None
    others = [fact for fact in story.facts if not (fact.explains and fact.line == leading)]
    for fact in others[:FACTS_TOLD]:
        yield claim(fact.claim, "likely", fact_evidence(fact))
    for line in story.settings:
        yield claim(f"The setting is {said(line)} ({line.source}).", "likely", [evidence(line)])
    phrases = {phrase_of(item.first) for item in story.causes}
    for item in view.transcript.of_step("doubt"):
        bounded = item.input.get("since") or item.input.get("until")
        phrase = text_at(item.input, "text")
        if phrase in phrases and bounded and item.answer.proves_absence:
            text = f"In the healthy time there is no line with {phrase}."
            yield claim(text, "likely", [{"reference": item.answer.handle, "quote": ""}])


def fact_evidence(fact: Fact) -> list[JsonObject]:
    """The lines of a fact, as evidence."""
    return [{"reference": reference, "quote": quote} for reference, quote in fact.evidence]

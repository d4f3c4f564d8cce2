"""What a sub-investigation hands back: checked, capped, with what it cost. Pure but for scratch.

The findings are another model's prose and never evidence themselves: they have no handle. Their
references are looked up, since a summary that invents one costs its reader more than it saves.
"""

import re
from collections.abc import Iterable
from decimal import Decimal

from copilot.artifacts import find_artifacts
from copilot.errors import ScratchError
from copilot.journal import Event, Journal
from copilot.ledger import TOKEN_KEYS
from copilot.scratch.store import Scratch
from copilot.steps import Work
from copilot.tools.base import Outcome
from copilot.values import REFERENCE, Json, JsonObject, object_at, parse_reference, text_at

WORDS = 400
LINE_CHARACTERS = 600
HEADING = re.compile(r"^\W*(FINDINGS|UNCERTAIN)\b\W*(.*)$", re.IGNORECASE)
CHECKED = 60
"""References that are looked up."""


def outcome_of(work: Work, parent: Journal, failure: str = "") -> Outcome:
    """The task's answer as the result of the parent's call. *failure* is why it broke off."""
    text = text_at(work.ledger.report, "text")
    findings, uncertain = sections(text)
    uncertain += broken_references("\n".join(findings), work.case.scratch)
    why = failure or work.ledger.limit
    if why:
        uncertain.append(f"stopped early: {why}")
    facts: JsonObject = {
        "findings": [*findings],
        "uncertain": [*uncertain],
        "turns": work.ledger.spent.turns,
    }
    if not text:
        facts["results"] = [f"{handle}: {call}" for handle, call in work.ledger.searches.items()]
    again = "; the same task goes on where it stopped" if failure else ""
    return Outcome(
        ok=bool(text),
        facts=facts,
        why_incomplete=f"stopped early: {why}" if why else "",
        hint="" if text else f"the task came to no answer: {why}{again}",
        stored=False,
        record=_record(work, parent, findings),
    )


def sections(text: str) -> tuple[list[str], list[str]]:
    """The lines under FINDINGS and under UNCERTAIN, in at most 400 words together."""
    parts: dict[str, list[str]] = {"FINDINGS": [], "UNCERTAIN": []}
    current = ""
    left, is_cut = WORDS, False
    for line in text.splitlines():
        heading = HEADING.match(line)
        current = heading[1].upper() if heading else current
        said = (heading[2] if heading else line).strip().removeprefix("- ").strip()
        words = said.split()
        if not words:
            continue
        is_cut |= len(words) > left or len(said) > LINE_CHARACTERS
        if left:
            kept = said if len(words) <= left else " ".join(words[:left])
            parts[current or "FINDINGS"].append(kept[:LINE_CHARACTERS])
        left = max(0, left - len(words))
    if text and not current:
        parts["UNCERTAIN"].append("the answer did not have the form that was asked for")
    if is_cut:
        parts["UNCERTAIN"].append(f"the answer was cut at {WORDS} words")
    return parts["FINDINGS"], parts["UNCERTAIN"]


def broken_references(text: str, scratch: Scratch) -> list[str]:
    """What is wrong with the references in *text*, one line each."""
    found = dict.fromkeys(match[0] for match in REFERENCE.finditer(text))
    return [
        f"{name} does not exist" for name in list(found)[:CHECKED] if not _exists(name, scratch)
    ]


def _exists(name: str, scratch: Scratch) -> bool:
    reference = parse_reference(name)
    if reference is None:
        return False
    try:
        if reference.line:
            scratch.row(reference.handle, reference.line)
        else:
            scratch.stored(reference.handle)
    except ScratchError:
        return False
    return True


def _record(work: Work, parent: Journal, findings: Iterable[str]) -> JsonObject:
    """What the parent's journal keeps of it: cost, results, identifiers with their lines."""
    name = work.journal.path.name
    counts, usd = _paid(work.journal.events)
    before, usd_before = _paid(
        event for event in parent.events if text_at(event.data, "journal") == name
    )
    usage: JsonObject = {key: counts[key] - before[key] for key in TOKEN_KEYS}
    price = None if usd is None or usd_before is None else str(usd - usd_before)
    named = {item.value for item in find_artifacts("\n".join(findings))}
    artifacts: list[Json] = [
        [item.kind, item.value, item.reference]
        for item in work.ledger.sightings.all()
        if item.value in named and ":" in item.reference
    ]
    answers: list[Json] = [
        [answer.handle, answer.tool, answer.complete, answer.total, work.ledger.searches[handle]]
        for handle, answer in work.ledger.answers.items()
    ]
    paid: JsonObject = {}
    if any(usage.values()):
        paid = {"model": work.model.name, "usage": usage, "usd": price}
    return {"journal": name, **paid, "answers": answers, "artifacts": artifacts}


def _paid(events: Iterable[Event]) -> tuple[dict[str, int], Decimal | None]:
    """The tokens by kind and the dollars of all *events* that say what they cost."""
    counts = dict.fromkeys(TOKEN_KEYS, 0)
    usd: Decimal | None = Decimal(0)
    for event in events:
        usage = object_at(event.data, "usage")
        if not usage:
            continue
        for key in TOKEN_KEYS:
            counts[key] += int(text_at(usage, key) or 0)
        price = text_at(event.data, "usd")
        usd = usd + Decimal(price) if price and usd is not None else None
    return counts, usd

"""What the state of an incident becomes by what happened: pure, and the same when done twice.

Facts come from code: artifacts, searches done, counts and costs are read from the ledger. The
model's part is findings, ruled-out causes, questions and the next step, each through a tool.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from copilot.journal import Event
from copilot.ledger import QUIET, Ledger
from copilot.notes.sections import (
    Artifact,
    Citation,
    Done,
    Finding,
    Moment,
    Question,
    RuledOut,
    Status,
)
from copilot.notes.state import State
from copilot.report.values import Report
from copilot.values import JsonObject, compact, list_at, text_at
from copilot.window import parse_iso

T = TypeVar("T")

ARTIFACTS_SHOWN = 60


def with_facts(state: State, ledger: Ledger, events: Sequence[Event], model: str) -> State:
    """The state with what code knows: artifacts, searches done, tokens and cost."""
    spent = ledger.spent
    status = "investigating" if state.front.status == "open" else state.front.status
    front = replace(
        state.front,
        status=status,
        model=model,
        turns=spent.turns,
        tokens=spent.tokens,
        cost_usd=float(spent.usd) if spent.usd is not None else 0.0,
        updated=events[-1].time,
    )
    done = [_done(event) for event in events if event.kind == "result"]
    # Those that the page folded away for their number are not added again.
    searches = [item for item in done if item is not None][state.folded.get("already_done", 0) :]
    return replace(
        state,
        front=front,
        artifacts=_merged_artifacts(state, ledger),
        already_done=_added(state.already_done, searches, key=lambda item: item.search),
    )


def with_effects(state: State, effects: Iterable[JsonObject]) -> State:
    """The state after what the model recorded, in its order. What it holds already is kept."""
    for effect in effects:
        match effect:
            case {"finding": dict(finding)}:
                state = _with_finding(state, finding)
            case {"note": dict(note)}:
                state = _with_note(state, text_at(note, "section"), text_at(note, "text"), note)
            case _:
                pass
    return state


def with_report(state: State, report: Report) -> State:
    """The state when the report is written: verdict, findings, timeline, next steps."""
    claims = report.claims()
    for claim in claims:
        state = _with_finding(state, claim.model_dump(mode="json"))
    ruled_out = [
        RuledOut(f"{item.claim} ({item.why})", _citations(item.model_dump(mode="json")))
        for item in report.ruled_out
    ]
    outcome = report.cause.status if report.cause else report.verdict
    verdict = report.cause.claim if report.cause else report.summary
    questions = [Question(text) for text in report.not_checked]
    return replace(
        state,
        front=replace(state.front, status="reported", outcome=outcome, verdict=verdict),
        now=f"Reported: {report.summary}",
        ruled_out=_added(state.ruled_out, ruled_out, key=lambda item: item.claim),
        open_questions=_added(state.open_questions, questions, key=lambda item: item.text),
        next_step="\n".join(report.next_steps) or state.next_step,
    )


def _with_finding(state: State, finding: JsonObject) -> State:
    """Add a finding; the same claim again replaces the older status and lines."""
    new = Finding(text_at(finding, "claim"), _status(finding), _citations(finding))
    others = tuple(item for item in state.findings if item.claim != new.claim)
    same = tuple(item for item in state.findings if item.claim == new.claim)
    findings = state.findings if same and same[0] == new else (*others, new)
    time = text_at(finding, "time")
    if not time:
        return replace(state, findings=findings)
    moment = Moment(parse_iso(time), new.claim, new.citations[0].reference)
    return replace(
        state,
        findings=findings,
        timeline=tuple(
            sorted(
                _added(state.timeline, [moment], key=lambda item: (item.time, item.text)),
                key=lambda item: item.time,
            )
        ),
    )


def _with_note(state: State, section: str, text: str, note: JsonObject) -> State:
    match section:
        case "now":
            return replace(state, now=text)
        case "next_step":
            return replace(state, next_step=text)
        case "ruled_out":
            new = RuledOut(text, _citations(note))
            return replace(
                state, ruled_out=_added(state.ruled_out, [new], key=lambda item: item.claim)
            )
        case _:
            questions = _added(state.open_questions, [Question(text)], key=lambda item: item.text)
            return replace(state, open_questions=questions)


def _done(event: Event) -> Done | None:
    """The line of a search that was run; None for the tools that only write or read notes."""
    data = event.data
    tool = text_at(data, "tool")
    if tool in QUIET or data.get("repeats"):
        return None
    asked = f"{tool} {compact(data.get('arguments'))}"
    if data.get("ok") is not True:
        return Done(asked, "", "failed")
    found = f"{text_at(data, 'total') or 0} found"
    return Done(
        asked, text_at(data, "handle"), found if data.get("complete") else f"{found}, not complete"
    )


def _merged_artifacts(state: State, ledger: Ledger) -> tuple[Artifact, ...]:
    """Those that matter most: named by the alert or cited first, then seen most often."""
    seen = ledger.sightings.all()
    ranked = sorted(seen, key=lambda item: (-item.weight, -item.count))[:ARTIFACTS_SHOWN]
    known = {(item.kind, item.value): item for item in state.artifacts}
    for item in ranked:
        new = Artifact(item.kind, item.value, item.reference, item.count)
        old = known.get((new.kind, new.value))
        known[new.kind, new.value] = replace(old, count=item.count, raw="") if old else new
    return tuple(known.values())


def _citations(holder: JsonObject) -> tuple[Citation, ...]:
    return tuple(
        Citation(text_at(item, "reference"), text_at(item, "quote"))
        for item in list_at(holder, "evidence")
    )


def _status(finding: JsonObject) -> Status:
    match text_at(finding, "status"):
        case "confirmed":
            return "confirmed"
        case "likely":
            return "likely"
        case _:
            return "possible"


def _added(old: tuple[T, ...], new: Iterable[T], *, key: Callable[[T], object]) -> tuple[T, ...]:
    """The old entries, then those of the new ones that are not among them by *key*."""
    merged = {key(item): item for item in (*new, *old)}
    order = dict.fromkeys(key(item) for item in (*old, *new))
    return tuple(merged[name] for name in order)

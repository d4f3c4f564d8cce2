"""The report as a page and as data. Every line of evidence names the file and line to open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from copilot.errors import CopilotError
from copilot.notes.markdown import prose
from copilot.report.citations import Citation, cite
from copilot.report.values import Claim, Evidence, Report
from copilot.safe_text import one_line
from copilot.scratch.store import Scratch
from copilot.values import JsonObject, parse_reference

SCHEMA = "copilot.report/1"
LONGEST = 1500
"""Characters of one text on the page."""
VERDICTS = {
    "action_needed": "ACTION NEEDED",
    "action_suggested": "ACTION SUGGESTED",
    "no_action": "NO ACTION",
    "inconclusive": "INCONCLUSIVE",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What the investigation used. `usd` is None when a price is not known."""

    model: str
    turns: int
    tokens: int
    usd: Decimal | None

    def __str__(self) -> str:
        usd = "n/a" if self.usd is None else f"${self.usd:.4f}"
        return f"{self.model}, {self.turns} turns, {self.tokens} tokens, {usd}"


@dataclass(frozen=True, slots=True)
class Page:
    """All that a report shows."""

    incident: str
    title: str
    report: Report
    unsupported: Sequence[str]
    author: str
    """`model`, or `code` when the report was built from the notes."""
    limit: str
    """Which limit ended the investigation; empty when none did."""
    cost: Cost
    notice: str = ""
    """What a reader must know before anything else, as that this is a triage only."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A search that found nothing, by the call that was made."""

    call: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Evidence that held when the report was written and cannot be opened any more."""

    why: str


def as_json(page: Page, scratch: Scratch) -> JsonObject:
    """The report as data; evidence is resolved to source, line and text."""
    report = page.report
    cause: JsonObject | None = _claim(report.cause, scratch) if report.cause else None
    return {
        "schema": SCHEMA,
        "incident": page.incident,
        "title": page.title,
        **({"notice": page.notice} if page.notice else {}),
        "verdict": report.verdict,
        "summary": report.summary,
        "cause": cause,
        "chain": [_claim(claim, scratch) for claim in report.chain],
        "evidence": [_claim(claim, scratch) for claim in report.evidence],
        "ruled_out": [
            {
                "claim": item.claim,
                "why": item.why,
                "evidence": [_evidence(piece, scratch) for piece in item.evidence],
            }
            for item in report.ruled_out
        ],
        "not_checked": list(report.not_checked),
        "next_steps": list(report.next_steps),
        "left_out": list(page.unsupported),
        "author": page.author,
        "limit": page.limit,
        "model": page.cost.model,
        "turns": page.cost.turns,
        "tokens": page.cost.tokens,
        "usd": None if page.cost.usd is None else str(page.cost.usd),
    }


def as_markdown(page: Page, scratch: Scratch) -> str:
    """The verdict card: what to do, why, on which lines, what was ruled out and not looked at."""
    report = page.report
    level = f" · cause {report.cause.status}" if report.cause else ""
    lines = [f"# {_text(page.title)}", "", f"**{VERDICTS[report.verdict]}**{level}", ""]
    lines += [f"> {_text(page.notice)}", ""] if page.notice else []
    lines += [_text(report.summary), ""]
    if report.cause:
        lines += ["## Cause", "", *_claim_lines(report.cause, scratch), ""]
    for title, claims in (
        ("What happened, in order", report.chain),
        ("Other facts", report.evidence),
    ):
        if claims:
            lines += [f"## {title}", ""]
            lines += [line for claim in claims for line in _claim_lines(claim, scratch)]
            lines.append("")
    if report.ruled_out:
        lines += ["## Ruled out", ""]
        for item in report.ruled_out:
            lines.append(f"- {_text(item.claim)}: {_text(item.why)}")
            lines += _evidence_lines(item.evidence, scratch)
        lines.append("")
    lines += _list("Not checked", report.not_checked)
    lines += _list("Next steps, none of them taken", report.next_steps)
    lines += _list("Left out for lack of support", page.unsupported)
    lines += ["---", "", _text(_origin(page))]
    return "\n".join(lines) + "\n"


def _origin(page: Page) -> str:
    written = "" if page.author == "model" else " Written by code from the notes."
    limit = f" Ended by a limit: {page.limit}." if page.limit else ""
    return f"{page.incident} · {page.cost}.{limit}{written}"


def _list(title: str, texts: Iterable[str]) -> list[str]:
    lines = [f"- {_text(text)}" for text in texts]
    return [f"## {title}", "", *lines, ""] if lines else []


def _claim_lines(claim: Claim, scratch: Scratch) -> list[str]:
    head = f"- {_text(claim.claim)} ({claim.status})"
    return [head, *_evidence_lines(claim.evidence, scratch)]


def _evidence_lines(evidence: Iterable[Evidence], scratch: Scratch) -> list[str]:
    lines = []
    for piece in evidence:
        found = _resolved(piece, scratch)
        reference = _text(piece.reference)
        match found:
            case Citation():
                lines += _citation_lines(found)
            case Absence():
                asked = f"{reference}: {_text(found.call)}, complete, found nothing"
                lines.append(f"  - {asked}")
            case Unresolved():
                lines.append(f"  - {reference} can no longer be shown ({_text(found.why)})")
    return lines


def _citation_lines(citation: Citation) -> list[str]:
    when = f"{citation.time} " if citation.time else ""
    return [
        f"  - {_text(citation.place())} [{citation.reference}] {when}",
        f"    `{_text(citation.text).replace('`', 'ˋ')}`",
    ]


def _claim(claim: Claim, scratch: Scratch) -> JsonObject:
    return {
        "claim": claim.claim,
        "status": claim.status,
        "evidence": [_evidence(piece, scratch) for piece in claim.evidence],
    }


def _evidence(piece: Evidence, scratch: Scratch) -> JsonObject:
    match _resolved(piece, scratch):
        case Absence(call):
            return {"reference": piece.reference, "absent": True, "searched": call}
        case Unresolved(why):
            return {"reference": piece.reference, "quote": piece.quote, "unresolved": why}
        case citation:
            return {
                "reference": piece.reference,
                "quote": piece.quote,
                "source": citation.source,
                "line": citation.line,
                **({"document": citation.document} if citation.document else {}),
                "record": citation.record,
                "time": citation.time,
                "text": citation.text,
            }


def _resolved(piece: Evidence, scratch: Scratch) -> Citation | Absence | Unresolved:
    """What the reference leads to now: rows may be swept or damaged after the gate saw them."""
    parsed = parse_reference(piece.reference)
    try:
        if parsed and not parsed.line and not piece.quote:
            return Absence(scratch.stored(parsed.handle).call)
        return cite(piece.reference, piece.quote, scratch)
    except CopilotError as error:
        return Unresolved(str(error))


def _text(text: str) -> str:
    """The text as one line that is never markup, whoever wrote it."""
    return prose(one_line(text, LONGEST))

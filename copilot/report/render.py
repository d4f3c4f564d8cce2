"""The report as a page and as data. Every line of evidence names the file and line to open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from copilot.notes.markdown import prose, span
from copilot.report.citations import Citation, CitationError, cite
from copilot.report.values import Claim, Evidence, Report
from copilot.safe_text import one_line
from copilot.scratch.store import Scratch
from copilot.values import JsonObject

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


def as_json(page: Page, scratch: Scratch) -> JsonObject:
    """The report as data; evidence is resolved to source, line and text."""
    report = page.report
    cause: JsonObject | None = _claim(report.cause, scratch) if report.cause else None
    return {
        "schema": SCHEMA,
        "incident": page.incident,
        "title": page.title,
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
        citation = _resolved(piece, scratch)
        if citation is None:
            lines.append(f"  - {_text(piece.reference)}: searched whole, nothing found")
        else:
            when = f"{citation.time} " if citation.time else ""
            lines.append(f"  - {_text(citation.place())} [{piece.reference}] {when}")
            lines.append(f"    {span(one_line(citation.text, LONGEST))}")
    return lines


def _claim(claim: Claim, scratch: Scratch) -> JsonObject:
    return {
        "claim": claim.claim,
        "status": claim.status,
        "evidence": [_evidence(piece, scratch) for piece in claim.evidence],
    }


def _evidence(piece: Evidence, scratch: Scratch) -> JsonObject:
    citation = _resolved(piece, scratch)
    if citation is None:
        return {"reference": piece.reference, "absent": True}
    return {
        "reference": piece.reference,
        "quote": piece.quote,
        "source": citation.source,
        "line": citation.line,
        "record": citation.record,
        "time": citation.time,
        "text": citation.text,
    }


def _resolved(piece: Evidence, scratch: Scratch) -> Citation | None:
    """The citation, or None for an absence. The gate has seen to it that nothing else fails."""
    try:
        return cite(piece.reference, piece.quote, scratch)
    except CitationError:
        return None


def _text(text: str) -> str:
    """The text as one line that is never markup, whoever wrote it."""
    return prose(one_line(text, LONGEST))

"""The gate: no claim leaves without lines that exist and say it.

Rules, in the words a refusal uses: every reference resolves and its quote is on the line; every
token in backticks is on a cited line; "confirmed" needs a direct error that names the cause or
two independent lines; absence needs a complete answer that found nothing; an identifier that no
source has shown is not evidence. The gate reads scratch and asks nobody.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from copilot.artifacts import find_artifacts
from copilot.report.citations import Citation, CitationError, cite
from copilot.report.values import Claim, Evidence, Report
from copilot.scratch.store import Scratch
from copilot.tools.answer import SEARCHES, Answer
from copilot.values import compact, parse_reference

TICKED = re.compile(r"`([^`\n]{2,200})`")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{3,}")
ERROR_WORDS = re.compile(
    r"\b(error|exception|fail(ed|ure|s)?|fatal|refused|denied|expired|timed? ?out|timeout|"
    r"cannot|could not|unable|not found|no such|unknown|undefined|invalid|exceeded|killed|"
    r"unexpected|unreachable|no route|missing|traceback|abort(ed)?|stuck|panic)",
    re.IGNORECASE,
)
EXACT_KINDS = frozenset({"ticket", "workflow", "job", "dataset", "hash", "path", "url"})


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the gate may rest on."""

    scratch: Scratch
    answers: Mapping[str, Answer]
    seen: Callable[[], frozenset[str]]
    given: str
    """The alert and the question: what nobody has to prove."""


def problems(report: Report, grounds: Grounds) -> list[str]:
    """What keeps *report* from leaving, one line a problem; empty when it may."""
    found: list[str] = []
    if report.verdict != "inconclusive" and not report.cause:
        found.append(
            f"verdict {report.verdict} needs a cause with evidence; "
            "without one the verdict is inconclusive"
        )
    for claim in report.claims():
        found += [f"{_name(claim.claim)}: {text}" for text in claim_problems(claim, grounds)]
    for item in report.ruled_out:
        found += [f"{_name(item.claim)}: {text}" for text in _cited(item.evidence, grounds)[1]]
    return found


def kept(report: Report, grounds: Grounds) -> tuple[Report, tuple[str, ...]]:
    """The report without what lacks support, and the claims that were left out, with why.

    A "confirmed" that the lines do not carry becomes "likely". Without its cause the verdict is
    inconclusive.
    """
    left_out: list[str] = []

    def keep(claim: Claim) -> Claim | None:
        wrong = claim_problems(claim, grounds)
        if wrong and claim.status == "confirmed":
            softer = claim.model_copy(update={"status": "likely"})
            wrong = claim_problems(softer, grounds)
            claim = softer
        if wrong:
            left_out.append(f"{claim.claim} ({'; '.join(wrong)})")
        return None if wrong else claim

    cause = keep(report.cause) if report.cause else None
    parts = {
        "cause": cause,
        "verdict": report.verdict if cause else "inconclusive",
        "chain": tuple(claim for item in report.chain if (claim := keep(item))),
        "evidence": tuple(claim for item in report.evidence if (claim := keep(item))),
        "ruled_out": tuple(
            item for item in report.ruled_out if not _cited(item.evidence, grounds)[1]
        ),
    }
    return report.model_copy(update=parts), tuple(left_out)


def claim_problems(claim: Claim, grounds: Grounds) -> list[str]:
    """What is wrong with one claim, one line a problem."""
    if not claim.evidence:
        return ["no evidence; cite the line that says it"]
    citations, found = _cited(claim.evidence, grounds)
    if found:
        return found
    texts = _texts(citations)
    for token in TICKED.findall(claim.claim):
        if citations and token not in texts and token not in grounds.given:
            found.append(f"`{token}` is on none of its cited lines")
    found += _made_up(claim.claim, texts, grounds)
    if claim.status == "confirmed" and not is_confirmed(claim.claim, citations):
        found.append(
            "confirmed needs a direct error line that names the cause, or two independent lines; "
            "cite one more, or say likely"
        )
    return found


def is_confirmed(claim: str, citations: Sequence[Citation]) -> bool:
    """True when the lines carry "confirmed": a direct error, or two that are independent.

    What a query computed is not a line.
    """
    citations = [item for item in citations if not item.computed]
    if len({(item.source, _mask(item.text)) for item in citations}) > 1:
        return True
    words = {word.lower() for word in WORD.findall(claim)}
    for item in citations:
        is_error = item.level in ("ERROR", "FATAL") or ERROR_WORDS.search(item.text)
        named = words & {word.lower() for word in WORD.findall(item.text)}
        if is_error and named:
            return True
    return False


def _texts(citations: Sequence[Citation]) -> str:
    """All that the cited rows say; of a computed one only what was quoted, which is checked."""
    parts = [item.quote for item in citations if item.computed]
    rows = [item.row for item in citations if not item.computed]
    parts += [compact(row) for row in rows]
    return "\n".join((*parts, *(str(row.get("message", "")) for row in rows)))


def _cited(evidence: Sequence[Evidence], grounds: Grounds) -> tuple[list[Citation], list[str]]:
    citations: list[Citation] = []
    found: list[str] = []
    for item in evidence:
        parsed = parse_reference(item.reference)
        if parsed and not parsed.line and not item.quote:
            found += _absence(parsed.handle, grounds)
            continue
        try:
            citations.append(cite(item.reference, item.quote, grounds.scratch))
        except CitationError as error:
            found.append(str(error))
    return citations, found


def _absence(handle: str, grounds: Grounds) -> list[str]:
    answer = grounds.answers.get(handle)
    if answer is None:
        return [f"{handle} is not a result of this investigation"]
    if answer.tool not in SEARCHES:
        return [f"{handle} is of {answer.tool}, which searches no source; absence needs a search"]
    if answer.total != 0:
        return [f"{handle} found {answer.total}; absence needs an answer that found nothing"]
    if not answer.complete:
        return [f"{handle} is not complete, so it cannot show that something is absent"]
    return []


def _made_up(claim: str, texts: str, grounds: Grounds) -> list[str]:
    named = [item.value for item in find_artifacts(claim) if item.kind in EXACT_KINDS]
    unseen = [value for value in named if value not in texts and value not in grounds.given]
    seen = grounds.seen() if unseen else frozenset()
    return [f"names {value}, which no source has shown" for value in unseen if value not in seen]


def _mask(text: str) -> str:
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", text)


def _name(claim: str) -> str:
    return f"{claim[:70]}…" if len(claim) > 71 else claim

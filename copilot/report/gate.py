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
from copilot.report.values import Claim, Evidence, Report, RuledOut
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
EXACT_KINDS = frozenset({
    "ticket", "workflow", "job", "dataset", "hash", "path", "url", "host", "site",
    "exit code", "error code", "http status",
})  # fmt: skip
"""Kinds of identifiers that a source must have shown. Amounts may be counted up, so not those."""
STOPWORDS = frozenset({
    "also", "because", "been", "before", "does", "each", "from", "have", "into", "more", "most",
    "only", "over", "same", "some", "than", "that", "their", "then", "there", "these", "they",
    "this", "were", "what", "when", "where", "which", "while", "with", "would",
})  # fmt: skip
"""Words of four letters and more that two texts share without being about the same."""
TOO_SURE = (
    "confirmed needs a direct error line that names the cause, or two independent lines; "
    "cite one more, or say likely"
)
NOT_SUPPORTED = "Inconclusive: the cause that was handed in lacked support."
MOST = 12
"""Entries that a list of the report holds."""


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
        found += [f"{_name(item.claim)}: {text}" for text in _ruled_out_problems(item, grounds)]
    found += [f"summary: {text}" for text in _summary_problems(report, grounds)]
    return found


def kept(report: Report, grounds: Grounds) -> tuple[Report, tuple[str, ...]]:
    """The report without what lacks support, and the claims that were left out, with why.

    A "confirmed" that the lines do not carry becomes "likely". Without its cause the verdict is
    inconclusive, and the summary that told of it goes too. What was ruled out without lines was
    not checked.
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
    wrong = _summary_problems(report, grounds)
    lost = bool(report.cause and not cause)
    if lost or wrong:
        why = "; ".join(wrong) or "its cause lacked support"
        left_out.append(f"Summary as handed in: {report.summary} ({why})")
    refused = [(item, _ruled_out_problems(item, grounds)) for item in report.ruled_out]
    left_out += [f"Ruled out: {item.claim} ({'; '.join(why)})" for item, why in refused if why]
    unchecked = (*report.not_checked, *(item.claim for item, why in refused if why))
    parts = {
        "cause": cause,
        "verdict": report.verdict if cause else "inconclusive",
        "summary": _summary(report.summary, cause, lost=lost, wrong=bool(wrong)),
        "chain": tuple(claim for item in report.chain if (claim := keep(item))),
        "evidence": tuple(claim for item in report.evidence if (claim := keep(item))),
        "ruled_out": tuple(item for item, why in refused if not why),
        "not_checked": unchecked[:MOST],
    }
    return report.model_copy(update=parts), tuple(left_out)


def _summary(handed_in: str, cause: Claim | None, *, lost: bool, wrong: bool) -> str:
    if lost:
        return NOT_SUPPORTED
    if wrong:
        return (
            cause.claim if cause else "Inconclusive: the summary that was handed in lacked support."
        )
    return handed_in


def claim_problems(claim: Claim, grounds: Grounds) -> list[str]:
    """What is wrong with one claim, one line a problem."""
    found = statement_problems(claim.claim, claim.evidence, grounds)
    if found or claim.status != "confirmed":
        return found
    if is_confirmed(claim.claim, _cited(claim.evidence, grounds)[0]):
        return []
    return [TOO_SURE]


def statement_problems(text: str, evidence: Sequence[Evidence], grounds: Grounds) -> list[str]:
    """What keeps *evidence* from carrying *text*, however sure the text is."""
    if not evidence:
        return ["no evidence; cite the line that says it"]
    citations, found = _cited(evidence, grounds)
    if found:
        return found
    texts = _texts(citations)
    if citations:
        found += [
            f"{token} is on none of its cited lines" for token in _unsaid(text, texts, grounds)
        ]
    return found + _made_up(text, texts, grounds)


def _ruled_out_problems(item: RuledOut, grounds: Grounds) -> list[str]:
    return statement_problems(f"{item.claim}\n{item.why}", item.evidence, grounds)


def _summary_problems(report: Report, grounds: Grounds) -> list[str]:
    """What the summary names that neither the report's lines nor a source has shown."""
    pieces = [piece for item in report.claims() for piece in item.evidence]
    pieces += [piece for item in report.ruled_out for piece in item.evidence]
    texts = _texts(_cited(pieces, grounds)[0])
    seen = grounds.seen()
    unsaid = [token for token in _unsaid(report.summary, texts, grounds) if token[1:-1] not in seen]
    found = [f"{token} is on none of the report's lines" for token in unsaid]
    return found + _made_up(report.summary, texts, grounds)


def _unsaid(text: str, texts: str, grounds: Grounds) -> list[str]:
    """The tokens in backticks that stand in none of the cited texts, with their backticks."""
    tokens = TICKED.findall(text)
    return [f"`{token}`" for token in tokens if token not in texts and token not in grounds.given]


def is_confirmed(claim: str, citations: Sequence[Citation]) -> bool:
    """True when the lines carry "confirmed": a direct error, or two that are independent.

    What a query computed is not a line.
    """
    citations = [item for item in citations if not item.computed]
    words = _content(claim)
    about = [item for item in citations if words & _content(compact(item.row))]
    if len({(item.source, _mask(item.text)) for item in about}) > 1:
        return True
    for item in citations:
        is_error = item.level in ("ERROR", "FATAL") or ERROR_WORDS.search(item.text)
        named = words & _content(item.text)
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


def _content(text: str) -> set[str]:
    """The words and identifiers by which two texts are about the same."""
    words = {word.rstrip(".-_").lower() for word in WORD.findall(text)}
    words |= {part for word in words for part in re.split(r"[._-]", word) if len(part) > 3}
    return (words - STOPWORDS) | {item.value.lower() for item in find_artifacts(text)}


def _mask(text: str) -> str:
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", text)


def _name(claim: str) -> str:
    return f"{claim[:70]}…" if len(claim) > 71 else claim

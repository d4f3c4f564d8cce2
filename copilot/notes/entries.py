"""How each entry of STATE.md is written as Markdown, and read back. One line; citations below it.

An entry that cannot be read is no error: it is an operator's own line, and stays as it is.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from copilot.notes.markdown import label, prose, read_prose, span, split_label, split_span
from copilot.notes.sections import (
    Artifact,
    Citation,
    Done,
    Entry,
    Finding,
    Moment,
    Question,
    RuledOut,
    Status,
)
from copilot.window import iso, parse_iso

E = TypeVar("E", bound=Entry)

BULLET = re.compile(r"[-*+](?: (.*))?")
CITATION = re.compile(r"(?: {2,4}|\t)[-*+] (.*)")
STATUSES: tuple[Status, ...] = ("confirmed", "likely", "possible")
FINDING = re.compile(r"(?:\*\*)?(confirmed|likely|possible)(?:\*\*)?:(?: (.*))?", re.IGNORECASE)
ARTIFACT = re.compile(r" · (.*) · (\d{1,15})")


@dataclass(frozen=True, slots=True)
class Form(Generic[E]):
    """How the entries of one section are written and read."""

    write: Callable[[E], str]
    read: Callable[[str, tuple[Citation, ...]], E | None]
    """From the text behind the bullet and the citations below it."""
    cites: bool = False


def written(entry: E, form: Form[E]) -> str:
    """The lines of *entry*: as they were in the file where they still say the same."""
    if entry.raw:
        found = next_entry(entry.raw.split("\n"), 0, form)
        if found and found[0] == entry:
            return entry.raw
    return form.write(entry)


def next_entry(lines: Sequence[str], at: int, form: Form[E]) -> tuple[E, int] | None:
    """The entry that starts at line *at* and the index behind it; None when none does."""
    bullet = BULLET.fullmatch(lines[at])
    if not bullet:
        return None
    end = at + 1
    citations = []
    while form.cites and end < len(lines) and (match := CITATION.fullmatch(lines[end])):
        citations.append(_read_citation(match[1]))
        end += 1
    try:
        entry = form.read(bullet[1] or "", tuple(citations))
    except (ValueError, OverflowError):  # a date or a number that an operator mistyped
        return None
    return (replace(entry, raw="\n".join(lines[at:end])), end) if entry else None


def _write_citations(citations: Sequence[Citation]) -> str:
    return "".join(
        f"\n  - {label(one.reference)}" + (f" {span(one.quote)}" if one.quote else "")
        for one in citations
    )


def _read_citation(text: str) -> Citation:
    reference, rest = split_label(text)
    quote = split_span(rest)
    if quote and not quote[1].strip():
        return Citation(reference, quote[0])
    return Citation(read_prose(text))


def _write_artifact(one: Artifact) -> str:
    return f"- {label(one.kind)} {span(one.value)} · {prose(one.first)} · {one.count}"


def _read_artifact(text: str, _: tuple[Citation, ...]) -> Artifact | None:
    kind, rest = split_label(text)
    value = split_span(rest)
    where = ARTIFACT.fullmatch(value[1]) if value else None
    if not value or not where:
        return None
    return Artifact(kind, value[0], read_prose(where[1]), int(where[2]))


def _write_finding(one: Finding) -> str:
    return f"- **{one.status}**: {prose(one.claim)}{_write_citations(one.citations)}"


def _read_finding(text: str, citations: tuple[Citation, ...]) -> Finding | None:
    match = FINDING.fullmatch(text)
    if not match:
        return None
    status = next(status for status in STATUSES if status == match[1].lower())
    return Finding(read_prose(match[2] or ""), status, citations)


def _write_ruled_out(one: RuledOut) -> str:
    return f"- {prose(one.claim)}{_write_citations(one.citations)}"


def _read_ruled_out(text: str, citations: tuple[Citation, ...]) -> RuledOut:
    return RuledOut(read_prose(text), citations)


def _write_done(one: Done) -> str:
    handle = f" → {span(one.handle)}" if one.handle else ""
    return f"- {span(one.search)}{handle}" + (f": {prose(one.outcome)}" if one.outcome else "")


def _read_done(text: str, _: tuple[Citation, ...]) -> Done | None:
    search = split_span(text)
    if not search:
        return None
    rest = search[1]
    handle = split_span(rest[3:]) if rest.startswith(" → ") else ("", rest)
    if not handle or not (handle[1] == "" or handle[1].startswith(": ")):
        return None
    return Done(search[0], handle[0], read_prose(handle[1][2:]))


def _write_question(one: Question) -> str:
    return f"- {prose(one.text)}"


def _read_question(text: str, _: tuple[Citation, ...]) -> Question:
    return Question(read_prose(text))


def _write_moment(one: Moment) -> str:
    reference = f" {span(one.reference)}" if one.reference else ""
    return f"- {iso(one.time)}{reference} {prose(one.text)}"


def _read_moment(text: str, _: tuple[Citation, ...]) -> Moment:
    time, _space, rest = text.partition(" ")
    reference = split_span(rest) or ("", rest)
    return Moment(parse_iso(time), read_prose(reference[1].strip()), reference[0])


ARTIFACTS = Form(_write_artifact, _read_artifact)
FINDINGS = Form(_write_finding, _read_finding, cites=True)
RULED_OUT = Form(_write_ruled_out, _read_ruled_out, cites=True)
ALREADY_DONE = Form(_write_done, _read_done)
OPEN_QUESTIONS = Form(_write_question, _read_question)
TIMELINE = Form(_write_moment, _read_moment)

FORMS: Mapping[str, Form[Any]] = {
    "artifacts": ARTIFACTS,
    "findings": FINDINGS,
    "ruled_out": RULED_OUT,
    "already_done": ALREADY_DONE,
    "open_questions": OPEN_QUESTIONS,
    "timeline": TIMELINE,
}
"""By the name of the section's field."""

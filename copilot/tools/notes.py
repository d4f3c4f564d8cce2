"""The tools over the incident's own notes and over past incidents.

They change nothing themselves: an effect is recorded with the answer, and `beliefs.py` applies it,
so that a call done twice after a kill changes the notes once.
"""

from typing import Literal

from pydantic import Field

from copilot.notes.search import Query
from copilot.notes.state import render
from copilot.report.gate import Grounds, claim_problems, statement_problems
from copilot.report.values import Claim, Evidence, Status
from copilot.tools.arguments import Arguments
from copilot.tools.base import Case, Outcome, Tool
from copilot.tools.logbook import window_of
from copilot.values import JsonObject
from copilot.window import iso

NOTES_CHARACTERS = 12_000


class ReadNotes(Arguments):
    """Arguments of `read_notes`."""


class WriteNotes(Arguments):
    """Arguments of `write_notes`."""

    section: Literal["now", "ruled_out", "open_questions", "next_step"]
    text: str = Field(min_length=1, max_length=2000)
    evidence: tuple[Evidence, ...] = Field((), max_length=8)


class RecordFinding(Arguments):
    """Arguments of `record_finding`."""

    claim: str = Field(min_length=1, max_length=1500)
    status: Status
    evidence: tuple[Evidence, ...] = Field(min_length=1, max_length=12)


class SearchIncidents(Arguments):
    """Arguments of `search_incidents`."""

    text: str = Field(min_length=2, max_length=1000)
    labels: tuple[str, ...] = Field((), description="name=value")
    since: str = Field("", description="Absolute UTC; what changed later")
    limit: int = Field(5, ge=1, le=20)


def grounds(case: Case) -> Grounds:
    """What the gate may rest on for *case*."""
    given = f"{case.alert.words()}\n{case.question}"
    return Grounds(case.scratch, case.answers(), case.seen, given)


def _read(_: ReadNotes, case: Case) -> Outcome:
    text = render(case.state())
    cut = len(text) > NOTES_CHARACTERS
    return Outcome(
        scope={"incident": case.incident},
        rows=({"message": text[:NOTES_CHARACTERS]},),
        why_incomplete=f"cut at {NOTES_CHARACTERS} characters" if cut else "",
        stored=False,
    )


def _write(arguments: WriteNotes, case: Case) -> Outcome:
    scope: JsonObject = {"incident": case.incident}
    if arguments.section == "ruled_out":
        wrong = statement_problems(arguments.text, arguments.evidence, grounds(case))
        if wrong:
            return _not_recorded(scope, wrong)
    return Outcome(
        scope=scope,
        facts={"written": arguments.section},
        effect={"note": arguments.model_dump(mode="json")},
        stored=False,
    )


def _record(arguments: RecordFinding, case: Case) -> Outcome:
    claim = Claim(claim=arguments.claim, status=arguments.status, evidence=arguments.evidence)
    wrong = claim_problems(claim, grounds(case))
    scope: JsonObject = {"incident": case.incident}
    if wrong:
        return _not_recorded(scope, wrong)
    return Outcome(
        scope=scope,
        facts={"recorded": arguments.status, "references": len(arguments.evidence)},
        effect={"finding": arguments.model_dump(mode="json")},
        stored=False,
    )


def _not_recorded(scope: JsonObject, wrong: list[str]) -> Outcome:
    return Outcome(ok=False, scope=scope, hint=f"not recorded: {'; '.join(wrong)}", stored=False)


def _search(arguments: SearchIncidents, case: Case) -> Outcome:
    since = window_of(arguments.since, "").start
    query = Query(arguments.text, arguments.labels, since, case.incident, arguments.limit)
    found = case.recall(query)
    rows: list[JsonObject] = [
        {
            "source": f"incident {item.incident}",
            "id": item.incident,
            "status": item.status,
            "outcome": item.outcome,
            "judged": item.judgement,
            "updated": iso(item.updated) if item.updated else None,
            "title": item.title,
            "message": f"{item.verdict}\n{item.snippet}".strip(),
        }
        for item in found
    ]
    return Outcome(scope={"text": arguments.text}, rows=tuple(rows))


TOOLS = (
    Tool(
        "read_notes",
        "STATE.md of this incident.",
        ReadNotes,
        _read,
        repeatable=False,
        shows=False,
    ),
    Tool(
        "write_notes",
        "Note what must outlive this conversation; now: where it stands.",
        WriteNotes,
        _write,
        repeatable=False,
    ),
    Tool(
        "record_finding",
        "Record a claim with its lines. Answers which references do not hold.",
        RecordFinding,
        _record,
        repeatable=False,
    ),
    Tool(
        "search_incidents",
        "Past incidents like a text, with outcome and age. Old causes are hints, not proof.",
        SearchIncidents,
        _search,
    ),
)

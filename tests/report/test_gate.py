"""The gate lets out what its lines carry, and names what they do not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copilot.report.citations import CitationError, cite
from copilot.report.gate import Grounds, claim_problems, kept, problems
from copilot.report.values import Claim, Evidence, Report, RuledOut
from copilot.scratch.store import Scratch
from copilot.tools.answer import Answer
from copilot.values import JsonObject

ROWS: list[JsonObject] = [
    {"time": "2026-11-30T10:30:00Z", "level": "ERROR", "source": "app.log", "line": 4,
     "message": "cannot resolve host se01.example.org"},
    {"time": "2026-11-30T10:31:00Z", "level": "ERROR", "source": "app.log", "line": 5,
     "message": "cannot resolve host se01.example.org"},
    {"level": "INFO", "source": "app.log", "line": 9, "message": "copied /store/c.root"},
    {"level": "ERROR", "source": "trace.log", "line": 10,
     "message": "Traceback (most recent call last):\n  File x\nRuntimeError: no route to db.example.org"},
    {"level": "", "source": "rows.csv", "line": 7, "verbatim": False,
     "message": "first\nsecond: quota exceeded"},
    {"level": "", "source": "queue.json", "line": 30, "record": 4,
     "message": '{\n "Inputs": {\n  "block": []\n }\n}'},
]  # fmt: skip


@pytest.fixture
def grounds(tmp_path: Path) -> Grounds:
    """Scratch with one result R0001, an empty complete R0002 and an empty incomplete R0003."""
    scratch = Scratch(tmp_path, "inc-1")
    scratch.put(ROWS, tool="search_logbook", arguments={})
    scratch.put([], tool="search_logbook", arguments={"text": "disk full"})
    scratch.put([], tool="search_logbook", arguments={"text": "oom"})
    answers = {
        "R0001": Answer("R0001", "search_logbook", complete=True, total=6),
        "R0002": Answer("R0002", "search_logbook", complete=True, total=0),
        "R0003": Answer("R0003", "search_logbook", complete=False, total=0),
    }
    return Grounds(
        scratch, answers, lambda: frozenset({"wf_seen_001"}), "OPS-1: wf_alert_001 stalls"
    )


def claim(text: str, *evidence: tuple[str, str], status: Any = "likely") -> Claim:
    """A claim with its evidence."""
    return Claim(
        claim=text,
        status=status,
        evidence=tuple(Evidence(reference=r, quote=q) for r, q in evidence),
    )


def test_a_quote_in_a_traceback_is_cited_at_its_own_line(grounds: Grounds) -> None:
    citation = cite("R0001:4", "RuntimeError: no route", grounds.scratch)

    assert citation.place() == "trace.log:12"


def test_a_quote_from_a_column_is_cited_at_the_line_of_its_row(grounds: Grounds) -> None:
    assert cite("R0001:5", "quota exceeded", grounds.scratch).place() == "rows.csv:7"


def test_a_record_of_an_array_is_cited_with_its_index(grounds: Grounds) -> None:
    assert cite("R0001:6", '"block": []', grounds.scratch).place() == "queue.json:32 (record 4)"


def test_white_space_in_a_quote_may_differ(grounds: Grounds) -> None:
    assert cite("R0001:6", '"Inputs": { "block": []', grounds.scratch).line == 31


@pytest.mark.parametrize(
    ("reference", "quote", "why"),
    [
        ("R0009:1", "x y", "does not resolve"),
        ("R0001:99", "x y", "does not resolve"),
        ("R0001:1", "disk full", "does not say"),
        ("R0001:1", " ", "without a quote"),
        ("R0001", "cannot resolve", "names a whole result"),
        ("../../etc/passwd", "root", "is not a reference"),
        ("R0001:0", "cannot resolve", "names a whole result"),
        ("R1:1", "cannot resolve", "is not a reference"),
    ],
)  # fmt: skip
def test_a_citation_that_does_not_hold_says_why(
    grounds: Grounds, reference: str, quote: str, why: str
) -> None:
    with pytest.raises(CitationError, match=why):
        cite(reference, quote, grounds.scratch)


def test_a_direct_error_that_names_the_cause_may_be_confirmed(grounds: Grounds) -> None:
    found = claim(
        "the host cannot be resolved", ("R0001:1", "cannot resolve host"), status="confirmed"
    )

    assert claim_problems(found, grounds) == []


def test_the_same_text_twice_is_not_two_independent_lines(grounds: Grounds) -> None:
    weak = claim("mover is slow", ("R0001:3", "copied"), status="confirmed")

    assert "two independent lines" in claim_problems(weak, grounds)[0]


def test_two_lines_of_different_sources_may_confirm(grounds: Grounds) -> None:
    lines = (("R0001:3", "copied"), ("R0001:5", "quota exceeded"))
    found = claim("files were copied until the quota was full", *lines, status="confirmed")

    assert claim_problems(found, grounds) == []


def test_lines_that_share_no_word_with_the_claim_do_not_confirm_it(grounds: Grounds) -> None:
    lines = (("R0001:3", "copied"), ("R0001:5", "first"))
    found = claim("it went on with that", *lines, status="confirmed")

    assert "two independent lines" in claim_problems(found, grounds)[0]


@pytest.mark.parametrize(
    "name", ["FAKE-123", "node77.example.org", "T2_XX_Nowhere", "exit code 4711", "HTTP 503"]
)
def test_a_made_up_identifier_of_any_exact_kind_is_refused_anywhere(
    grounds: Grounds, name: str
) -> None:
    line = ("R0001:1", "cannot resolve")
    ruled_out = RuledOut(claim=f"{name} is full", why="no line", evidence=claim("x", line).evidence)
    report = Report(verdict="inconclusive", summary=f"see {name}", ruled_out=(ruled_out,))

    assert "which no source has shown" in claim_problems(claim(f"as {name}", line), grounds)[0]
    assert len(problems(report, grounds)) == 2


def test_backticks_in_the_summary_and_in_what_is_ruled_out_stand_on_lines(grounds: Grounds) -> None:
    evidence = claim("x", ("R0001:1", "cannot resolve")).evidence
    fine = RuledOut(claim="`se01.example.org` is up", why="gone", evidence=evidence)
    wrong = RuledOut(claim="the disk", why="`sdb1` is empty", evidence=evidence)
    report = Report(
        verdict="inconclusive", summary="`cannot resolve` and `sdb2`", ruled_out=(fine, wrong)
    )

    rest, left_out = kept(report, grounds)

    assert len(problems(report, grounds)) == 2
    assert (rest.ruled_out, rest.not_checked) == ((fine,), ("the disk",))
    assert "sdb2" not in rest.summary
    assert "`sdb2`" in left_out[0]


def test_what_is_ruled_out_without_a_line_was_not_checked(grounds: Grounds) -> None:
    report = Report(
        verdict="inconclusive", summary="s", ruled_out=(RuledOut(claim="the disk", why="surely"),)
    )

    rest, left_out = kept(report, grounds)

    assert "no evidence" in problems(report, grounds)[0]
    assert (rest.ruled_out, rest.not_checked) == ((), ("the disk",))
    assert left_out[0].startswith("Ruled out: the disk (no evidence")


def test_a_token_in_backticks_must_be_on_a_cited_line(grounds: Grounds) -> None:
    wrong = claim("`se99.example.org` does not resolve", ("R0001:1", "cannot resolve"))

    found = claim_problems(wrong, grounds)

    assert found[0] == "`se99.example.org` is on none of its cited lines"


def test_a_ticket_that_no_source_has_shown_is_refused(grounds: Grounds) -> None:
    wrong = claim("as in FAKE-123", ("R0001:1", "cannot resolve"))

    assert "FAKE-123, which no source has shown" in claim_problems(wrong, grounds)[0]


def test_what_the_alert_says_needs_no_proof(grounds: Grounds) -> None:
    fine = claim("OPS-1 stalls because the host is gone", ("R0001:1", "cannot resolve"))

    assert claim_problems(fine, grounds) == []


def test_absence_is_carried_by_a_complete_answer_that_found_nothing(grounds: Grounds) -> None:
    assert claim_problems(claim("the disk was not full", ("R0002", "")), grounds) == []


@pytest.mark.parametrize(
    ("handle", "why"),
    [("R0003", "not complete"), ("R0001", "found 6"), ("R0042", "not a result")],
)
def test_absence_is_not_carried_by_anything_less(grounds: Grounds, handle: str, why: str) -> None:
    assert why in claim_problems(claim("no memory was lacking", (handle, "")), grounds)[0]


@pytest.mark.parametrize("tool", ["query_scratch", "search_incidents", "logbook_context"])
def test_absence_is_shown_by_the_search_of_a_source_only(grounds: Grounds, tool: str) -> None:
    answers = {"R0002": Answer("R0002", tool, complete=True, total=0)}
    found = claim_problems(
        claim("the disk was not full", ("R0002", "")), replace(grounds, answers=answers)
    )

    assert "searches no source" in found[0]


def test_a_claim_without_evidence_is_refused(grounds: Grounds) -> None:
    assert claim_problems(claim("it was DNS"), grounds) == [
        "no evidence; cite the line that says it"
    ]


def queried(grounds: Grounds, sql: str, *values: JsonObject, over: str = "R0001") -> str:
    """The handle of what a query over *over* computed."""
    rows: list[JsonObject] = [{"source": f"query over {over}", "values": row} for row in values]
    asked: JsonObject = {"handle": over, "sql": sql}
    return grounds.scratch.put(rows, tool="query_scratch", arguments=asked).handle


@pytest.mark.parametrize(
    ("sql", "row", "quote"),
    [
        ("select 'ERROR disk full on node77 7' as message",
         {"message": "ERROR disk full on node77 7"}, "ERROR disk full on node77 7"),
        ("select 'ERROR disk' || ' full 7' as m", {"m": "ERROR disk full 7"}, "disk full 7"),
        ("select char(100,105,115,107) as m, 7 as n", {"m": "disk", "n": 7}, '"disk","n":7'),
        ('select 3 as "disk full"', {"disk full": 3}, '"disk full":3'),
        ("select 4711 as count", {"count": 4711}, '"count":4711'),
        ("select message from rows", {"message": "cannot resolve host"}, "cannot resolve host"),
    ],
)  # fmt: skip
def test_what_a_query_says_by_itself_is_not_evidence(
    grounds: Grounds, sql: str, row: JsonObject, quote: str
) -> None:
    handle = queried(grounds, sql, row)

    assert "figures only" in claim_problems(claim("no", (f"{handle}:1", quote)), grounds)[0]


def test_a_query_over_a_query_is_held_against_the_lines_below_both(grounds: Grounds) -> None:
    first = queried(grounds, "select 'node77' as m", {"m": "node77"})
    second = queried(grounds, "select m, count(*) from rows", {"m": "node77", "n": 1}, over=first)

    with pytest.raises(CitationError, match="node77 came with the query"):
        cite(f"{second}:1", '"m":"node77","n":1', grounds.scratch)


def test_a_count_may_be_cited_and_confirms_nothing_alone(grounds: Grounds) -> None:
    handle = queried(
        grounds, "select level, count(*) from rows group by 1",
        {"level": "ERROR", "count(*)": 3}, {"level": "INFO", "count(*)": 1},
    )  # fmt: skip
    counts = ((f"{handle}:1", '"ERROR","count(*)":3'), (f"{handle}:2", '"INFO","count(*)":1'))

    assert claim_problems(claim("3 lines are of level ERROR", *counts), grounds) == []
    alone = claim("3 lines are of level ERROR", *counts, status="confirmed")
    assert "confirmed needs" in claim_problems(alone, grounds)[0]


def test_what_a_query_adds_around_its_figures_shows_no_identifier(grounds: Grounds) -> None:
    handle = queried(grounds, "select 'FAKE-123' as t, count(*)", {"t": "FAKE-123", "n": 6})

    found = claim_problems(claim("as in FAKE-123 and `FAKE-123`", (f"{handle}:1", "6")), grounds)

    assert len(found) == 2


def test_an_old_verdict_is_not_evidence_nor_is_a_query_over_it(grounds: Grounds) -> None:
    old: JsonObject = {"source": "incident inc-0", "message": "it was the disk 7"}
    handle = grounds.scratch.put([old], tool="search_incidents", arguments={}).handle
    over = queried(grounds, "select message from rows", {"m": "disk 7"}, over=handle)

    for reference, quote in ((f"{handle}:1", "the disk"), (f"{over}:1", "disk 7")):
        with pytest.raises(CitationError, match="hints, not evidence"):
            cite(reference, quote, grounds.scratch)


@pytest.mark.parametrize("quote", ["ER", "to", "…", ": ", "annot resolve", "cannot resol", "ERROR"])
def test_a_quote_is_whole_words_of_what_the_line_says(grounds: Grounds, quote: str) -> None:
    with pytest.raises(CitationError, match=r"too little|does not say"):
        cite("R0001:1", quote, grounds.scratch)


def test_a_verdict_to_act_needs_a_cause(grounds: Grounds) -> None:
    report = Report(verdict="action_needed", summary="act", cause=None)

    assert "needs a cause" in problems(report, grounds)[0]


def test_what_lacks_support_is_left_out_and_named_and_the_verdict_becomes_inconclusive(
    grounds: Grounds,
) -> None:
    report = Report(
        verdict="action_needed",
        summary="s",
        cause=claim("it was the disk", ("R0001:1", "disk full")),
        evidence=(claim("a copy worked", ("R0001:3", "copied")),),
    )

    rest, left_out = kept(report, grounds)

    assert (rest.verdict, rest.cause, len(rest.evidence)) == ("inconclusive", None, 1)
    assert "it was the disk" in left_out[0]
    assert rest.summary == "Inconclusive: the cause that was handed in lacked support."
    assert left_out[1].startswith("Summary as handed in: s (")


def test_confirmed_without_enough_lines_leaves_as_likely(grounds: Grounds) -> None:
    report = Report(
        verdict="no_action",
        summary="s",
        cause=claim("a copy worked", ("R0001:3", "copied"), status="confirmed"),
    )

    rest, left_out = kept(report, grounds)

    assert rest.cause is not None
    assert (rest.cause.status, left_out) == ("likely", ())

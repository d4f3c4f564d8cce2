"""Each tool answers one envelope, keeps to its scope, and says what to do when it cannot."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.embedded_tracker import EmbeddedTracker
from copilot.config import load_settings
from copilot.errors import ConfigError
from copilot.investigation import investigate
from copilot.models.model import ToolCall
from copilot.redact import Redactor
from copilot.tools.catalogue import TOOLS
from copilot.tools.registry import Ran, Registry
from copilot.workspace import Workspace
from tests.bench import ALERT, NOW, SUBMIT, Bench, made_workspace
from tests.doubles.scripted_model import ScriptedModel, Turn
from tests.tools.conftest import Ask


def test_two_tools_of_one_name_are_refused_at_start_with_the_name() -> None:
    twice = [*TOOLS, TOOLS[0]]

    with pytest.raises(ConfigError, match=f"two tools are called {TOOLS[0].name}: give"):
        Registry(twice, Redactor(b"key"))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("logbook_fields", {}),
        ("logbook_overview", {}),
        ("search_logbook", {"text": "resolve"}),
        (
            "logbook_patterns",
            {"since": "2026-11-30T10:30:00Z", "baseline_until": "2026-11-30T10:30:00Z"},
        ),
        ("logbook_context", {"source": "app.log", "line": 4}),
        ("logbook_trace", {"id": "wf_alpha_001"}),
        ("search_tickets", {"text": "se01.example.org"}),
        ("get_ticket", {"key": "OPS-7"}),
        ("search_documents", {"text": "host resolve"}),
        ("search_incidents", {"text": "se01.example.org"}),
    ],
)
def test_every_source_answers_the_same_envelope(
    ask: Ask, tool: str, arguments: dict[str, str]
) -> None:
    answer = ask(tool, **arguments)

    assert answer["ok"] is True
    assert answer["tool"] == tool
    assert answer["complete"] in (True, False)
    assert {"scope", "handle", "lines"} <= answer.keys()


@pytest.mark.bad_input("B036")
def test_a_window_is_half_open_and_echoed_in_utc(ask: Ask) -> None:
    answer = ask("search_logbook", since="2026-11-30T11:30:00+01:00", until="2026-11-30T10:31:00Z")

    assert answer["scope"]["window"] == "[2026-11-30T10:30:00Z, 2026-11-30T10:31:00Z)"
    assert answer["total"] == 1


@pytest.mark.parametrize("since", ["now-2h", "1732693003E+3", "yesterday", "2026-11-30"])
@pytest.mark.bad_input("B024")
def test_a_window_that_is_not_absolute_is_refused_with_the_form_to_use(
    ask: Ask, since: str
) -> None:
    answer = ask("search_logbook", since=since)

    assert answer["ok"] is False
    assert "2026-01-31T12:00:00Z" in answer["hint"]


def test_fewer_lines_than_match_is_not_complete(ask: Ask) -> None:
    answer = ask("search_logbook", text="wf_alpha_001", limit=2)

    assert (answer["complete"], answer["why_incomplete"]) == (False, "limit: 2 of 7 returned")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_logbook", {"text": "timeless"}),
        ("logbook_trace", {"id": "timeless"}),
        ("logbook_overview", {"text": "timeless"}),
        ("logbook_patterns", {"text": "timeless"}),
    ],
)
def test_lines_without_a_time_make_a_bounded_window_incomplete_and_an_open_one_not(
    bench: Bench, ask: Ask, tool: str, arguments: dict[str, str]
) -> None:
    file = bench.workspace.settings.workspace / "timeless.log"
    file.write_text("the timeless one was refused\n")
    bench.workspace.logbooks["logs"].import_file(file, "timeless.log")

    bounded = ask(tool, **arguments, since="2026-11-30T10:00:00Z")
    whole = ask(tool, **arguments)

    assert bounded["complete"] is False
    assert "1 matching lines have no time" in bounded["why_incomplete"]
    assert whole["complete"] is True


def test_patterns_name_what_rose_and_what_vanished(ask: Ask) -> None:
    answer = ask(
        "logbook_patterns",
        since="2026-11-30T10:30:00Z", until="2026-11-30T10:41:00Z",
        baseline_since="2026-11-30T10:00:00Z", baseline_until="2026-11-30T10:30:00Z",
    )  # fmt: skip

    rose = [row["message"] for row in answer["rows"] if not row.get("vanished")]
    vanished = [row["message"] for row in answer["rows"] if row.get("vanished")]
    assert any("cannot resolve" in message for message in rose)
    assert any("copied" in message for message in vanished)


def test_an_unknown_source_is_answered_with_those_that_there_are(ask: Ask) -> None:
    assert "there are: logs" in ask("logbook_fields", logbook="other")["hint"]


def test_a_ticket_that_is_not_there_is_not_an_empty_ticket(ask: Ask) -> None:
    answer = ask("get_ticket", key="OPS-404")

    assert answer["ok"] is False
    assert "search_tickets" in answer["hint"]


@pytest.mark.bad_input("B007")
def test_a_part_that_was_not_exported_is_not_fetched_rather_than_none(ask: Ask) -> None:
    answer = ask("get_ticket", key="OPS-7", parts=["changes"])

    assert answer["facts"]["not_fetched"] == ["changes"]
    assert answer["complete"] is False


def test_a_document_is_found_by_chunk_and_read_whole(ask: Ask) -> None:
    found = ask("search_documents", text="host resolve", library="documents")["rows"][0]

    chunk = ask("read_document", id=found["id"])["rows"][0]

    assert "Ask the DNS desk." in chunk["message"]


@pytest.mark.parametrize(
    "handle",
    ["../../etc/passwd", "/etc/passwd", "%2e%2e/R0001", "R0001\x00", "R9999", "", "*", "r0001"],
)
def test_what_is_no_handle_is_answered_and_opens_nothing(ask: Ask, handle: str) -> None:
    for tool in ("read_scratch", "query_scratch"):
        assert (
            ask(tool, handle=handle, **({} if tool == "read_scratch" else {"top": 1}))["ok"]
            is False
        )


@pytest.mark.parametrize("first", [-1, 0, 10**18, "abc"])
def test_a_line_that_does_not_exist_is_answered(ask: Ask, first: object) -> None:
    handle = ask("search_logbook")["handle"]

    assert ask("read_scratch", handle=handle, first=first)["ok"] is False


@pytest.mark.parametrize("pattern", ["(?=x)", r"\1", "a" * 2000, "("])
def test_a_pattern_that_re2_lacks_is_refused_in_words(ask: Ask, pattern: str) -> None:
    ask("search_logbook")

    answer = ask("search_scratch", pattern=pattern)

    assert answer["ok"] is False
    assert answer["hint"]


def test_a_pattern_that_explodes_elsewhere_answers_here(ask: Ask) -> None:
    ask("search_logbook")

    assert ask("search_scratch", pattern="(a+)+$")["ok"] is True


def test_a_query_groups_and_counts_the_rows_of_a_result(ask: Ask) -> None:
    handle = ask("search_logbook")["handle"]

    answer = ask("query_scratch", handle=handle, group_by=["level"], columns=["level", "count"])

    counts = {row["values"]["level"]: row["values"]["count(*)"] for row in answer["rows"]}
    assert counts["ERROR"] == 3


@pytest.mark.parametrize(
    "sql",
    ["delete from rows", "attach 'x' as y", "select load_extension('x')", "pragma user_version"],
)
def test_a_query_that_is_no_question_is_refused(ask: Ask, sql: str) -> None:
    handle = ask("search_logbook")["handle"]

    assert ask("query_scratch", handle=handle, sql=sql)["ok"] is False


def test_a_finding_whose_line_does_not_say_it_is_not_recorded(ask: Ask) -> None:
    handle = ask("search_logbook", text="resolve")["handle"]

    answer = ask(
        "record_finding",
        claim="the disk is full",
        status="likely",
        evidence=[{"reference": f"{handle}:1", "quote": "No space left"}],
    )

    assert answer["ok"] is False
    assert "does not say" in answer["hint"]


@pytest.mark.parametrize("evidence", [[], [{"reference": "R0001:1", "quote": "No space left"}]])
def test_what_is_ruled_out_in_the_notes_needs_lines_too(
    ask: Ask, evidence: list[dict[str, str]]
) -> None:
    ask("search_logbook", text="resolve")

    answer = ask("write_notes", section="ruled_out", text="the disk", evidence=evidence)

    assert answer["ok"] is False
    assert "not recorded" in answer["hint"]


def test_a_note_of_five_megabytes_is_refused_as_too_long(ask: Ask) -> None:
    answer = ask("write_notes", section="now", text="x" * 5_000_000)

    assert answer["ok"] is False
    assert "2000" in answer["hint"]


@pytest.mark.bad_input("B088")
def test_secrets_are_masked_before_the_model_and_the_disk(bench: Bench) -> None:
    folder = bench.workspace.settings.workspace
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    (folder / "secret.log").write_text(f"2026-11-30 10:50:00,000 INFO env: AWS_KEY={secret}\n")
    bench.workspace.logbooks["logs"].import_file(folder / "secret.log", "secret.log")

    with bench.work(ScriptedModel(())) as (work, _):
        prepared = work.registry.prepare(ToolCall("t", "search_logbook", {"text": "env"}))
        assert not isinstance(prepared, Ran)
        ran = work.registry.run(prepared, work.case)

    assert ran.outcome.rows
    assert secret not in str(ran.outcome.rows)
    assert "<secret:" in str(ran.outcome.rows)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query_scratch", {"handle": "R0001", "sql": "select 'FAKE-123' as ticket"}),
        ("read_scratch", {"handle": "R0001"}),
        ("search_scratch", {"pattern": "resolve"}),
        ("read_notes", {}),
    ],
)
def test_what_is_computed_or_repeated_shows_no_identifier(
    bench: Bench, tool: str, arguments: dict[str, str]
) -> None:
    with bench.work(ScriptedModel(())) as (work, _):
        work.case.scratch.put(
            [{"message": "cannot resolve se01.example.org"}], tool="search_logbook", arguments={}
        )
        prepared = work.registry.prepare(ToolCall("t", tool, dict(arguments)))
        assert not isinstance(prepared, Ran)
        ran = work.registry.run(prepared, work.case)

    assert ran.outcome.ok
    assert ran.artifacts == ()


@pytest.mark.bad_input("B010")
def test_a_large_page_of_tickets_is_parked_whole_and_its_end_is_told(bench: Bench) -> None:
    tickets = [
        {"key": f"BIG-{number}", "summary": f"disk {'x' * 6000}", "description": "y" * 6000}
        for number in range(60)
    ]
    placed, rows = placed_by_default(
        bench, tickets, ("search_tickets", {"text": "disk", "limit": 50})
    )

    assert len(rows) == 50
    assert placed["lines"] == 50
    assert (placed["total"], placed["complete"]) == (60, False)
    assert placed["facts"]["page"]
    assert placed["handle"]


@pytest.mark.bad_input("B025")
def test_five_hundred_long_lines_are_parked_and_a_short_head_is_shown(bench: Bench) -> None:
    folder = bench.workspace.settings.workspace
    lines = [
        f"2026-11-30 09:{n // 60:02}:{n % 60:02},000 ERROR app: wide {'z' * 3000}"
        for n in range(500)
    ]
    (folder / "wide.log").write_text("\n".join(lines) + "\n")
    bench.workspace.logbooks["logs"].import_file(folder / "wide.log", "wide.log")

    placed, rows = placed_by_default(bench, [], ("search_logbook", {"text": "wide", "limit": 500}))

    assert len(rows) == placed["lines"] == placed["total"] == 500
    assert len(json.dumps(placed)) < 8000
    assert placed["complete"] is True


def placed_by_default(
    bench: Bench, tickets: list[dict[str, str]], call: tuple[str, dict[str, Any]]
) -> tuple[dict[str, Any], list[str]]:
    """Return the answer as the default policy places it, and the lines that are kept of it."""
    if tickets:
        file = bench.workspace.settings.workspace / "big.json"
        file.write_text(json.dumps(tickets))
        tracker = bench.workspace.trackers["tickets"]
        assert isinstance(tracker, EmbeddedTracker)
        tracker.import_file(file, "big.json")
    with bench.work(ScriptedModel([[call], [SUBMIT]])) as (work, notebook):
        investigate(work, notebook)
        first = bench.results()[0]
        placed: dict[str, Any] = json.loads(str(first.data["text"]))
        lines = list(work.case.scratch.lines(placed["handle"]))
    return placed, lines


@pytest.mark.bad_input("B088")
def test_one_mask_covers_alerts_logs_tickets_and_documents(tmp_path: Path) -> None:
    secret, mail = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345", "ada@example.org"
    words = f"marker77 token={secret} by {mail}"
    made_workspace(tmp_path)
    (tmp_path / "copilot.yaml").write_text("model:\n  name: offline\nredaction:\n  emails: true\n")
    workspace = Workspace(load_settings(tmp_path, {}, tmp_path), {}, now=lambda: NOW)
    (tmp_path / "x.log").write_text(f"2026-11-30 11:00:00,000 INFO app: {words}\n")
    workspace.logbooks["logs"].import_file(tmp_path / "x.log", "x.log")
    ticket = {
        "key": "OPS-9",
        "summary": "x",
        "comments": [{"at": "2026-11-30T10:35:00Z", "by": "a", "body": words}],
    }
    (tmp_path / "t.json").write_text(json.dumps(ticket))
    tracker = workspace.trackers["tickets"]
    assert isinstance(tracker, EmbeddedTracker)
    tracker.import_file(tmp_path / "t.json", "t.json")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# A\n\n{words}\n")
    workspace.libraries["documents"].import_folder(tmp_path / "docs")
    reads: Turn = [
        ("search_logbook", {"text": "marker77"}), ("get_ticket", {"key": "OPS-9"}),
        ("search_documents", {"text": "marker77"}), ("read_notes", {"section": "alert"}),
    ]  # fmt: skip
    again: Turn = [("read_scratch", {"handle": f"R{number:04}"}) for number in (1, 2, 3)]
    model = ScriptedModel([reads, again, [SUBMIT]])
    with Bench(workspace, replace(ALERT, text=words)).work(model) as (work, notebook):
        investigate(work, notebook)

    said = json.dumps([list(request.messages) for request in model.requests])
    tokens = set(re.findall(r"<secret:(?:github|email)[^>]*:[0-9a-f]+>", said))
    assert said.count("marker77") > 4
    assert secret not in said
    assert mail not in said
    assert len(tokens) == 2  # one for each of the two, whichever source told it

"""`copilot scratch`: the evidence of an incident, by handle."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from copilot.cli.session import Session
from copilot.cli.ui import Screen
from copilot.scratch.store import Scratch
from copilot.values import JsonObject
from tests.cli.conftest import HOSTILE, Run

INCIDENT = "inc-20260131-abc123"


@pytest.fixture
def stored(workspace: Path) -> str:
    """Return the name of a stored result of 50 rows."""
    rows: list[JsonObject] = [{"line": n, "message": f"row {n} of fifty"} for n in range(1, 50)]
    rows.append({"line": 50, "message": HOSTILE})
    scratch = Scratch(workspace / "scratch", INCIDENT)
    return f"{INCIDENT}/{scratch.put(rows, tool='search_logbook', arguments={'text': 'x'}).handle}"


def test_results_are_listed_with_the_call_that_they_answer(stored: str, run: Run) -> None:
    said = run("scratch", "ls", INCIDENT)

    assert said.out.splitlines()[1].split()[:2] == [stored, "50"]
    assert 'search_logbook {"text":"x"}' in said.out
    assert run("scratch", "ls", INCIDENT, "-q").out == f"{stored}\n"


def test_a_line_is_shown_by_its_reference(stored: str, run: Run) -> None:
    said = run("scratch", "show", f"{stored}:41")

    assert said.out == 'R0001:41 {"line":41,"message":"row 41 of fifty"}\n'


def test_lines_and_columns_choose_a_part(stored: str, run: Run) -> None:
    said = run("scratch", "show", stored, "--lines", "40:42", "--columns", "0:11")

    assert said.out.splitlines() == [f'R0001:{n} {{"line":{n}, …' for n in (40, 41, 42)]


def test_the_first_lines_come_with_the_command_for_more(stored: str, run: Run) -> None:
    said = run("scratch", "show", stored)

    assert len(said.out.splitlines()) == 20
    assert f"copilot scratch show {stored} --lines 21:50" in said.err


def test_the_incident_may_be_left_out_where_there_is_one(stored: str, run: Run) -> None:
    assert run("scratch", "show", "R0001:7").out.startswith("R0001:7 ")


def test_a_bare_handle_is_refused_where_there_are_several(
    stored: str, workspace: Path, run: Run
) -> None:
    Scratch(workspace / "scratch", "inc-2").put([{"a": 1}], tool="t", arguments={})

    said = run("scratch", "show", "R0001:7")

    assert said.code == 2
    assert "INCIDENT/R0001:7" in said.err


def test_a_pattern_is_found_and_counted(stored: str, run: Run) -> None:
    said = run("scratch", "grep", "row 4[0-9]", INCIDENT, "--limit", "2")

    assert said.code == 0
    assert said.out.splitlines()[0] == f"{stored}:40: row 40 of fifty"
    assert "2 of 10 matching lines; 50 searched" in said.err


def test_grep_leaves_with_one_when_nothing_matched(stored: str, run: Run) -> None:
    assert run("scratch", "grep", "absent", stored).code == 1


def test_a_pattern_that_is_not_re2_is_refused(stored: str, run: Run) -> None:
    said = run("scratch", "grep", r"(a)\1", INCIDENT)

    assert said.code == 1
    assert said.err.startswith("copilot: ")


def test_a_hostile_line_is_shown_harmless(stored: str, run: Run) -> None:
    for words in (("show", f"{stored}:50"), ("grep", "end", stored), ("show", stored, "--json")):
        said = run("scratch", *words)
        assert not set("\x1b\x07\x9b\u202e") & set(said.out), words


@pytest.mark.parametrize(
    "reference",
    ["../../etc/passwd", "R1", f"{INCIDENT}/R0001:0x", "inc-1/R0001", "-", "R0001:99999"],
)
def test_what_is_not_there_is_an_error_and_never_a_path(
    stored: str, reference: str, run: Run
) -> None:
    said = run("scratch", "show", "--", reference)

    assert said.code in {1, 4}
    assert said.err.startswith("copilot: ")
    assert not said.out


@pytest.mark.parametrize(
    "option", [("--lines", "0:3"), ("--lines", "9:3"), ("--lines", "x"), ("--columns", "5")]
)
def test_a_range_that_is_none_is_refused_with_an_example(
    stored: str, option: tuple[str, str], run: Run
) -> None:
    said = run("scratch", "show", stored, *option)

    assert said.code == 2
    assert f"{option[0]} " in said.err


def test_json_names_each_line_by_its_reference(stored: str, run: Run) -> None:
    document = json.loads(run("scratch", "show", stored, "--lines", "3", "--json").out)

    assert document["lines"] == [
        {"reference": "R0001:3", "text": '{"line":3,"message":"row 3 of fifty"}', "cut": False}
    ]


def test_gc_removes_the_results_of_what_was_closed_long_ago_and_no_others(
    investigated: str, stored: str, workspace: Path, run: Run
) -> None:
    rows = workspace / "scratch" / investigated
    later = Session(Screen("never"), now=lambda: datetime.now(UTC) + timedelta(days=31))
    run("scratch", "gc", obj=later)
    assert list(rows.glob("*.jsonl"))

    run("incidents", "close", investigated)
    assert run("scratch", "gc").code == 0
    assert list(rows.glob("*.jsonl"))
    would = run("scratch", "gc", "--dry-run", obj=later)
    assert would.out.split()[0] == investigated
    assert list(rows.glob("*.jsonl"))

    assert run("scratch", "gc", obj=later).out.startswith("removed ")
    assert not list(rows.glob("*.jsonl"))
    assert run("scratch", "show", stored).code == 0

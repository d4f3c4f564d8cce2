"""Matches carry references, stay within a budget and are counted to the end."""

import time
from pathlib import Path

import pytest

from copilot.errors import PatternError, ScratchError
from copilot.scratch.searching import SNIPPET_CHARACTERS, Search, search
from copilot.scratch.store import Scratch
from copilot.values import JsonObject, Reference


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path, "inc")


def put(scratch: Scratch, rows: list[JsonObject]) -> str:
    return scratch.put(rows, tool="t", arguments={}).handle


def test_matches_are_found_over_all_results_with_their_lines(scratch: Scratch) -> None:
    put(scratch, [{"message": "all is well"}, {"message": "disk full on node7"}])
    put(scratch, [{"message": "disk nearly full"}])

    found = search(scratch, Search(r"disk.*full"))

    assert [str(match.reference) for match in found.matches] == ["R0001:2", "R0002:1"]
    assert (found.total, found.lines_searched, found.why_incomplete) == (2, 3, "")
    assert found.matches[0].field == "message"


def test_only_the_named_results_are_searched(scratch: Scratch) -> None:
    put(scratch, [{"m": "x"}])
    put(scratch, [{"m": "x", "n": 2}])

    found = search(scratch, Search("x", handles=("R0002",)))

    assert [match.reference for match in found.matches] == [Reference("R0002", 1)]


@pytest.mark.parametrize(
    ("pattern", "field"),
    [
        ("^8021$", "exit.code"),
        ("true", "exit.final"),
        ("T2_X", "sites"),
        (r'"code":8021', ""),
        ('say "no"', "quoted"),
        (r"C:\\temp", "path"),
        ("second$", "lines"),
    ],
)
def test_values_of_every_kind_are_searched_and_the_stored_line_too(
    scratch: Scratch, pattern: str, field: str
) -> None:
    put(
        scratch,
        [
            {
                "exit": {"code": 8021, "final": True},
                "sites": ["T1_A", "T2_X"],
                "quoted": 'say "no"',
                "path": r"C:\temp",
                "lines": "first\nsecond",
                "none": None,
            }
        ],
    )

    found = search(scratch, Search(pattern))

    assert [match.field for match in found.matches] == [field]


def test_the_match_stands_in_the_middle_of_a_long_value(scratch: Scratch) -> None:
    put(scratch, [{"m": "a" * 300_000 + "NEEDLE" + "b" * 300_000}])

    text = search(scratch, Search("NEEDLE")).matches[0].text

    assert len(text) == SNIPPET_CHARACTERS + 2
    assert abs(text.index("NEEDLE") - len(text) // 2) < 10


def test_what_does_not_fit_is_counted_all_the_same(scratch: Scratch) -> None:
    put(scratch, [{"m": f"error {n} {'x' * 100}"} for n in range(100)])

    by_count = search(scratch, Search("error", limit=3))
    by_bytes = search(scratch, Search("error", limit=99, budget_bytes=500))

    assert (len(by_count.matches), by_count.total) == (3, 100)
    assert (0 < len(by_bytes.matches) < 5, by_bytes.total) == (True, 100)


def test_context_lines_come_with_references_of_their_own(scratch: Scratch) -> None:
    put(scratch, [{"m": str(n)} for n in range(5)])

    match = search(scratch, Search("^0$|^2$", context=2, limit=9)).matches[1]

    assert [str(reference) for reference, _ in match.before] == ["R0001:1", "R0001:2"]
    assert match.after == (
        (Reference("R0001", 4), '{"m":"3"}'),
        (Reference("R0001", 5), '{"m":"4"}'),
    )


def test_a_swept_result_makes_the_answer_incomplete(scratch: Scratch) -> None:
    put(scratch, [{"m": "x"}])
    stored = scratch.put([{"m": "x", "n": 2}], tool="t", arguments={})
    (scratch.root / "inc" / stored.file).unlink()

    found = search(scratch, Search("x"))

    assert (found.total, found.why_incomplete) == (
        1,
        "the rows of R0002 were swept; search again: t {}",
    )
    with pytest.raises(ScratchError, match="R0002 were swept"):
        search(scratch, Search("x", handles=("R0002",)))


def test_an_unsafe_pattern_is_refused_with_a_way_round_it(scratch: Scratch) -> None:
    with pytest.raises(PatternError, match="RE2 has no look-around"):
        search(scratch, Search("(?=x)"))


def test_nothing_stored_is_nothing_found(scratch: Scratch) -> None:
    assert search(scratch, Search("x")).total == 0


def test_a_runaway_pattern_on_a_long_line_is_harmless(scratch: Scratch) -> None:
    put(scratch, [{"m": "a" * 600_000}])

    began = time.monotonic()
    found = search(scratch, Search("(a+)+$|(x+x+)+y"))

    assert (found.total, time.monotonic() - began < 60) == (1, True)


def test_a_search_stops_when_its_time_is_used_up(tmp_path: Path) -> None:
    ticks = iter(range(1000))
    scratch = Scratch(tmp_path, "inc", monotonic=lambda: float(next(ticks)))
    put(scratch, [{"m": "x"}] * 50)

    found = search(scratch, Search("x"))

    assert found.why_incomplete == "stopped after 2 s in R0001; name fewer handles"
    assert found.lines_searched < 50

"""An order in pieces is found over the rows that make it, and told by the first of them."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.injection import sign
from copilot.safe_text import safe_text
from copilot.values import Json
from tests.injection_held_out import SPLIT, Attack, attacks
from tests.injection_phrases import PLAIN

QUIET: list[Json] = [{"message": f"copied block {number}"} for number in range(20)]


def said(*texts: str) -> list[Json]:
    """Return a row for each text."""
    return [{"message": text} for text in texts]


@pytest.mark.parametrize("attack", [attack for attack in attacks() if attack.kind == SPLIT])
def test_an_order_in_pieces_is_told_by_its_first_row(attack: Attack) -> None:
    """Or flagged as any other: one of its rows may speak to the model by itself."""
    rows = said(*map(safe_text, attack.rows))

    alone, among = sign(rows, {}), sign([*QUIET, *rows, *QUIET], {})

    assert alone in ({"across": 1}, {"lines": 1, "first": 1})
    assert among in ({"across": len(QUIET) + 1}, {"lines": 1, "first": len(QUIET) + 1})


def test_it_is_found_in_any_column_and_beside_rows_that_are_flagged_alone() -> None:
    rows: list[Json] = [
        {"time": "10:00", "message": "ok", "user": "ignore all"},
        {"time": "10:01", "message": PLAIN},
        {"time": "10:02", "message": "ok", "user": "previous instructions"},
        {"time": "10:03", "message": "ok", "user": "bob"},
    ]

    assert sign(rows, {}) == {"lines": 1, "first": 2, "across": 1}


def test_what_reads_so_by_itself_is_no_order_in_pieces() -> None:
    assert sign([*QUIET, *said(PLAIN), *QUIET], {}) == {"lines": 1, "first": 21}


def test_rows_in_another_order_make_none() -> None:
    assert sign(said("x: instructions", "x: previous", "x: all", "x: ignore"), {}) == {}


def test_hardly_a_page_of_public_logs_and_tickets_makes_one(shared_data: Path) -> None:
    """Recorded talks with models do: their roles and contents stand in lines of their own."""
    found = []
    for path in sorted(shared_data.rglob("*")):
        if path.suffix in (".log", ".csv", ".txt") or (
            path.suffix == ".json" and "holmesgpt" not in path.parts
        ):
            lines = path.read_text(errors="replace").splitlines()
            pages = [lines[start : start + 200] for start in range(0, min(len(lines), 4000), 200)]
            found += [(path.name, page) for page in pages if "across" in sign(said(*page), {})]

    assert [name for name, _ in found] == []


def test_hostile_rows_cost_no_more_than_their_length() -> None:
    shapes = (":" * 5000, "ignore all " * 500, "a." * 2500, "\\u0041" * 900, "]=)>|" * 1000)
    begun = time.process_time()

    for shape in shapes:
        sign([{"message": f"{number}{shape}"} for number in range(500)], {})

    assert time.process_time() - begun < 30


@given(st.lists(st.recursive(st.text() | st.none() | st.integers(), st.lists, max_leaves=5)))
def test_any_rows_can_be_looked_at(rows: list[Json]) -> None:
    json.dumps(sign(rows, {}))

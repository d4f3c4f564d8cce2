"""A slice is bounded in lines, bytes and columns at once, and says where to go on."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.errors import ScratchError
from copilot.scratch.reading import Slice, Span
from copilot.scratch.store import Scratch
from copilot.values import JsonObject


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path, "inc")


def put(scratch: Scratch, rows: list[JsonObject]) -> str:
    return scratch.put(rows, tool="t", arguments={}).handle


def numbers(found: Slice) -> list[int]:
    return [line.number for line in found.lines]


def test_a_slice_goes_on_where_it_ended(scratch: Scratch) -> None:
    handle = put(scratch, [{"n": n} for n in range(50)])

    first = scratch.read(handle, Span(count=20), budget_bytes=1000)
    assert first.next_line
    second = scratch.read(handle, Span(first=first.next_line, count=40), budget_bytes=1000)

    assert numbers(first) + numbers(second) == list(range(1, 51))
    assert (first.next_column, second.next_line, second.total_lines) == (None, None, 50)
    assert first.lines[6].text == '{"n":6}'


def test_a_line_that_does_not_fit_is_left_for_the_next_slice(scratch: Scratch) -> None:
    handle = put(scratch, [{"n": "x" * 100} for _ in range(5)])

    found = scratch.read(handle, Span(count=5), budget_bytes=250)

    assert (numbers(found), found.next_line, found.next_column) == ([1, 2], 3, None)


def test_a_single_line_of_600_kb_is_read_in_slices(scratch: Scratch) -> None:
    text = "".join(f"{n:06}" for n in range(100_000))
    handle = put(scratch, [{"message": text}])
    parts = []
    span: Span | None = Span()
    while span:
        found = scratch.read(handle, span, budget_bytes=50_000)
        assert len(found.lines[0].text.encode()) <= 50_000
        parts.append(found.lines[0].text)
        span = Span(start=found.next_column) if found.next_column else None

    assert "".join(parts) == scratch.line(handle, 1)
    assert len(parts) == 13


def test_a_slice_can_be_a_range_of_columns(scratch: Scratch) -> None:
    handle = put(scratch, [{"a": "0123456789"}, {"a": "x"}])

    found = scratch.read(handle, Span(count=1, start=6, stop=9), budget_bytes=100)
    column = scratch.read(handle, Span(count=2, start=6, stop=9), budget_bytes=100)

    assert [line.text for line in found.lines] == ["012"]
    assert (found.next_line, found.next_column, found.lines[0].is_cut) == (1, 9, True)
    assert [line.text for line in column.lines] == ["012", 'x"}']
    assert column.next_line is None


def test_a_cut_never_splits_a_character(scratch: Scratch) -> None:
    handle = put(scratch, [{"a": "é" * 50}])

    found = scratch.read(handle, Span(), budget_bytes=20)

    assert found.lines[0].text == '{"a":"' + "é" * 7


@pytest.mark.parametrize("first", [0, -1, 4, 10**18])
def test_a_line_outside_is_refused_with_those_inside(scratch: Scratch, first: int) -> None:
    handle = put(scratch, [{"n": n} for n in range(3)])

    with pytest.raises(ScratchError, match=f"R0001 has no line {first}; its lines are 1 to 3"):
        scratch.read(handle, Span(first=first), budget_bytes=100)


@pytest.mark.parametrize(
    "span", [Span(count=0), Span(count=-5), Span(start=-1), Span(start=5, stop=5)]
)
def test_a_range_that_is_none_is_refused(scratch: Scratch, span: Span) -> None:
    handle = put(scratch, [{"n": 1}])

    with pytest.raises(ScratchError, match=r"ask for at least 1|are no range"):
        scratch.read(handle, span, budget_bytes=100)


def test_columns_past_the_end_are_empty(scratch: Scratch) -> None:
    handle = put(scratch, [{"n": 1}])

    found = scratch.read(handle, Span(start=10**18), budget_bytes=100)

    assert (found.lines[0].text, found.next_line) == ("", None)


def test_an_empty_result_has_an_empty_slice(scratch: Scratch) -> None:
    found = scratch.read(put(scratch, []), Span(), budget_bytes=100)

    assert (found.lines, found.total_lines, found.next_line) == ((), 0, None)


@settings(max_examples=150, deadline=None)
@given(
    texts=st.lists(st.text(max_size=60), min_size=1, max_size=6),
    count=st.integers(1, 8),
    budget=st.integers(4, 200),
)
def test_following_the_cursor_reads_everything_within_the_budget(
    texts: list[str], count: int, budget: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scratch = Scratch(tmp_path_factory.mktemp("s"), "inc")
    handle = put(scratch, [{"t": text} for text in texts])
    read: dict[int, str] = {}
    span: Span | None = Span(count=count)
    while span:
        found = scratch.read(handle, span, budget_bytes=budget)
        assert sum(len(line.text.encode()) for line in found.lines) <= budget
        for line in found.lines:
            read[line.number] = read.get(line.number, "") + line.text
        start = found.next_column or 0
        span = Span(found.next_line, 1 if start else count, start) if found.next_line else None

    assert list(read.values()) == list(scratch.lines(handle))

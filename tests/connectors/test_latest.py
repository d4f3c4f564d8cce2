"""The last entry of each value of a field: what every logbook promises of `latest`."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.logbook import Filters, LastSeen, Latest, Logbook
from copilot.window import Window
from tests.connectors.logbooks import FILLED, ON_A_NODE, Event, Fill, after_noon, embedded, of

Filled = Callable[..., Logbook]
HOUR = Window(after_noon(0), after_noon(3600))
ASKED = Latest("workflow", window=HOUR)


@pytest.fixture(params=FILLED)
def filled(request: pytest.FixtureRequest, tmp_path: Path) -> Filled:
    """Return a function that makes a logbook of events."""
    fill: Fill = FILLED[request.param]
    url: str = request.getfixturevalue(request.param) if request.param in ON_A_NODE else ""
    return lambda *events: fill(tmp_path, events, url)


def every(book: Logbook, asked: Latest) -> list[LastSeen]:
    """Return the rows of all pages."""
    rows: list[LastSeen] = []
    while True:
        page = book.latest(asked)
        assert len(page.rows) <= asked.limit
        rows += page.rows
        if not page.next:
            return rows
        asked = replace(asked, after=page.next)


def test_each_value_comes_with_its_last_time_and_its_count(filled: Filled) -> None:
    book = filled(of("b", 10), of("a", 5.25), of("a", 1), of("b", 20), of("a", 3))

    page = book.latest(ASKED)

    assert page.rows == (
        LastSeen("a", after_noon(5.25), 3, None),
        LastSeen("b", after_noon(20), 2, None),
    )
    assert page.coverage.complete
    assert page.next == ""


def test_values_of_several_field_sets_are_one_row(filled: Filled) -> None:
    hosts = [Event(n, fields={"workflow": "a", "host": f"h{n}"}) for n in range(5)]

    assert filled(*hosts).latest(ASKED).rows == (LastSeen("a", after_noon(4), 5, None),)


def test_entries_without_the_field_or_with_an_empty_one_are_left_out(filled: Filled) -> None:
    book = filled(Event(1), of("", 2), of("a", 3))

    assert [row.value for row in book.latest(ASKED).rows] == ["a"]


def test_the_window_is_half_open(filled: Filled) -> None:
    book = filled(of("a", 0), of("a", 3600), of("b", -1), of("c", 3600), of("d", 3599))

    rows = book.latest(ASKED).rows

    assert [(row.value, row.last) for row in rows] == [
        ("a", after_noon(0)),
        ("d", after_noon(3599)),
    ]


@pytest.mark.parametrize(
    "filters",
    [
        Filters(text="step done"),
        Filters(text='"step done" -failed'),
        Filters(levels=("INFO",)),
        Filters(fields={"kind": "progress"}),
        Filters(text="step", fields={"kind": "progress"}, levels=("INFO",)),
    ],
)
def test_only_entries_that_match_the_filters_count(filled: Filled, filters: Filters) -> None:
    progress = {"workflow": "a", "kind": "progress"}
    other = {"workflow": "a", "kind": "chatter"}
    book = filled(
        Event(1, fields=progress),
        Event(2, fields=progress),
        Event(3, "heartbeat failed", "WARN", fields=other),
        Event(4, "heartbeat failed", "WARN", fields={"workflow": "b", "kind": "chatter"}),
    )

    rows = book.latest(replace(ASKED, filters=filters)).rows

    assert rows == (LastSeen("a", after_noon(2), 2, None),)


def test_an_ending_is_told_beside_the_last_entry(filled: Filled) -> None:
    book = filled(
        of("a", 1), of("a", 2, "workflow completed"), of("b", 3),
        of("c", 4, "workflow completed"), of("c", 5), of("d", 6, "workflow completed"),
    )  # fmt: skip
    asked = replace(ASKED, filters=Filters(text="step"), ending=Filters(text="completed"))

    assert book.latest(asked).rows == (
        LastSeen("a", after_noon(1), 1, after_noon(2)),
        LastSeen("b", after_noon(3), 1, None),
        LastSeen("c", after_noon(5), 1, after_noon(4)),
        LastSeen("d", None, 0, after_noon(6)),
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_of_any_size_neither_skip_nor_repeat(filled: Filled, limit: int) -> None:
    names = ["a", "B", "b", "a b", "é", "wf-1", "wf-10", "日本", "😀", '"', "%", "x" * 150]
    book = filled(*(of(name, place) for place, name in enumerate(names)))

    rows = every(book, replace(ASKED, limit=limit))

    assert [row.value for row in rows] == sorted(names)


def test_a_page_ends_where_it_must_though_other_values_do_not_match(filled: Filled) -> None:
    silent = [of(f"w{place}", place, "chatter") for place in range(9)]
    book = filled(*silent, of("w5", 20))

    rows = every(book, replace(ASKED, filters=Filters(text="step"), limit=2))

    assert rows == [LastSeen("w5", after_noon(20), 1, None)]


def test_the_newest_entry_of_the_logbook_is_told_whatever_the_filters(filled: Filled) -> None:
    book = filled(of("a", 5), Event(50, "noise"), Event(9999, "a clock that runs ahead"))

    page = book.latest(replace(ASKED, filters=Filters(text="nothing-like-it")))

    assert page.rows == ()
    assert page.newest == after_noon(50)


def test_the_newest_entry_may_be_older_than_the_window(filled: Filled) -> None:
    assert filled(of("a", -7200)).latest(ASKED).newest == after_noon(-7200)


def test_a_field_that_no_entry_has_gives_no_rows(filled: Filled) -> None:
    page = filled(of("a", 5)).latest(replace(ASKED, field='no"such'))

    assert (page.rows, page.next, page.coverage.complete) == ((), "", True)


def test_entries_without_a_time_are_counted_apart(tmp_path: Path) -> None:
    page = embedded(tmp_path, [of("a", None), of("b", 5)]).latest(ASKED)

    assert [row.value for row in page.rows] == ["b"]
    assert page.coverage.untimed == 1


def test_a_file_a_workflow_is_told_by_its_source(tmp_path: Path) -> None:
    book = embedded(tmp_path, [of("a", 1), of("b", 5)])

    assert book.latest(Latest("source")).rows == (LastSeen("events.jsonl", after_noon(5), 2, None),)


ENTRIES = st.lists(
    st.tuples(
        st.sampled_from("abcde"), st.integers(-50, 3700), st.sampled_from(["step", "end", "chat"])
    ),
    max_size=40,
)


@given(entries=ENTRIES, limit=st.integers(1, 6))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_pages_say_what_reading_every_entry_says(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[str, int, str]], limit: int
) -> None:
    book = embedded(tmp_path_factory.mktemp("drawn"), [of(*entry) for entry in entries])
    asked = Latest("workflow", Filters(text="step"), Filters(text="end"), HOUR, limit)

    rows = every(book, asked)

    def newest(workflow: str, word: str) -> datetime | None:
        times = [t for w, t, said in entries if (w, said) == (workflow, word) and 0 <= t < 3600]
        return after_noon(max(times)) if times else None

    seen = {(row.value, row.last, row.ended) for row in rows}
    expected = {(name, newest(name, "step"), newest(name, "end")) for name in "abcde"}
    assert seen == {row for row in expected if row[1] or row[2]}
    assert len(rows) == len(seen)


def test_the_embedded_logbook_keeps_the_contract(tmp_path: Path) -> None:
    promised: Logbook = EmbeddedLogbook(tmp_path / "l.db")

    assert promised.name == "local"

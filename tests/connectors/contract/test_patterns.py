"""What rose or vanished against a baseline: what every logbook promises of `patterns`."""

from datetime import timedelta

import pytest

from connectors.embedded_logbook import patterns
from connectors.logbook import Filters
from connectors.opensearch import patterns as remote
from copilot.window import ALWAYS, Window
from tests.connectors.contract.conftest import Add, Book
from tests.connectors.contract.test_search import NOON, at

HOUR = timedelta(hours=1)


def test_a_window_with_an_open_end_is_as_long_as_its_entries(book: Book, add: Add) -> None:
    add([at(second, f"step {second} done") for second in range(-3600, 3600, 60)])

    found = book.patterns(Window(NOON, None), Window(None, NOON), Filters())

    assert found.rose[0].lift == pytest.approx(1.0, rel=0.1)


def test_a_template_that_is_new_in_the_window_leads(book: Book, add: Add) -> None:
    before = [at(second, f"step {second} done") for second in range(-3600, 0, 60)]
    gone = [at(second, "heartbeat fine") for second in range(-3600, 0, 600)]
    during = [at(second, f"step {second} done") for second in range(0, 3600, 60)]
    new = [at(second, f"store-{second} refused", "ERROR") for second in range(100, 700, 100)]
    add([*before, *gone, *during, *new])

    found = book.patterns(Window(NOON, NOON + HOUR), None, Filters())

    first, second = found.rose
    assert (first.template, first.count, first.baseline_count) == (
        "ERROR a.B: store-<n> refused",
        6,
        0,
    )
    assert first.lift == pytest.approx(13.0)
    assert first.level == "ERROR"
    assert first.first == NOON + timedelta(seconds=100)
    assert [entry.message[-17:] for entry in first.samples] == [
        "store-100 refused",
        "store-600 refused",
    ]
    assert second.lift == pytest.approx(1.0)
    [vanished] = found.vanished
    assert (vanished.template, vanished.count, vanished.baseline_count) == (
        "INFO a.B: heartbeat fine",
        0,
        6,
    )
    assert vanished.last == NOON - timedelta(seconds=600)
    assert (found.total.value, found.baseline_total.value) == (66, 66)
    assert "same length of time just before" in found.coverage.notes[0]


def test_a_shorter_baseline_is_compared_by_rate(book: Book, add: Add) -> None:
    add([at(second, "x") for second in range(0, 7200, 10)])

    found = book.patterns(
        Window(NOON + HOUR, NOON + 2 * HOUR), Window(NOON, NOON + HOUR / 6), Filters()
    )

    assert found.rose[0].lift == pytest.approx(1.0, abs=0.05)


def test_over_all_time_troubles_come_before_the_frequent(book: Book, add: Add) -> None:
    add(
        [
            *(at(second, "usual work") for second in range(50)),
            at(60, "odd thing", "ERROR"),
            "GLIBC was not found",
        ],
    )
    add("untimed failure\n", "b.log")

    found = book.patterns(ALWAYS, None, Filters())

    assert [pattern.template for pattern in found.rose] == [
        "ERROR a.B: odd thing",
        "untimed failure",
        "GLIBC was not found",
        "INFO a.B: usual work",
    ]
    assert all(pattern.baseline_count == 0 for pattern in found.rose)
    assert found.rose[1].first is None


def test_samples_name_each_source_once(book: Book, add: Add) -> None:
    for place, name in enumerate(("a", "b", "c")):
        add([at(place, "x"), at(place + 10, "x")], f"{name}.log")

    [pattern] = book.patterns(ALWAYS, None, Filters()).rose

    assert [entry.id for entry in pattern.samples] == ["a.log:1", "b.log:1", "c.log:1", "c.log:2"]
    assert dict(pattern.sources) == {"a.log": 2, "b.log": 2, "c.log": 2}


def test_a_large_window_is_mined_from_a_sample_and_said_so(
    book: Book, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (patterns, remote):
        monkeypatch.setattr(module, "MINED", 10)
    add([at(second, "x") for second in range(100)])

    found = book.patterns(ALWAYS, None, Filters(text="x"))

    assert found.rose[0].count == 100
    assert "estimates" in found.coverage.notes[0]

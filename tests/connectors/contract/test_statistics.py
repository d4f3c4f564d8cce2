"""Overview, fields, context and trace."""

from datetime import UTC, datetime, timedelta

import pytest

from connectors import time_slots
from connectors.embedded_logbook import statistics
from connectors.logbook import Filters, Search
from connectors.opensearch import overview
from copilot.errors import NotFoundError, UsageError
from copilot.window import ALWAYS, Window
from tests.connectors.contract.conftest import Add, Book
from tests.connectors.contract.test_search import NOON, at

MINUTE = timedelta(minutes=1)


def test_an_overview_counts_by_time_level_and_source(book: Book, add: Add) -> None:
    add([at(0, "a"), at(30, "b", "ERROR"), at(90, "c", "FATAL"), at(600, "d")], "a.log")
    add(["untimed", at(95, "e", "WARN")], "b.log")

    seen = book.overview(ALWAYS, Filters(), MINUTE)

    assert seen.total.value == 6
    assert seen.coverage.untimed == 1
    assert (seen.first, seen.last) == (NOON, NOON + 10 * MINUTE)
    assert [(b.count, b.errors) for b in seen.buckets] == [(2, 1), (2, 1), *[(0, 0)] * 8, (1, 0)]
    assert seen.buckets[0].start == NOON
    assert seen.levels == (("FATAL", 1), ("ERROR", 1), ("WARN", 1), ("INFO", 2), ("", 1))
    assert seen.sources == (("a.log", 4), ("b.log", 2))


@pytest.mark.parametrize("text", ["", "x"])
@pytest.mark.parametrize("edge", [0, 7, 60, 61.0005])
def test_the_counts_agree_however_the_window_cuts_the_minutes(
    book: Book, add: Add, text: str, edge: float
) -> None:
    add(
        [at(seconds, "x", "ERROR" if seconds % 50 == 0 else "INFO") for seconds in range(0, 900, 5)]
    )
    window = Window(NOON + timedelta(seconds=edge), NOON + timedelta(seconds=600 + edge))

    seen = book.overview(window, Filters(text=text), 2 * MINUTE)
    found = book.search(Search(Filters(text=text), window, limit=10_000))

    assert seen.total.value == found.total.value == len(found.entries) == 120
    assert sum(bucket.count for bucket in seen.buckets) == 120
    assert dict(seen.levels) == {"ERROR": 12, "INFO": 108}


def test_without_a_bucket_about_24_are_chosen(book: Book, add: Add) -> None:
    add([at(hour * 3600, "x") for hour in range(48)])

    seen = book.overview(ALWAYS, Filters(), None)

    assert seen.bucket == timedelta(hours=2)
    assert len(seen.buckets) == 24


def test_far_too_many_buckets_are_made_wider_and_said_so(book: Book, add: Add) -> None:
    add([at(0, "x"), at(86_400 * 30, "x")])

    seen = book.overview(ALWAYS, Filters(), timedelta(seconds=1))

    assert len(seen.buckets) <= time_slots.MAX_BUCKETS
    assert "would be more than" in seen.coverage.notes[0]


@pytest.mark.bad_input("B039")
def test_a_stretch_of_silence_is_a_hole(book: Book, add: Add) -> None:
    noisy = [*range(0, 3600, 30), *range(3600 * 6, 3600 * 7, 30)]
    add([at(second, "x") for second in noisy])

    seen = book.overview(Window(NOON, NOON + timedelta(hours=12)), Filters(), None)

    assert seen.holes == (
        Window(NOON + timedelta(seconds=3570), NOON + timedelta(hours=6)),
        Window(NOON + timedelta(seconds=3600 * 7 - 30), NOON + timedelta(hours=12)),
    )


def test_top_templates_of_a_large_logbook_come_from_a_sample(
    book: Book, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (statistics, overview):
        monkeypatch.setattr(module, "MINED", 10)
    add([at(second, f"step {second} of 9") for second in range(100)])

    seen = book.overview(ALWAYS, Filters(), None)

    assert [(pattern.template, pattern.count) for pattern in seen.top] == [
        ("INFO a.B: step <n> of <n>", 100)
    ]
    assert "estimates" in seen.coverage.notes[0]


def test_an_empty_window_has_an_overview(book: Book, add: Add) -> None:
    add("untimed\n")
    window = Window(NOON, NOON + MINUTE)

    seen = book.overview(window, Filters(), None)

    assert (seen.total.value, seen.buckets, seen.top, seen.coverage.untimed) == (0, (), (), 1)


def test_fields_come_with_counts_and_values(book: Book, add: Add) -> None:
    add([at(0, "a"), at(1, "b", "ERROR"), "x"], "a.log")

    seen = book.fields()

    assert seen.total == 3
    named = {field.name: (field.count, field.values) for field in seen.fields}
    assert named["level"] == (3, (("INFO", 1), ("ERROR", 1))) or named["level"][0] == 2
    assert named["component"] == (2, (("a.B", 2),))
    assert named["source"] == (3, (("a.log", 3),))


def test_context_is_in_file_order_whatever_the_times_say(book: Book, add: Add) -> None:
    add([at(9, "one"), at(1, "two", "ERROR"), "  more", at(5, "three"), at(0, "four")])

    found = book.context("app.log", 3, before=1, after=1)

    assert [entry.line for entry in found.entries] == [1, 2, 4]
    assert (found.first, found.last) == (NOON + timedelta(seconds=1), NOON + timedelta(seconds=9))


def test_context_of_elements_on_one_line_is_in_their_order(book: Book, add: Add) -> None:
    add("[" + ", ".join(f'{{"n": {n}}}' for n in range(5)) + "]", "a.json")

    found = book.context("a.json", 1, before=9, after=9)

    assert [entry.record for entry in found.entries] == [0, 1, 2, 3, 4]


def test_context_beyond_the_end_says_where_the_end_is(book: Book, add: Add) -> None:
    add(["one", "two"])

    found = book.context("app.log", 99, before=0, after=5)

    assert [entry.line for entry in found.entries] == [2]
    assert "lines 1 to 2" in found.coverage.notes[0]
    with pytest.raises(NotFoundError, match="no source"):
        book.context("other.log", 1, before=0, after=0)


def test_a_trace_merges_sources_by_time(book: Book, add: Add) -> None:
    add([at(2, "ran job-7 fine"), at(4, "job-70 is another")], "b.log")
    add([at(1, "took job-7:"), at(3, "job 7")], "a.log")
    add("time,job,message\n2024-01-01T12:00:09Z,job-7,left\n", "c.csv")

    found = book.trace("job-7", ALWAYS, 10)

    assert [(entry.source, entry.line) for entry in found.entries] == [
        ("a.log", 1),
        ("b.log", 1),
        ("c.csv", 2),
    ]
    with pytest.raises(UsageError, match="identifier"):
        book.trace("***", ALWAYS, 10)


def test_times_in_mixed_zones_are_ordered_by_instant(book: Book, add: Add) -> None:
    add(["2024-10-27T02:30:00+01:00 b", "2024-10-27T02:30:00+02:00 a", "2024-10-27T01:45:00Z c"])

    found = book.search(Search(order="oldest"))

    assert [entry.message[-1] for entry in found.entries] == ["a", "b", "c"]
    assert found.entries[0].time == datetime(2024, 10, 27, 0, 30, tzinfo=UTC)

"""Search: what is found, what is counted, and pages that neither skip nor repeat."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.embedded_logbook import search as embedded
from connectors.logbook import Entry, Filters, Order, Search, physical_line
from connectors.opensearch import search as remote
from copilot.errors import UsageError
from copilot.window import ALWAYS, Window
from tests.connectors.contract.conftest import Add, Book
from tests.connectors.logbook.conftest import DRAWN

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def at(seconds: float, text: str, level: str = "INFO") -> str:
    time = (NOON + timedelta(seconds=seconds)).isoformat(timespec="microseconds")
    return f"{time.replace('+00:00', 'Z')} {level} a.B: {text}"


def texts(book: Book, text: str) -> list[str]:
    found = book.search(Search(Filters(text=text), order="oldest"))
    return [entry.message.partition("a.B: ")[2] or entry.message for entry in found.entries]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("application_1445144423722_0020", ["ask for application_1445144423722_0020: done"]),
        ("APPLICATION_1445144423722_0020", ["ask for application_1445144423722_0020: done"]),
        ("prod-db", ["(tried: prod-db:3333) - no"]),
        ("prod-db:3333", ["(tried: prod-db:3333) - no"]),
        ("c.log", ["open /a/b/c.log failed"]),
        ("/a/b/c.log", ["open /a/b/c.log failed"]),
        ("prod", ["(tried: prod-db:3333) - no", "prod db"]),
        ('"prod db"', ["(tried: prod-db:3333) - no", "prod db"]),
        ("failed open", ["open /a/b/c.log failed"]),
        ('"failed open"', []),
        ("fail*", ["open /a/b/c.log failed"]),
        ("prod -tried", ["prod db"]),
        ("prod NOT tried", ["prod db"]),
        ("prod -prod-db", ["prod db"]),
        ("failed OR done", ["ask for application_1445144423722_0020: done", "open /a/b/c.log failed"]),
        ("open AND failed", ["open /a/b/c.log failed"]),
        ("éclair", ["Éclair café"]),
        ("nothing-like-it", []),
    ],
)  # fmt: skip
def test_the_words_of_a_query(book: Book, add: Add, query: str, expected: list[str]) -> None:
    add(
        [
            at(0, "ask for application_1445144423722_0020: done"),
            at(1, "(tried: prod-db:3333) - no"),
            at(2, "prod db"),
            at(3, "open /a/b/c.log failed"),
            at(4, "Éclair café"),
        ]
    )

    assert texts(book, query) == expected


def test_only_excluded_words_leave_the_rest(book: Book, add: Add) -> None:
    add([at(0, "one"), at(1, "two")])

    assert texts(book, "-one") == ["two"]


def test_what_stands_inside_a_longer_word_is_found_and_said_so(book: Book, add: Add) -> None:
    add([at(0, "container_1445144423722_0020_01"), "untimed x_0020_y"])

    found = book.search(Search(Filters(text="0020")))

    assert found.total.value == 2
    assert "inside longer words" in found.coverage.notes[0]
    assert found.coverage.complete


def test_a_bounded_look_inside_words_is_not_called_complete(
    book: Book, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (embedded, remote):
        monkeypatch.setattr(module, "SCANNED", 3)
    add([at(0, "x_0020_y"), *(at(n, "z") for n in range(1, 6))])

    found = book.search(Search(Filters(text="0020")))

    assert found.total.value == 0
    assert found.total.relation == "at_least"
    assert "newest 3 entries" in found.coverage.why_incomplete


def test_punctuation_alone_is_looked_for_as_it_stands(book: Book, add: Add) -> None:
    add([at(0, "<@=== start"), at(1, "100%"), at(2, "a_b")])

    assert texts(book, "<@===") == ["<@=== start"]
    assert texts(book, "%") == ["100%"]


@given(st.text(max_size=40) | st.lists(st.sampled_from(['"', "*", "-", "NEAR(", "a", "OR", "AND", "NOT", "(", ")", ":", "^", "+", "{", "'", "\x00", "\ud800", "a:b", "b*", '"a b"', ";--"])).map(" ".join))  # fmt: skip
@settings(DRAWN, max_examples=300)
def test_no_text_is_an_error(one_line: EmbeddedLogbook, text: str) -> None:
    one_line.search(Search(Filters(text=text)))
    one_line.search(Search(Filters(text=text), order="ranked", window=Window(NOON, None)))


@pytest.fixture(scope="module")
def one_line(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedLogbook:
    """Return a logbook that all examples of a property may read."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "a.log").write_text("2024-01-01 12:00:00Z a b a:b NEAR OR\nx\n")
    book = EmbeddedLogbook(folder / "l.db")
    book.import_file(folder / "a.log", "a.log")
    return book


def test_a_text_of_hundreds_of_words_is_refused_with_the_limit(book: Book, add: Add) -> None:
    add("x\n")

    with pytest.raises(UsageError, match="at most 60"):
        book.search(Search(Filters(text="a " * 100)))


def test_a_window_is_half_open_to_the_microsecond(book: Book, add: Add) -> None:
    moments = [0.0, 0.0005, 0.001, 1.0, 1.0005, 1.001]
    add([at(moment, f"m{place}") for place, moment in enumerate(moments)])

    def held(start: float, end: float) -> list[str]:
        window = Window(NOON + timedelta(seconds=start), NOON + timedelta(seconds=end))
        found = book.search(Search(window=window, order="oldest"))
        assert found.total.value == len(found.entries)
        return [entry.message[-2:] for entry in found.entries]

    assert held(0, 1) == ["m0", "m1", "m2"]
    assert held(0.0005, 1.0005) == ["m1", "m2", "m3"]
    assert held(0.0006, 1.0006) == ["m2", "m3", "m4"]


def test_a_window_holds_no_untimed_entry_but_counts_them(book: Book, add: Add) -> None:
    add(["lost disk", at(0, "disk")])

    window = Window(NOON, NOON + timedelta(seconds=1))
    inside = book.search(Search(Filters(text="disk"), window))
    everywhere = book.search(Search(Filters(text="disk")))

    assert (inside.total.value, inside.coverage.untimed) == (1, 1)
    assert (everywhere.total.value, everywhere.coverage.untimed) == (2, 1)


def test_nothing_in_the_window_says_what_is_outside(book: Book, add: Add) -> None:
    add([at(0, "disk")])

    found = book.search(Search(Filters(text="disk"), Window(NOON + timedelta(days=1), None)))

    assert found.total.value == 0
    assert found.coverage.complete
    assert (
        "1 entries match outside the window, from 2024-01-01T12:00:00Z" in found.coverage.notes[-1]
    )


def test_filters_are_exact(book: Book, add: Add) -> None:
    add([at(0, "x", "ERROR"), at(1, "y", "FATAL"), at(2, "z")], "a.log")
    add('{"ts": "2024-01-01T12:00:00Z", "pod": "web-0", "msg": "w"}\n', "b.log")

    def found(**filters: object) -> int:
        return book.search(Search(Filters(**filters))).total.value  # type: ignore[arg-type] # by name

    assert found(levels=("ERROR", "FATAL")) == 2
    assert found(levels=("error",)) == 1
    assert found(levels=("",)) == 1
    assert found(sources=("b.log",)) == 1
    assert found(sources=("b",)) == 0
    assert found(fields={"pod": "web-0"}) == 1
    assert found(fields={"pod": "web"}) == 0
    assert found(fields={"service": "web", "level": "ERROR"}) == 0
    assert found(fields={"component": "a.B", "source": "a.log"}, text="y") == 1
    assert found(fields={'no "such': "x"}) == 0
    with pytest.raises(UsageError, match="not a level"):
        found(levels=("LOUD",))


def test_the_best_match_comes_first(book: Book, add: Add) -> None:
    add([at(0, "disk and many other words in one long line"), at(1, "disk disk"), at(2, "other")])

    found = book.search(Search(Filters(text="disk"), order="ranked"))

    assert [entry.line for entry in found.entries] == [2, 1]


def test_first_and_last_are_those_of_all_matches(book: Book, add: Add) -> None:
    add([at(seconds, "x") for seconds in range(10)])

    found = book.search(Search(limit=2))

    assert (found.first, found.last) == (NOON, NOON + timedelta(seconds=9))


@pytest.mark.parametrize("cursor", ["nonsense", "1/2/3", "1/0x0.0p+0/abcdefabcdef", "9" * 400])
def test_a_cursor_of_another_search_is_refused(book: Book, add: Add, cursor: str) -> None:
    add([at(0, "x"), at(1, "x")])
    real = book.search(Search(limit=1)).cursor

    with pytest.raises(UsageError, match="another search"):
        book.search(Search(limit=1, cursor=cursor))
    with pytest.raises(UsageError, match="another search"):
        book.search(Search(Filters(text="x"), limit=1, cursor=real))


LINES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["disk full", "disk", "net"]), st.booleans()),
    min_size=1,
    max_size=25,
)


ASKED = st.tuples(
    st.sampled_from(["newest", "oldest", "ranked"]), st.sampled_from(["", "disk"]), st.booleans()
)


@given(LINES, LINES, st.integers(1, 7), ASKED)
@settings(DRAWN, max_examples=60)
def test_pages_hold_every_match_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[int, str, bool]],
    second: list[tuple[int, str, bool]],
    limit: int,
    asked: tuple[Order, str, bool],
) -> None:
    order, text, bounded = asked
    book = EmbeddedLogbook(tmp_path_factory.mktemp("pages") / "l.db")
    for name, rows in (("b.log", first), ("a.log", second)):
        path = book.path.with_name(name)
        # untimed rows only at the top, since a row below a timed one would carry its time
        timed_last = sorted(rows, key=lambda row: row[2])
        path.write_text("".join(f"{at(s, t) if timed else t}\n" for s, t, timed in timed_last))
        book.import_file(path, name)
    window = Window(NOON + timedelta(seconds=1), NOON + timedelta(seconds=3)) if bounded else ALWAYS

    entries: list[Entry] = []
    cursor, totals = "", set()
    while True:
        page = book.search(Search(Filters(text=text), window, order, limit, cursor))
        entries += page.entries
        totals.add(page.total.value)
        cursor = page.cursor
        if not cursor:
            break

    expected = sum(
        text in t and (1 <= s < 3 and timed if bounded else True)
        for rows in (first, second)
        for s, t, timed in rows
    )
    assert totals == {expected}
    assert len({entry.id for entry in entries}) == len(entries) == expected
    if order != "ranked":
        times = [entry.time for entry in entries if entry.time]
        assert times == sorted(times, reverse=order == "newest")
        assert all(entry.time is None for entry in entries[len(times) :])


@pytest.mark.bad_input("B026")
def test_entries_of_one_instant_are_all_read_page_by_page(book: Book, add: Add) -> None:
    add([at(0, f"n{number}") for number in range(310)], "a.log")
    add([at(0, f"n{number}") for number in range(310, 620)], "b.log")

    seen: list[str] = []
    asked = Search(limit=50)
    while True:
        page = book.search(asked)
        seen += [entry.id for entry in page.entries]
        if not page.cursor:
            break
        asked = Search(limit=50, cursor=page.cursor)

    assert len(seen) == len(set(seen)) == page.total.value == 620


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_those_without_a_time_come_last_page_by_page(book: Book, add: Add, order: Order) -> None:
    add(["x", *(at(n, "x") for n in range(7))], "a.log")
    add(["x", "x"], "b.log")

    times = []
    asked = Search(Filters(text="x"), order=order, limit=3)
    while True:
        page = book.search(asked)
        times += [entry.time for entry in page.entries]
        if not page.cursor:
            break
        asked = Search(Filters(text="x"), order=order, limit=3, cursor=page.cursor)

    timed = sorted((time for time in times if time), reverse=order == "newest")
    assert times == [*timed, None, None, None]
    assert len(timed) == 7


def test_a_quote_is_found_on_its_physical_line(
    book: EmbeddedLogbook, put: Callable[[str, str], Path]
) -> None:
    path = put(
        "a.log", at(0, "x", "ERROR") + "\nTraceback (most recent call last):\n\n  f\nKeyError: 1\n"
    )
    list(book.import_files([path], path.parent))

    [entry] = book.search(Search(Filters(text="KeyError"))).entries
    offset = entry.message.index("KeyError")

    assert physical_line(entry, offset) == 5
    assert path.read_text().split("\n")[4] == "KeyError: 1"


def test_a_value_of_a_column_stands_on_its_row(book: Book, add: Add) -> None:
    add('time,pod,message\n2024-01-01 12:00:00,web-0,"a\nb boom"\n', "a.csv")

    [entry] = book.search(Search(Filters(text="boom"))).entries

    assert not entry.verbatim
    assert physical_line(entry, entry.message.index("boom")) == 2
    assert book.search(Search(Filters(text="web-0"))).total.value == 1


def test_escaped_newlines_in_json_do_not_hide_the_next_word(book: Book, add: Add) -> None:
    add('{"msg": "first\\nTraceback\\tdeep"}\n')

    assert book.search(Search(Filters(text="Traceback deep"))).total.value == 1

"""Templates, and what rose or vanished against a baseline."""

import time
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.embedded_logbook import EmbeddedLogbook, patterns
from connectors.logbook import Filters
from connectors.templates import MAX_TEMPLATES, OTHER, TemplateMiner
from copilot.window import ALWAYS, Window
from tests.connectors.logbook.conftest import DRAWN, Add
from tests.connectors.logbook.test_search import NOON, at

HOUR = timedelta(hours=1)


def mined(*messages: str) -> list[str]:
    miner = TemplateMiner()
    numbers = [miner.add(message) for message in messages]
    return [miner.text(number) for number in dict.fromkeys(numbers)]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("2015-10-18 18:01:47,978 INFO [main] x: 5 of 7", "INFO [main] x: <n> of <n>"),
        ("Fri Jun  9 11:53:48 2017: done", "Fri Jun <n> <time> <n>: done"),
        ("081109 203615 148 INFO dfs: blk_-3886 of /10.251.73.220:50010", "INFO dfs: blk_-<n> of /<ip>"),
        ("id 81e395e3-e2be-46a4-870d-9c775433c0bd took 12ms", "id <uuid> took <size>"),
        ("trace 373de7115be9033c8e9c7db5a10e6b13 at 0x7f59", "trace <hex> at <hex>"),
        ("RequestID: k92x86k8msd", "RequestID: <id>"),
        ("/a/file123.root (exit=70)", "/a/file<n>.root (exit=<n>)"),
        ("node-12.example.org:443", "node-<n>.example.org:<n>"),
        ("no values here", "no values here"),
    ],
)  # fmt: skip
def test_values_are_masked(message: str, expected: str) -> None:
    assert mined(message) == [expected]


def test_messages_that_differ_in_one_word_are_one_template() -> None:
    assert mined("user ann logged in from the office", "user bob logged in from the office") == [
        "user <*> logged in from the office"
    ]


def test_different_causes_stay_apart() -> None:
    found = mined(
        'PostgreSQL query failed: syntax error at or near "SELCT" - Query: SELCT * FROM users',
        "PostgreSQL query failed: duplicate key value violates unique constraint auth_pkey",
        "Authentication system error for user user_1 - Error: certificate expired",
        "Authentication system error for user user_2 - Error: certificate expired",
    )

    assert len(found) == 3


def test_an_exception_is_told_by_its_last_line() -> None:
    one = 'Traceback (most recent call last):\n  File "a.py", line {}\nImportError: lib'

    assert mined(one.format(1), one.format(2)) == [
        "Traceback (most recent call last): ⏎ ImportError: lib"
    ]
    assert len(mined(one, one.replace("ImportError", "KeyError").replace("last)", "last) "))) == 2


def test_an_object_is_told_by_its_message_or_its_keys() -> None:
    assert mined('{"level": "x", "msg": "took 5 s"}') == ["took <n> s"]
    assert mined('{"b": 1, "a": 2}', '{\n "a": 7,\n "b": [1]\n}') == ["{a: b:}"]
    assert mined('{"broken": ') == ['{"broken":']


def test_own_masks_take_the_place_of_the_given_ones() -> None:
    miner = TemplateMiner([("task", r"task-\d+")])

    assert miner.text(miner.add("run task-7 at 10.0.0.1")) == "run <task> at <n>.<n>.<n>.<n>"


@DRAWN
@given(st.lists(st.text(max_size=80), max_size=20))
def test_any_message_has_a_template(messages: list[str]) -> None:
    miner = TemplateMiner()

    for message in messages:
        number = miner.add(message)
        assert miner.add(message) == number
        assert isinstance(miner.text(number), str)


def test_a_million_kinds_of_message_keep_to_a_bound() -> None:
    miner = TemplateMiner()
    alphabet = "abcdefghijklmnopqrst"

    def name(number: int) -> str:
        return "".join(alphabet[number // 20**place % 20] for place in range(5))

    numbers = {miner.add(f"{name(n)} {name(n * 7)}") for n in range(MAX_TEMPLATES + 500)}

    assert len(numbers) == MAX_TEMPLATES + 1
    assert miner.text(max(numbers)) == OTHER


def test_a_window_with_an_open_end_is_as_long_as_its_entries(
    book: EmbeddedLogbook, add: Add
) -> None:
    add([at(second, f"step {second} done") for second in range(-3600, 3600, 60)])

    found = book.patterns(Window(NOON, None), Window(None, NOON), Filters())

    assert found.rose[0].lift == pytest.approx(1.0, rel=0.1)


def test_a_template_that_is_new_in_the_window_leads(book: EmbeddedLogbook, add: Add) -> None:
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


def test_a_shorter_baseline_is_compared_by_rate(book: EmbeddedLogbook, add: Add) -> None:
    add([at(second, "x") for second in range(0, 7200, 10)])

    found = book.patterns(
        Window(NOON + HOUR, NOON + 2 * HOUR), Window(NOON, NOON + HOUR / 6), Filters()
    )

    assert found.rose[0].lift == pytest.approx(1.0, abs=0.05)


def test_over_all_time_troubles_come_before_the_frequent(book: EmbeddedLogbook, add: Add) -> None:
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


def test_samples_name_each_source_once(book: EmbeddedLogbook, add: Add) -> None:
    for place, name in enumerate(("a", "b", "c")):
        add([at(place, "x"), at(place + 10, "x")], f"{name}.log")

    [pattern] = book.patterns(ALWAYS, None, Filters()).rose

    assert [entry.id for entry in pattern.samples] == ["a.log:1", "b.log:1", "c.log:1", "c.log:2"]
    assert dict(pattern.sources) == {"a.log": 2, "b.log": 2, "c.log": 2}


def test_a_large_window_is_mined_from_a_sample_and_said_so(
    book: EmbeddedLogbook, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "MINED", 10)
    add([at(second, "x") for second in range(100)])

    found = book.patterns(ALWAYS, None, Filters(text="x"))

    assert found.rose[0].count == 100
    assert "every 10th line" in found.coverage.notes[0]


def test_a_long_line_is_mined_in_no_time() -> None:
    started = time.process_time()

    mined("a1" * 500_000, "[" * 100_000, "1." * 100_000, "<1>" * 100_000)

    assert time.process_time() - started < 1

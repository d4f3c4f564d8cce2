"""Templates, and what rose or vanished against a baseline."""

import gc
import time
import weakref
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.templates import DEFAULT_MASKS, MAX_TEMPLATES, OTHER, TemplateMiner
from tests.connectors.logbook.conftest import DRAWN

HOUR = timedelta(hours=1)


def mined(*messages: str) -> list[str]:
    miner = TemplateMiner()
    numbers = [miner.add(message) for message in messages]
    return [miner.text(number) for number in dict.fromkeys(numbers)]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("grid of 8x1 cells", "grid of <n>x<n> cells"),
        ("grid at 0x1F cells", "grid at <hex> cells"),
        ("2015-10-18 18:01:47,978 INFO [main] x: 5 of 7", "INFO [main] x: <n> of <n>"),
        ("Fri Jun  9 11:53:48 2017: done", "Fri Jun <n> <time> <n>: done"),
        ("081109 203615 148 INFO dfs: blk_-3886 of /10.251.73.220:50010", "INFO dfs: blk_-<n> of /<ip>"),
        ("id 81e395e3-e2be-46a4-870d-9c775433c0bd took 12ms", "id <uuid> took <size>"),
        ("trace 373de7115be9033c8e9c7db5a10e6b13 at 0x7f59", "trace <hex> at <hex>"),
        ("RequestID: k92x86k8msd", "RequestID: <id>"),
        ("/a/file123.root (exit=70)", "/a/file<n>.root (exit=<n>)"),
        ("node-12.example.org:443", "node-<n>.example.org:<n>"),
        ("at +123456e789012 now", "at <n> now"),
        ("took 1.00000000001d now", "took <size> now"),
        ("of abcdefab-abcd-abcd-abcd-abcdefabcdef", "of abcdefab-abcd-abcd-abcd-abcdefabcdef"),
        ("id 11111111-2222-3333-4444-0a1b2c3d4e5f67ab", "id <hex><n>ab"),
        ("key Z1a1a1a1a1a1a1", "key <id>"),
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


@given(st.lists(st.text(st.sampled_from("0189xXaf:.- é٣"), max_size=20), max_size=20))
def test_messages_that_are_alike_but_for_their_digits_get_the_masks_of_each(
    messages: list[str],
) -> None:
    miner = TemplateMiner()
    every_digit = TemplateMiner([*DEFAULT_MASKS, ("nine", r"a9a9a9")])  # tells digits apart

    for message in messages:
        number = miner.add(message)
        assert number == every_digit.add(message)
        assert miner.text(number) == every_digit.text(number)


HEX = st.text(st.sampled_from("019abeABE"), min_size=7, max_size=17)
UUID = st.builds("{:0>8.8}-{:0>4.4}-{:0>4.4}-{:0>4.4}-{:0>12.12}".format, HEX, HEX, HEX, HEX, HEX)
BETWEEN = st.sampled_from(
    ["", " ", "-", "_", ".", "/", "+", ",", "%", "x", "0x", "g", "é", "٣", "k"]
)


@given(
    st.lists(st.tuples(BETWEEN, st.sampled_from([HEX, UUID])), min_size=1, max_size=4),
    st.data(),
)
def test_messages_that_are_alike_but_for_their_hashes_get_the_masks_of_each(
    frame: list[tuple[str, st.SearchStrategy[str]]], data: st.DataObject
) -> None:
    miner = TemplateMiner()
    every_digit = TemplateMiner([*DEFAULT_MASKS, ("nine", r"a9a9a9")])

    for _ in range(3):
        message = "".join(between + data.draw(hashes) for between, hashes in frame)
        number = miner.add(message)
        assert number == every_digit.add(message)
        assert miner.text(number) == every_digit.text(number)


@pytest.mark.parametrize(
    ("message", "other"),
    [
        ("read 0a1b2c3d4e5f done", "read 9876fedc54321ba0dd done"),
        ("/rules/0a1b2c3d4e5f6789 12345678901234", "/rules/aabbcc112233ffff 99999999999999"),
        ("req-38101a0b-2096-447d-96ea-a692162415ae", "req-d6986b54-3735-4a42-907d-3ad1aa9a7bc5"),
    ],
)
def test_hashes_of_messages_of_one_shape_are_masked_once(message: str, other: str) -> None:
    miner = TemplateMiner()

    assert miner.add(message) == miner.add(other)
    assert len(miner._shapes) == 1


def test_a_mask_that_tells_digits_apart_is_kept_to() -> None:
    miner = TemplateMiner([("seven", "x7"), ("n", r"\d+")])

    numbers = [miner.add(text) for text in ("x7", "x8")]

    assert [miner.text(number) for number in numbers] == ["<seven>", "x<n>"]


@pytest.mark.bad_input("B74")
def test_a_million_kinds_of_message_keep_to_a_bound() -> None:
    miner = TemplateMiner()
    alphabet = "abcdefghijklmnopqrst"

    def name(number: int) -> str:
        return "".join(alphabet[number // 20**place % 20] for place in range(5))

    numbers = {miner.add(f"{name(n)} {name(n * 7)}") for n in range(MAX_TEMPLATES + 500)}

    assert len(numbers) == MAX_TEMPLATES + 1
    assert miner.text(max(numbers)) == OTHER


def test_a_long_line_is_mined_in_no_time() -> None:
    started = time.process_time()

    mined("a1" * 500_000, "[" * 100_000, "1." * 100_000, "<1>" * 100_000)

    assert time.process_time() - started < 5


def test_a_miner_goes_with_its_last_user_and_waits_for_no_search_for_garbage() -> None:
    miner = TemplateMiner()
    miner.add("copied 17 files")
    held = weakref.ref(miner)
    gc.disable()
    try:
        del miner

        assert held() is None
    finally:
        gc.enable()

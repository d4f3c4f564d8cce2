"""A body is counted before it is parsed, and what is no alert is refused in one line."""

import time
import tracemalloc

import pytest

from copilot.errors import UsageError
from copilot.intake.bounds import MAX_BYTES, load

BAD = {
    "B01 empty": b"",
    "B01 blanks": b" \n",
    "B05 truncated": b'{"version": "4", "alerts": [{"labels"',
    "B05 in a string": b'{"version": "4',
    "B06 no UTF-8": b'{"title": "\xff"}',
    "B07 UTF-16": '{"title": "x"}'.encode("utf-16"),
    "B10 too long": b'{"title": "' + b"x" * MAX_BYTES + b'"}',
    "B12 brackets": b"[" * 100_000,
    "B12 braces": b'{"a":' * 50_000,
    "B13 empty objects": b"[" + b",".join([b"{}"] * 349_000) + b"]",
    "B13 keys": b"{" + b",".join(b'"%d":1' % key for key in range(1001)) + b"}",
    "B14 long integer": b'{"n": ' + b"9" * 5000 + b"}",
    "B15 NaN": b'{"n": NaN}',
    "B15 Infinity": b'{"n": -Infinity}',
    "B15 too large": b'{"n": 1e999}',
    "B16 twice": b'{"title": "a", "title": "b"}',
    "two values": b"{} {}",
    "escapes without an end": b'"' + b'\\"' * 500_000,
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
@pytest.mark.bad_input("B01", "B05", "B06", "B07", "B10", "B12", "B13", "B14", "B15", "B16")
def test_a_bad_body_is_refused_at_once_in_one_short_line(body: bytes) -> None:
    started = time.process_time()
    with pytest.raises(UsageError) as refusal:
        load(body)

    assert time.process_time() - started < 5
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.bad_input("B13")
def test_a_bomb_of_empty_objects_is_refused_before_it_grows() -> None:
    tracemalloc.start()
    with pytest.raises(UsageError, match="values"):
        load(BAD["B13 empty objects"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20 << 20


def test_brackets_in_strings_do_not_count() -> None:
    assert load(b'{"title": "[[[[{{{{\\"' + b"[" * 1000 + b'"}') == {
        "title": '[[[[{{{{"' + "[" * 1000
    }


def test_a_byte_order_mark_is_no_harm() -> None:
    assert load(b'\xef\xbb\xbf{"title": "x"}') == {"title": "x"}

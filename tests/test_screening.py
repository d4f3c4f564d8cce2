"""The gate of text from outside: nothing secret passes it, nothing hidden, and nothing is lost."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from copilot.redact import Redactor
from copilot.safe_text import UNSAFE
from copilot.screening import screened, screened_text
from copilot.values import compact

REDACTOR = Redactor(b"key")
SECRET = (
    "AKIA" + "Q7ZT4M2XW9KD3VBN"
)  # made up, and put together so that no scanner takes it for one
TEXTS = st.text() | st.sampled_from([SECRET, f"\u202e{SECRET}\u200b", "a\r\nb", "\x1b]0;x\x07"])
JSON = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_nothing_hidden_and_nothing_secret_passes_in_a_text_or_a_key(value: Any) -> None:
    passed = compact(screened({"rows": value}, REDACTOR))

    assert SECRET not in passed
    assert not UNSAFE.search(passed)


@given(JSON)
def test_what_passed_passes_again_unchanged(value: Any) -> None:
    once = screened(value, REDACTOR)

    assert screened(once, REDACTOR) == once


def test_two_keys_that_look_alike_both_stay() -> None:
    assert screened({"a\u200b": 1, "a\\u200b": 2}, REDACTOR) == {"a\\u200b": 1, "a\\u200b_": 2}


def test_line_ends_of_windows_are_line_ends_and_a_lone_one_is_shown() -> None:
    assert screened_text("one\r\ntwo\rthree", REDACTOR) == "one\ntwo\\x0dthree"


def test_a_text_of_any_depth_passes() -> None:
    value: Any = "\u200b"
    for _ in range(5000):
        value = [value]

    passed: Any = screened(value, REDACTOR)

    while isinstance(passed, list):
        [passed] = passed
    assert passed == "\\u200b"

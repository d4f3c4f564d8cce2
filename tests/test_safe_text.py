"""What reaches a terminal is only ever seen, never obeyed."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.safe_text import one_line, safe_text

ANY_TEXT = st.text(st.characters())  # lone surrogates included
HOSTILE = st.text(st.sampled_from("ab \\\n\t\r\x1b\x07\x9b\x85\u202e\u200b\u2028\ud800\U000e0041…"))
TEXTS = ANY_TEXT | HOSTILE


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x1b]52;c;cm0gLXJm\x07", r"\x1b]52;c;cm0gLXJm\x07"),
        ("\x1b]8;;https://x\x1b\\link", "\\x1b]8;;https://x\\x1b\\link"),
        ("\x1b[2J\x9b2J", r"\x1b[2J\x9b2J"),
        ("ok\rFAILED", r"ok\x0dFAILED"),
        ("user\u202egnp.exe", r"user\u202egnp.exe"),
        ("pass\u200bword\ufeff", r"pass\u200bword\ufeff"),
        ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"),
        ("hi\U000e0041\U000e007f", r"hi\U000e0041\U000e007f"),
        ("half \ud83d", r"half \ud83d"),
        ("\x00\x7f", r"\x00\x7f"),
    ],
)
def test_what_would_act_is_spelled_out(raw: str, shown: str) -> None:
    assert safe_text(raw) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\nc",
        "naïve Zürich 日本語 العربية",
        "smile 😀 ⚠️",
        "[link=https://x]y[/link] [/foo] {{7*7}} %s <b>",
        r"C:\temp \x1b typed by a person",
    ],
)
def test_plain_text_and_markup_stay_as_typed(text: str) -> None:
    assert safe_text(text) == text


@given(TEXTS)
def test_the_output_holds_nothing_but_seen_characters_and_can_be_encoded(text: str) -> None:
    safe = safe_text(text)

    assert not [c for c in safe if unicodedata.category(c) in {"Cs", "Zl", "Zp"}]
    assert not [c for c in safe if unicodedata.category(c) == "Cc" and c not in "\n\t"]
    safe.encode()  # a lone surrogate would raise


@given(TEXTS, st.none() | st.integers(-1, 40))
def test_safe_text_is_a_fixed_point_and_keeps_its_limit(text: str, limit: int | None) -> None:
    safe = safe_text(text, limit=limit)

    assert safe_text(safe, limit=limit) == safe
    assert limit is None or len(safe) <= max(limit, 0)


@given(TEXTS)
def test_the_number_of_lines_never_changes(text: str) -> None:
    assert safe_text(text).count("\n") == text.count("\n")


@given(TEXTS, st.none() | st.integers(0, 40))
def test_one_line_has_no_line_break_and_is_a_fixed_point(text: str, limit: int | None) -> None:
    line = one_line(text, limit)

    assert len(line.splitlines()) <= 1
    assert one_line(line, limit) == line


def test_a_cut_is_marked() -> None:
    assert safe_text("abcdef", limit=4) == "abc…"
    assert one_line("abc\n\n  def", limit=6) == "abc d…"


def test_a_limit_keeps_the_work_small_however_long_the_text() -> None:
    assert safe_text("\x1b" * 10_000_000, limit=9) == r"\x1b\x1b…"

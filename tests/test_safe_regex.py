"""Patterns from outside match in time linear to the text, or are refused in plain words."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot import safe_regex
from copilot.errors import PatternError


@pytest.mark.parametrize(
    ("pattern", "way_out"),
    [
        ("(?=x)", "RE2 has no look-around; search for the plain text"),
        ("(?<!x)y", "RE2 has no look-around"),
        (r"(a)\1", "RE2 has no back-references"),
        ("(?P<n>a)(?P=n)", "RE2 has no back-references"),
        ("(?>a)", "RE2 has no atomic groups"),
        ("a++", "RE2 has no possessive quantifiers"),
        ("(?(1)a|b)", "RE2 has no conditionals"),
        (r"a\Z", r"write \z"),
        (r"\u00e9", r"write \x{1F4A9}"),
        ("a{1001}", "may count to 1000 in all"),
        ("((a{100}){100}){100}", "may count to 1000 in all"),
        (r"(.{0,500}x){2}", "too large once its repetitions are unrolled"),
        (r"\pL{900}", "may count to 1000 in all"),
        ("(", "put a backslash before a sign that is meant literally"),
        ("a{1,900}" * 9, "too large once its repetitions are unrolled"),
        ("x" * 10_000, "has 10000 bytes, at most 1024 are allowed"),
    ],
)
def test_what_re2_lacks_is_refused_at_once_with_a_way_round_it(pattern: str, way_out: str) -> None:
    began = time.process_time()

    with pytest.raises(PatternError) as caught:
        safe_regex.compile(pattern)

    assert way_out in str(caught.value)
    assert len(str(caught.value)) < 300
    assert time.process_time() - began < 5


def test_a_runaway_pattern_is_harmless() -> None:
    pattern = safe_regex.compile("(a+)+$")
    began = time.process_time()

    assert pattern.span("a" * 100_000 + "b") is None
    assert time.process_time() - began < 5


def test_refusals_leave_stderr_alone(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PatternError):
        safe_regex.compile("(")
    safe_regex.compile("[ab]*a[ab]{300}c").span("ab" * 20_000)

    assert capfd.readouterr() == ("", "")


def test_positions_are_characters_even_behind_wide_ones() -> None:
    text = "é😀\ud800 x"

    assert safe_regex.compile("x").span(text) == (text.index("x"), len(text))
    assert safe_regex.compile("é|x").span(text, 1) == (4, 5)


def test_ends_of_lines_are_ends() -> None:
    assert safe_regex.compile("^b$").found_in("a\nb\nc")


def test_every_match_is_found_from_left_to_right() -> None:
    assert list(safe_regex.compile(r"\d+").spans("a1b22")) == [(1, 2), (3, 5)]


@settings(max_examples=200, deadline=None)
@given(word=st.text(max_size=20), before=st.text(max_size=20), after=st.text(max_size=20))
def test_a_literal_is_found_where_python_finds_it(word: str, before: str, after: str) -> None:
    text = before + word + after

    assert safe_regex.compile(re.escape(word)).span(text) == (
        text.find(word),
        text.find(word) + len(word),
    )

"""What could mean two things, run code or explode is refused, with file and line."""

import contextlib
import time
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.errors import ConfigError
from copilot.strict_model import Strict, validated
from copilot.strict_yaml import load, parse


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: !!python/object:os.system x", "f:2: b: a tag (!) is refused"),
        ("a: !!python/object/apply:os.system [ls]", "f:1: a: a tag (!) is refused"),
        ("!!map {a: 1}", "f:1: a tag (!) is refused"),
        ("a: &x 1\nb: *x", "f:1: a: an anchor (&) is refused"),
        ("a: 1\nb: *x", "f:2: b: the alias *x is refused"),
        ("&x a: 1", "f:1: an anchor (&) is refused"),
        ("!!str a: 1", "f:1: a tag (!) is refused"),
        ("x:\n  a: 1\n  b: 2\n  a: 3", "f:4: x.a: given twice, first in line 2; keep one"),
        ("{a: 1, a: 2}", "f:1: a: given twice"),
        ("a:\n\tb: 1", "f:2: a tab cannot indent YAML; use spaces"),
        ("a: b: c", "f:1: a second `:` cannot stand here"),
        ("a: 1\n---\nb: 2", "f:2: a second document starts here"),
        ("a: 1\nb: \x00", "f:2: a control character cannot stand in YAML"),
        ("? [a]\n: b", "f:1: a key must be a plain word"),
        ("a: [1, 2", "f:1: expected ',' or ']'"),
        ("a: 1\nb: 'x", "f:2: found unexpected end of stream"),
        ("[" * 100, "f:1: 0.0.0: nested deeper than 16 levels"),
        ("a: 1\n" * 20_000, "f:1: the text is larger than 65,536 bytes"),
    ],
)  # fmt: skip
def test_what_is_not_plain_data_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, "f")

    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        "{a: " * 15_000,
        "- " * 30_000,
        "a:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 300)),
    ],
)
def test_deep_nesting_is_refused_quickly(text: str) -> None:
    began = time.process_time()

    with pytest.raises(ConfigError, match="nested deeper"):
        parse(text, "f")

    assert time.process_time() - began < 10


def test_an_alias_bomb_is_refused_before_it_is_built() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )

    with pytest.raises(ConfigError, match="f:1: a0: an anchor"):
        parse(bomb, "f")


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "Yes",
        "on",
        "OFF",
        "y",
        "010",
        "0x1F",
        "0o17",
        "1_000",
        "1:30",
        "2026-01-01",
        ".inf",
        ".nan",
        "+",
        "1e999",
        "٣",
    ],
)
def test_a_word_that_other_parsers_convert_stays_a_text(word: str) -> None:
    assert parse(f"a: {word}", "f").data == {"a": word}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("'12'", "12"),
        ('"no"', "no"),
        ("'true'", "true"),
        ("a b", "a b"),
        ("|\n  x\n  y", "x\ny"),
        ("[]", []),
        ("{}", {}),
    ],
)
def test_plain_values_are_read_as_in_yaml_1_2(text: str, value: object) -> None:
    assert parse(f"a: {text}", "f").data == {"a": value}


def test_keys_are_texts_whatever_they_look_like() -> None:
    assert parse("1: a\nno: b\nnull: c\ntrue: d", "f").data == {
        "1": "a",
        "no": "b",
        "null": "c",
        "true": "d",
    }


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n"])
def test_an_empty_document_has_no_keys(text: str) -> None:
    assert not parse(text, "f").data


def test_each_key_and_item_knows_its_line() -> None:
    document = parse("a:\n  b:\n    - x\n    - c: 1\n", "f")

    assert document.lines == {
        (): 1, ("a",): 1, ("a", "b"): 2, ("a", "b", 0): 3, ("a", "b", 1): 4, ("a", "b", 1, "c"): 4,
    }  # fmt: skip


def test_a_file_that_is_not_text_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")

    with pytest.raises(ConfigError, match=r"x\.yaml:2: this is not UTF-8"):
        load(path)
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read \(No such file"):
        load(tmp_path / "none.yaml")
    path.write_bytes(b"#" * 70_000)
    with pytest.raises(ConfigError, match="larger than 65,536 bytes"):
        load(path)


def test_a_byte_order_mark_is_not_a_key(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfa: 1")

    assert load(tmp_path / "x.yaml").data == {"a": 1}


class Inner(Strict):
    """A part."""

    count: int = 1
    mode: Literal["fast", "slow"] = "fast"
    limit: int | Literal["auto"] = "auto"


class Whole(Strict):
    """A document."""

    name: str
    share: float = 1.0
    inner: Inner = Inner()
    parts: tuple[Inner, ...] = ()
    named: dict[Literal["left", "right"], Inner] | None = None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("inner: {}", "f:1: name: is required"),
        ("name: 3", "f:1: name: 3 is not a text (put it in quotes)"),
        ("name: a\nnmae: b", "f:2: nmae: unknown key. Did you mean name? Allowed: inner, name"),
        ("name: a\ninner:\n  cuont: 1", "f:3: inner.cuont: unknown key. Did you mean count?"),
        ("name: a\ninner:\n  zzz: 1", "f:3: inner.zzz: unknown key. Allowed: count, limit, mode"),
        ("name: a\ninner: {count: no}", "f:2: inner.count: 'no' is not a whole number"),
        ("name: a\ninner: {count: true}", "f:2: inner.count: true is not a whole number"),
        ("name: a\ninner: {count: 1.5}", "f:2: inner.count: 1.5 is not a whole number"),
        ("name: a\ninner: {count: }", "f:2: inner.count: nothing is not a whole number"),
        ("name: a\ninner: {mode: fsat}", "f:2: inner.mode: 'fsat' is not fast or slow"),
        ("name: a\ninner: {limit: much}", "f:2: inner.limit: 'much' is not a whole number or auto"),
        ("name: a\nshare: half", "f:2: share: 'half' is not a number"),
        ("name: a\ninner: [1]", "f:2: inner: a list is not a block of keys"),
        ("name: a\nparts: {a: 1}", "f:2: parts: a block of keys is not a list"),
        ("name: a\nparts:\n- count: 1\n- cuont: 2", "f:4: parts.1.cuont: unknown key. Did you mean count?"),
        ("name: a\nnamed:\n  lfet: {}", "f:3: named.lfet: unknown name. Did you mean left? Allowed: left, right"),
        ("name: a\nnamed:\n  left: {moed: x}", "f:3: named.left.moed: unknown key. Did you mean mode?"),
        ("[]", "f:1: a list is not a block of keys"),
    ],
)  # fmt: skip
def test_a_problem_says_where_what_and_what_is_allowed(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validated(parse(text, "f"), Whole)

    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


def test_a_list_becomes_a_tuple_and_a_whole_number_a_share() -> None:
    found = validated(parse("name: a\nshare: 2\nparts: [{count: 3}]", "f"), Whole)

    assert (found.share, found.parts) == (2.0, (Inner(count=3),))


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"#%@, \n\t01\x00\ud800é", max_size=60))
def test_no_text_leads_to_anything_but_data_or_a_refusal(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert parse(text, "f").lines[()] == 1

"""What reaches the terminal: safe text, colours on wish only, and no encoding that breaks it."""

import io
import json
import sys
from collections.abc import Mapping

import pytest

from copilot.cli.columns import aligned, cells, cut
from copilot.cli.ui import Color, Screen


class Terminal(io.TextIOWrapper):
    """A stream that says of itself that it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, encoding=encoding, write_through=True)

    def isatty(self) -> bool:
        """Return true, as a terminal does."""
        return True

    def shown(self) -> str:
        """Return everything that was written."""
        return self._bytes.getvalue().decode(self.encoding)


@pytest.mark.parametrize(
    ("color", "environ", "expected"),
    [
        ("auto", {"TERM": "xterm"}, True),
        ("auto", {"TERM": "dumb"}, False),
        ("auto", {}, False),
        ("auto", {"TERM": "xterm", "NO_COLOR": "1"}, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", {"TERM": "xterm", "NO_COLOR": ""}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
        ("always", {"NO_COLOR": "1"}, True),
    ],
)
def test_colours_follow_the_option_then_no_color_then_force_color_then_the_terminal(
    color: Color, environ: Mapping[str, str], expected: bool
) -> None:
    assert Screen(color, environ).has_color(Terminal()) is expected


def test_a_pipe_gets_no_colour_and_no_wrapping(capsys: pytest.CaptureFixture[str]) -> None:
    Screen("auto", {"TERM": "xterm"}).line(("word " * 100, "bad"), indent=2)

    assert capsys.readouterr().out == "  " + "word " * 100 + "\n"


def test_a_terminal_wraps_at_words_behind_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "20")

    Screen("never", {"TERM": "xterm"}).line("one two three four five six", indent=2, mark="- ")

    assert terminal.shown().splitlines() == ["  - one two three ", "    four five six"]


def test_an_empty_line_is_a_line_on_a_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)

    Screen("never", {"TERM": "xterm"}).line()

    assert terminal.shown() == "\n"


def test_by_no_way_does_a_text_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b]52;c;eA==\x07 \x9b2J \u202egnp.exe \x1b[2Jend"
    screen = Screen("never", {})

    screen.line(hostile)
    screen.say(hostile)
    screen.page(f"{hostile}\n{hostile}")
    screen.table(["a"], [[hostile]])
    screen.document({hostile: hostile})
    screen.event({hostile: hostile})

    out, err = capsys.readouterr()
    assert not set("\x1b\x07\x9b\u202e") & set(out + err)
    assert ((out + err).count("gnp.exe"), (out + err).count("end")) == (9, 9)


def test_markup_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)

    Screen("always", {"TERM": "xterm"}).line("[bold]x[/] [link=http://e]y[/link] [/foo] :bomb:")

    assert terminal.shown() == "[bold]x[/] [link=http://e]y[/link] [/foo] :bomb:\n"


def test_an_encoding_without_our_signs_gets_others(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", terminal)

    Screen("never").line("✓ naïve … 日本")

    assert terminal.shown() == "ok na\\xefve ... \\u65e5\\u672c\n"


def test_json_says_the_same_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"schema": "x/1", "text": "日本 \x1b[2J \x9b \u202e \U000e0041 é"}
    for encoding in ("utf-8", "ascii", "latin-1"):
        terminal = Terminal(encoding)
        monkeypatch.setattr(sys, "stdout", terminal)

        Screen().document(dict(value))

        assert json.loads(terminal.shown()) == value
        assert not set("\x1b\x9b\u202e\U000e0041") & set(terminal.shown())


def test_columns_are_aligned_and_every_line_has_as_many_words_for_awk() -> None:
    lines = list(aligned([("A", "B", "C"), ("longer", "", "the rest"), ("x", "y", "z")], None))

    assert lines == ["A       B  C", "longer  -  the rest", "x       y  z"]


def test_wide_characters_count_twice_and_accents_not_at_all() -> None:
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert cut("日本語", 5) == "日本…"


def test_only_a_terminal_cuts_a_table() -> None:
    row = [("id", "x" * 200)]

    assert len(next(aligned(row, 40))) == 40
    assert len(next(aligned(row, None))) == 204
    assert next(aligned(row, 5)) == "id  xxxxxxxxxxx…"

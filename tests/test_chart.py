"""The wedge: the same numbers in characters and as SVG, at any width, whatever its title says."""

import re
from xml.etree import ElementTree as ET

import pytest

from copilot.chart.svg import svg
from copilot.chart.terminal import ASCII, UNICODE, draw, fitted
from copilot.chart.wedge import Ceiling, Column, Wedge, short, wedge
from copilot.cli.columns import cells
from copilot.context.usage_rows import rows
from tests.context.measured import Written

NAMES = "{http://www.w3.org/2000/svg}"
HOSTILE = '</title><script>alert(1)</script>" onload="x \x1b[31m \u202egnp \ufffe & <b>'


def drawing(count: int, title: str = "inc-1") -> Wedge:
    """A wedge of that many turns that grows and is cleared once."""
    columns = tuple(
        Column(turn, (200, 800, 100, 10 * turn, 90 * turn), "C" if turn == 5 else "")
        for turn in range(1, count + 1)
    )
    return Wedge(title, columns, (Ceiling("clearing from", 1800), Ceiling("window", 10**6)))


def lines(drawn: Wedge, width: int, *, ascii_only: bool = False) -> list[str]:
    """The chart as plain lines."""
    signs = ASCII if ascii_only else UNICODE
    return ["".join(text for text, _ in spans) for spans in draw(drawn, width, signs)]


@pytest.mark.parametrize("count", [1, 8, 40, 400])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int, count: int) -> None:
    assert max(map(cells, lines(drawing(count), width))) <= width


def test_the_fallback_is_pure_ascii_and_tells_the_layers_apart() -> None:
    text = "\n".join(lines(drawing(40), 80, ascii_only=True))

    assert text.isascii()
    assert len(set(ASCII.layers)) == len(set(UNICODE.layers)) == 5


def test_what_each_sign_means_is_said_below() -> None:
    text = " ".join(lines(drawing(8), 80))

    for name in ("system", "alert and state", "tool results", "results cleared"):
        assert name in text
    assert "clearing from 1,800" in text
    assert "window 1,000,000, far above" in text
    assert "peak 1,900 tokens" in text


def test_a_mark_stands_below_its_turn() -> None:
    text = lines(drawing(8), 40)
    marks = next(line for line in text if line.lstrip().startswith("marks"))
    turns = next(line for line in text if line.lstrip().startswith("turn "))

    assert marks.index("C") == turns.index("5")


def test_many_turns_share_a_column_that_shows_their_peak_and_all_marks() -> None:
    found = fitted(drawing(100).columns, 30)

    assert len(found) <= 30
    assert found[-1].total == drawing(100).peak
    assert "".join(column.marks for column in found) == "C"


def test_a_wedge_is_as_high_as_what_the_service_counted() -> None:
    journal = Written()
    journal.ask(1, system=333, tools=333, alert=333, search_logbook=7)
    journal.answer(1, (0, 100, 401, 5))

    [column] = wedge(rows(journal.events), "x").columns

    assert column.total == 501


def test_tokens_that_nobody_counted_are_guessed_and_said_to_be() -> None:
    journal = Written()
    journal.ask(1, system=1000)
    journal.answer(1)

    drawn = wedge(rows(journal.events), "x")

    assert drawn.peak == 400
    assert "peak 400 tokens, guessed" in " ".join(lines(drawn, 80))


def test_nothing_asked_is_no_chart_but_a_sentence() -> None:
    assert lines(wedge([], "inc-1"), 80) == ["inc-1", "no request was answered yet"]
    assert ET.fromstring(svg(wedge([], "inc-1"))).tag == f"{NAMES}svg"


@pytest.mark.parametrize("count", [1, 40, 400])
def test_the_svg_is_one_file_that_loads_nothing_and_runs_nothing(count: int) -> None:
    text = svg(drawing(count))
    root = ET.fromstring(text)

    assert not {"script", "image", "foreignObject", "use"} & {
        one.tag.removeprefix(NAMES) for one in root.iter()
    }
    assert re.findall(r"https?://[^\"]+|url\(|@import|on\w+=", text) == [NAMES.strip("{}")]
    assert "prefers-color-scheme: dark" in text


def test_the_svg_stays_inside_its_frame() -> None:
    root = ET.fromstring(svg(drawing(400)))
    bars = [one for one in root.iter(f"{NAMES}rect") if one.get("x")]

    assert len(bars) == 400 * 5
    for bar in bars:
        x, y, wide, high = (float(bar.get(key, "")) for key in ("x", "y", "width", "height"))
        assert x >= 0
        assert x + wide <= 760
        assert y >= 0
        assert y + high <= 420


def test_a_hostile_title_is_only_text() -> None:
    root = ET.fromstring(svg(drawing(3, HOSTILE)))

    assert {one.tag.removeprefix(NAMES) for one in root} <= {
        "title", "desc", "style", "rect", "text", "line", "g",
    }  # fmt: skip
    assert not any("onload" in key for one in root.iter() for key in one.attrib)
    assert "<script>" in (root.findtext(f"{NAMES}title") or "")


def test_numbers_on_the_scale_are_short() -> None:
    assert [short(n) for n in (0, 950, 8500, 14_000, 999_999, 1_000_000)] == [
        "0", "950", "8.5k", "14k", "1000k", "1M",
    ]  # fmt: skip

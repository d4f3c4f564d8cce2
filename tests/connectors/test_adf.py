"""Whatever an editor or an export made of a ticket's text, a person can read it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.adf import LAYOUTS, SERIES, adf_text


def paragraph(*nodes: object) -> dict[str, object]:
    return {"type": "paragraph", "content": list(nodes)}


def text(value: object, **more: object) -> dict[str, object]:
    return {"type": "text", "text": value, **more}


def node(kind: str, *content: object, **attributes: object) -> dict[str, object]:
    return {"type": kind, "attrs": attributes, "content": list(content)}


def cases(shared: Path) -> Iterator[Any]:
    for file in ("atlas-doc-parser/adf_cases.json", "mcp-atlassian/adf_cases.json"):
        yield from (case["input"] for case in json.loads((shared / "jira" / file).read_text()))
    yield json.loads((shared / "jira" / "jira-cli" / "adf_md.json").read_text())


def leaves(value: object) -> Iterator[str]:
    """Yield the texts that a reader of *value* must see."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, dict):
        yield from leaves(value.get("text"))
        yield from leaves(value.get("content"))


@pytest.mark.bad_input("B021")
def test_every_public_case_shows_each_of_its_texts(shared_data: Path) -> None:
    for document in cases(shared_data):
        shown = adf_text(document)
        for leaf in leaves(document):
            assert [line for line in leaf.split("\n") if line not in shown] == []


def test_no_public_case_holds_a_node_that_is_not_known(shared_data: Path) -> None:
    unknown = [shown for shown in map(adf_text, cases(shared_data)) if "[unknownNode]" not in shown]

    assert len(unknown) == 91


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        (None, ""),
        ("wiki text, sent as is", "wiki text, sent as is"),
        ({}, ""),
        ({"type": "doc", "content": [paragraph(text("a")), paragraph(text("b"))]}, "a\nb"),
        (paragraph(text("T2_X*"), text("_y", marks=[{"type": "strong"}])), "T2_X*_y"),
        (text("no", marks=[{"type": "strike"}]), "~~no~~"),
        (text("HERE", marks=[{"type": "link", "attrs": {"href": "http://x"}}]), "HERE (http://x)"),
        (text("http://x", marks=[{"type": "link", "attrs": {"href": "http://x"}}]), "http://x"),
        (paragraph(text("see"), node("inlineCard", url="http://x")), "see http://x"),
        (node("inlineCard", data={"name": "P-1: Fix"}), "P-1: Fix"),
        (node("mention", id="u1", text="Ann"), "@Ann"),
        (node("mention", id="u1"), "@u1"),
        (node("emoji", shortName=":wave:"), ":wave:"),
        (node("status", text="DONE"), "[DONE]"),
        (node("media", id="a-1", alt="plot.png"), "[media plot.png a-1]"),
        (node("mediaInline", id="a-1", __fileName="core.gz"), "[media core.gz a-1]"),
        (node("heading", text("Why"), level=3), "### Why"),
        (node("heading", text("Why"), level="many"), "# Why"),
        (node("panel", paragraph(text("hot")), panelType="warning"), "[warning] hot"),
        (node("expand", paragraph(text("x\ny")), title="Log"), "Log\n  x\n  y"),
        (node("codeBlock", text("a\n  b"), language="sh"), "```sh\na\n  b\n```"),
        (node("taskItem", text("restart"), state="DONE"), "[x] restart"),
        (node("decisionItem", text("wait")), "[decision] wait"),
        (node("rule"), "---"),
        (node("orderedList", node("listItem", paragraph(text("a"))), order=7), "7. a"),
        (node("date", timestamp="1582152559000"), "2020-02-19"),
        (node("extension", extensionKey="jql", title="Open"), "[extension] Open"),
    ],
)
def test_a_node_reads_like(document: object, shown: str) -> None:
    assert adf_text(document) == shown


@pytest.mark.parametrize("raw", ["253402300799000", "9" * 30, "-9e300", "nan", "soon"])
@pytest.mark.bad_input("B022")
def test_a_date_that_is_no_day_is_printed_as_it_stands(raw: str) -> None:
    assert adf_text(paragraph(text("due "), node("date", timestamp=raw))) == f"due {raw}"


def test_a_table_keeps_its_empty_cells_and_one_line_a_row() -> None:
    cells = [
        node("tableCell", paragraph(text("a")), paragraph(text("b|c"))),
        node("tableCell"),
        node("tableCell", paragraph(text("d"))),
    ]

    assert adf_text(node("table", node("tableRow", *cells))) == "| a / b|c |  | d |"


def test_an_unknown_node_leaves_its_type_and_the_text_below_it() -> None:
    chart = node("futureChart", paragraph(text("queue depth")), node("axis", text("jobs")))

    assert adf_text(paragraph(chart)) == "[futureChart] queue depth\n[axis] jobs"


@pytest.mark.parametrize("kind", ["listItem", "blockquote", "futureNode", "tableRow"])
def test_ten_thousand_levels_still_show_the_text_at_the_bottom(kind: str) -> None:
    document: object = text("the cause")
    for _ in range(10_000):
        document = {"type": kind, "content": [document]}

    assert "the cause" in adf_text(document)


KINDS = st.sampled_from([*LAYOUTS, *SERIES, "futureNode", ""])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        | st.fixed_dictionaries(
            {},
            optional={
                "type": KINDS | inner,
                "text": st.text(max_size=8) | inner,
                "attrs": inner
                | st.dictionaries(st.sampled_from(["text", "id", "timestamp", "order"]), inner),
                "marks": inner,
                "content": inner,
            },
        )
    ),
    max_leaves=25,
)


@given(ANY_JSON)
@pytest.mark.bad_input("B021")
def test_any_json_value_gives_text_that_holds_every_text_in_it(value: object) -> None:
    shown = adf_text(value)

    for leaf in leaves(value):
        assert [line for line in leaf.split("\n") if line not in shown] == []

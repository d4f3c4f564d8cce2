"""What the content of an answer becomes, in whatever form it came."""

from typing import Any

import pytest

from connectors.mcp_servers.contents import rows_of


def rows(**result: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in rows_of(result)[0]]


def text(words: str) -> list[dict[str, Any]]:
    return rows(content=[{"type": "text", "text": words}])


def test_small_records_are_columns() -> None:
    assert text('[{"host": "a", "up": true}, {"host": "b"}]') == [
        {"host": "a", "up": True},
        {"host": "b"},
    ]


def test_larger_records_are_one_text_each() -> None:
    assert text('[{"host": {"name": "a"}}, {"host": "b"}]') == [
        {"message": '{"host":{"name":"a"}}'},
        {"message": '{"host":"b"}'},
    ]


@pytest.mark.parametrize(
    "words",
    ['["\\ud800"]', "[NaN]", "[" * 960 + "]" * 960, "[" * 100_000, "{not JSON", "[] and more"],
    ids=lambda words: words[:12],
)
def test_what_is_no_json_for_everybody_stays_the_text_that_it_is(words: str) -> None:
    assert text(words) == [{"message": words}]


def test_structured_records_stand_for_the_text_beside_them() -> None:
    content = [{"type": "text", "text": "the same"}]

    assert rows(content=content, structuredContent={"result": ["a", "b"]}) == [
        {"message": "a"},
        {"message": "b"},
    ]


def test_the_text_of_a_resource_is_read_and_a_blob_is_named() -> None:
    content = [
        {"type": "resource", "resource": {"uri": "file:///a", "text": "one\n\ntwo"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "QUJD"}},
        {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
        "nonsense",
    ]

    assert [row["message"] for row in rows(content=content)] == [
        "one",
        "two",
        "[resource of an unknown form, 3 B, not read]",
        "[audio audio/wav, 3 B, not read]",
        "[content of an unknown form, 0 B, not read]",
    ]


def test_an_empty_answer_has_no_rows() -> None:
    assert rows(content=[]) == []

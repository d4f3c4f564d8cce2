"""CSV tables, JSON lines and JSON documents."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.log_files.documents import document_records, slices
from connectors.log_files.lines import Line
from connectors.log_files.record import MAX_MESSAGE, Flags
from connectors.log_files.tables import table_of, table_records
from connectors.timestamps import Clock, instant
from tests.connectors.logbook.conftest import DRAWN, WRITTEN, Add, Read

HEADER = "Timestamp,Node,PodName,TraceID,Log\n"
ROW = (
    "2023-01-29T09:25:05.372193979Z,10.0.0.1,ts-order-service-5b67c48447-mv5hb,373de,"
    '"{""log"":""17:25:05.371 WARN  o.s.OrderImpl#361 not found\\n"",""stream"":""stdout"",'
    '""time"":""2023-01-29T09:25:05Z""}"\n'
)


def test_a_column_that_holds_an_envelope_gives_the_message_inside(read: Read) -> None:
    [record] = read(HEADER + ROW, "a.csv")

    assert record.message == "17:25:05.371 WARN  o.s.OrderImpl#361 not found"
    assert not record.verbatim
    assert (record.line, record.lines, record.level) == (2, 2, "WARN")
    assert instant(record.time or 0).isoformat() == "2023-01-29T09:25:05.372193+00:00"
    assert dict(record.fields) == {
        "stream": "stdout",
        "host": "10.0.0.1",
        "pod": "ts-order-service-5b67c48447-mv5hb",
        "service": "ts-order-service",
        "trace_id": "373de",
        "component": "o.s.OrderImpl",
    }
    assert "ts-order-service-5b67c48447-mv5hb" in record.extra


def test_a_row_over_several_lines_stands_on_its_first(read: Read) -> None:
    records = read('time,message\n2024-01-01 10:00:00,"a\nb"\n\n2024-01-01 10:00:01,c\n', "a.csv")

    assert [(record.line, record.lines, record.message) for record in records] == [
        (2, 4, "a\nb"),
        (5, 1, "c"),
    ]


def test_a_table_without_a_message_keeps_its_rows_verbatim(read: Read) -> None:
    records = read("site\tstatus\tat\nT1\tERROR\t1\nT2\tok\t2\n", "a.tsv")

    assert [record.message for record in records] == ["T1\tERROR\t1", "T2\tok\t2"]
    assert all(record.verbatim for record in records)
    assert dict(records[1].fields) == {"site": "T2", "status": "ok", "at": "2"}


def test_an_unclosed_quote_costs_its_own_line_only(put: Callable[[str, str], object]) -> None:
    lines = [Line(1, "time,message"), Line(2, '1,"open'), Line(3, "2,b"), Line(4, "3,c")]
    table = table_of(lines[0].text, ",")
    assert table
    flags = Flags()

    records = list(table_records(lines, table, Clock(WRITTEN), flags))

    assert [record.line for record in records] == [2, 3, 4]
    assert sum(record.lines for record in records) == 4


def test_a_ragged_row_is_kept_and_counted(add: Add) -> None:
    done = add("time,message\n2024-01-01 10:00:00,a,surplus\n2024-01-01 10:00:01\n", "a.csv")

    assert done.entries == 2
    assert done.flagged["ragged_row"] == 2


def test_a_csv_that_has_no_header_is_read_as_text(read: Read) -> None:
    records = read("1,2\n3,4\n", "a.csv")

    assert [record.line for record in records] == [1, 2]


def test_a_header_alone_is_one_event(read: Read) -> None:
    assert [(r.line, r.lines, r.message) for r in read("time,message\n", "a.csv")] == [
        (1, 1, "time,message")
    ]


def test_json_lines_name_time_level_and_fields(read: Read) -> None:
    line = '{"ts": 1700000000.5, "level": 50, "pod": "web-0", "msg": "no", "ok": true, "deep": {"a": 1}}'
    records = read(f"{line}\nplain\n{line[:-1]}\n")

    assert [record.line for record in records] == [1, 2, 3]
    first = records[0]
    assert first.message == line
    assert first.level == "ERROR"
    assert first.time == 1700000000_500000
    assert dict(first.fields) == {"pod": "web-0", "service": "web", "ok": "true"}


def test_an_array_gives_one_record_for_each_element(read: Read) -> None:
    text = (
        '[\n {\n  "CreationTime": 1447958708.71,\n  "Jobs": 250\n },\n\n {\n  "Jobs": 10\n }\n]\n'
    )

    records = read(text, "elements.json")

    assert [(r.record, r.line, r.lines) for r in records] == [(0, 2, 5), (1, 7, 5)]
    assert records[0].message.split("\n")[1] == '  "CreationTime": 1447958708.71,'
    assert records[0].time == 1447958708_710000
    assert dict(records[1].fields) == {"Jobs": "10"}


def test_elements_on_one_line_share_it(read: Read) -> None:
    records = read('[{"a": "1"}, {"a": "2"}]', "a.json")

    assert [(r.record, r.line, r.lines) for r in records] == [(0, 1, 1), (1, 1, 0)]


def test_a_pretty_printed_object_is_one_record(read: Read) -> None:
    [record] = read('\n{\n "Status": "Available",\n "Inputs": {"b": []}\n}\n', "element.json")

    assert (record.line, record.lines, record.record) == (2, 5, None)
    assert dict(record.fields) == {"Status": "Available"}


def test_objects_in_a_row_are_records(read: Read) -> None:
    records = read('{\n "a": 1\n}\n{\n "a": 2\n}\n', "a.json")

    assert [(r.record, r.line, r.lines) for r in records] == [(0, 1, 3), (1, 4, 3)]


@pytest.mark.parametrize("text", ["[1, 2]\n", '["a", "b"]\n', "{}\n", "[]\n", "[{}]"])
def test_plain_values_and_nothing_are_one_record(read: Read, text: str) -> None:
    assert sum(record.lines for record in read(text, "a.json")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "\n",
        '{\n "a": ' + "9" * 5_000 + "\n}\n",
        '{\n "a": \n',
        '{"a": 1}\nrest\n',
        "{\n}{",
    ],
)
def test_what_is_not_json_after_all_is_kept_as_text(read: Read, text: str) -> None:
    assert sum(record.lines for record in read(text, "a.json")) == text.count("\n") + (
        not text.endswith("\n")
    )


def test_a_broken_json_file_says_so(add: Add) -> None:
    assert add('{\n "a": \n', "a.json").flagged == {"unparsed_json": 1}


def test_a_huge_element_is_cut_at_line_ends(read: Read) -> None:
    rows = ",\n".join(f'"{number:07d}"' for number in range(MAX_MESSAGE // 8))
    text = '{\n"rows": [\n' + rows + "\n]\n}\n"

    records = read(text, "a.json")

    assert len(records) > 1
    lines = text.split("\n")
    for record in records:
        for place, part in enumerate(record.message.split("\n")):
            assert lines[record.line - 1 + place] == part


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@DRAWN
@given(
    st.lists(st.dictionaries(st.text(max_size=4), JSON_VALUES), min_size=1),
    st.integers(0, 3),
    st.text("\n ", max_size=4),
)
def test_every_line_of_a_document_is_accounted_once(
    value: list[dict[str, object]], indent: int, blanks: str
) -> None:
    text = blanks + json.dumps(value, indent=indent or None) + blanks
    found = slices(text)
    assert found

    records = list(document_records(text, found, Clock(WRITTEN), Flags()))

    physical = text.split("\n")
    assert sum(record.lines for record in records) == text.count("\n") + (not text.endswith("\n"))
    for record in records:
        for place, part in enumerate(record.message.split("\n")):
            assert part in physical[record.line - 1 + place]

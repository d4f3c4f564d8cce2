"""Plain text: which lines are one event, what a line says about itself, and that none is lost."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.log_files.lines import Line
from connectors.log_files.record import MAX_LINES, Flags, Record
from connectors.log_files.text import text_records
from connectors.timestamps import Clock, instant
from tests.connectors.logbook.conftest import DRAWN, WRITTEN, Read


def firsts(records: list[Record]) -> list[tuple[int, int]]:
    return [(record.line, record.lines) for record in records]


def test_a_java_trace_belongs_to_the_line_above_it(read: Read) -> None:
    records = read(
        "2024-01-01 10:00:00 ERROR a.B: failed\n"
        "java.net.ConnectException: Connection refused\n"
        "\tat java.net.Socket.connect(Socket.java:1)\n"
        "Caused by: java.io.IOException: gone\n"
        "\t... 12 more\n"
        "2024-01-01 10:00:01 INFO a.B: next\n"
    )

    assert firsts(records) == [(1, 5), (6, 1)]
    assert records[0].message.endswith("... 12 more")


def test_a_python_traceback_ends_with_the_line_that_names_the_exception(read: Read) -> None:
    records = read(
        "ERROR:root:Error in monitor\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in run\n'
        "    go()\n"
        "AttributeError: no cores\n"
        "This is the next event.\n"
    )

    assert firsts(records) == [(1, 5), (6, 1)]
    assert records[1].message == "This is the next event."


def test_a_chained_traceback_is_one_event(read: Read) -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 1\n'
    records = read(f"{trace}\nDuring handling of the above exception, another one:\n\n{trace}end\n")

    assert firsts(records) == [(1, 9), (10, 1)]
    assert records[0].level == "ERROR"


def test_a_trace_after_an_unmarked_line_is_its_own_event(read: Read) -> None:
    records = read(
        "UID: readonly variable\n"
        "Traceback (most recent call last):\n"
        '  File "g", line 8\n'
        "ImportError: libboost.so: cannot open\n"
    )

    assert firsts(records) == [(1, 1), (2, 3)]
    assert [record.level for record in records] == ["", "ERROR"]


def test_an_exception_block_is_joined_from_start_to_end(read: Read) -> None:
    records = read(
        "2024-01-25 08:08:58,040:14:ERROR:WorkQueue:Exception splitting\n"
        ": <@========== WMException Start ==========@>\n"
        "Exception Class: NotFound\n"
        "Message: 2024-01-25T08:08:58 : identifier not found\n"
        "\n"
        "Traceback: \n"
        "  File x\n"
        "<@---------- WMException End ----------@>\n"
        "after\n"
    )

    assert firsts(records) == [(1, 8), (9, 1)]


def test_a_block_that_never_ends_stops_at_the_next_timed_line(read: Read) -> None:
    records = read("x\n<@===== A Start =====@>\nMessage: m\n2024-01-01 10:00:00 INFO next\n")

    assert firsts(records) == [(1, 3), (4, 1)]


def test_indented_lines_continue_and_unindented_ones_do_not(read: Read) -> None:
    records = read("2024-01-01 10:00:00 INFO table:\n  a 1\n\tb 2\nloose line\n}\n")

    assert firsts(records) == [(1, 3), (4, 2)]


def test_a_line_without_a_time_carries_the_one_above(read: Read) -> None:
    records = read("early\n2024-01-01 10:00:00 INFO a\nERROR - could not queue task\n")

    assert [record.time_flag for record in records] == ["none", "own", "carried"]
    assert records[2].time == records[1].time
    assert records[2].level == "ERROR"


def test_a_very_long_event_is_cut_and_nothing_of_it_is_lost(read: Read) -> None:
    body = [f"  line {number}" for number in range(MAX_LINES * 2 + 10)]
    records = read("\n".join(["2024-01-01 10:00:00 INFO dump", *body]) + "\n")

    assert [record.lines for record in records] == [MAX_LINES, MAX_LINES, 11]
    assert "\n".join(record.message for record in records).splitlines()[1:] == body


def test_blank_lines_are_accounted_to_the_event_above(read: Read) -> None:
    records = read("\n\nfirst\n\n\nsecond\n\n")

    assert firsts(records) == [(3, 5), (6, 2)]
    assert [record.message for record in records] == ["first", "second"]


def test_a_file_of_blank_lines_is_one_empty_event(read: Read) -> None:
    assert firsts(read("\n\n \n")) == [(1, 3)]


@pytest.mark.parametrize("odd", ["\f", "\v", "\x1c", "\x85", "\u2028", "\r"])
@pytest.mark.bad_input("B72")
def test_only_a_newline_ends_a_line(read: Read, odd: str) -> None:
    records = read(f"one{odd}still one\ntwo\n")

    assert firsts(records) == [(1, 1), (2, 1)]


@pytest.mark.bad_input("B72")
def test_crlf_leaves_no_trace(read: Read) -> None:
    assert [record.message for record in read("a\r\nb\r\n")] == ["a", "b"]


def test_colours_hide_neither_time_nor_level(read: Read) -> None:
    [record] = read("\x1b[32m2024-01-01 10:00:00\x1b[0m \x1b[1;31mERROR\x1b[0m disk\n")

    assert record.time_flag == "own"
    assert record.level == "ERROR"
    assert record.message.startswith("\x1b[32m")


@pytest.mark.parametrize(
    ("line", "level", "component"),
    [
        ("2015-10-18 18:01:47,978 INFO [main] org.a.Main: x", "INFO", "org.a.Main"),
        ("2024-01-25 08:08:56,382:1404:WARNING:WorkQueue:x", "WARN", "WorkQueue"),
        ("2015-07-29 17:41:44,747 - WARN  [Quorum[id=1]/0:0:2181:Election@774] - x", "WARN", "Election"),
        ("[2023-11-24T11:41:49.716+0000] {runner.py:636} CRITICAL - x", "FATAL", "runner.py"),
        ("2025-06-20T10:37:30.113Z [ERROR] auth-service - x", "ERROR", "auth-service"),
        ("081109 203615 148 INFO dfs.DataNode$Packet: x", "INFO", "dfs.DataNode$Packet"),
        ("2017-05-16 00:00:00.008 25 TRACE nova.wsgi.server [req-1] x", "TRACE", "nova.wsgi.server"),
        ("INFO:root:x", "INFO", "root"),
        ("WARNING: url is not couchdb", "WARN", None),
        ("ERROR - could not queue", "ERROR", None),
        ("Error from server (BadRequest): x", "ERROR", None),
        ("  Warning  BackoffLimitExceeded  13m  job-controller  x", "WARN", None),
        ("29m         Normal   Scheduled   Pod/a   x", "INFO", None),
        ("17:25:05.372 SEVERE  v.c.Controller#54 x", "ERROR", "v.c.Controller"),
        ("2024-01-25 08:08:56 [error] 7#7: x", "ERROR", None),
        ("level=warn ts=2024-01-25T08:08:56Z msg=x", "WARN", None),
        ("I0108 12:39:05.123456 1 file.go:12] x", "INFO", None),
        ("- 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL FATAL data", "FATAL", None),
        ("2024-01-25 08:08:56 INFO a.B: ERROR IN CONTACTING RM", "INFO", "a.B"),
        ("no errors were found", "", None),
        ("/tmp/ERROR.log: fine", "", None),
    ],
)  # fmt: skip
def test_level_and_component_are_read_from_the_head(
    read: Read, line: str, level: str, component: str | None
) -> None:
    [record] = read(line)

    assert record.level == level
    assert dict(record.fields).get("component") == component


def test_syslog_names_host_and_program(read: Read) -> None:
    [record] = read("Jan 14 15:16:01 combo sshd(pam_unix)[19939]: failure\n")

    assert dict(record.fields) == {"host": "combo", "component": "sshd"}


def test_the_year_may_be_given(read: Read) -> None:
    from connectors.embedded_logbook import Assumptions

    [record] = read("Jun 14 15:16:01 combo su: x\n", assumed=Assumptions(year=2005))

    assert instant(record.time or 0).year == 2005


@pytest.mark.bad_input("B71")
def test_a_line_of_200_mb_is_cut_into_parts_of_the_same_line(
    put: Callable[[str, str | bytes], object],
) -> None:
    import io

    from connectors.log_files.lines import read_lines
    from connectors.log_files.record import MAX_MESSAGE

    whole = b"x" * (MAX_MESSAGE * 3) + "é".encode() * 10 + b"\nnext\n"
    lines = list(read_lines(io.BytesIO(whole), Flags()))  # type: ignore[arg-type] # reads alike

    assert [line.number for line in lines] == [1, 1, 1, 1, 2]
    assert "".join(line.text for line in lines[:-1]) == whole.decode().split("\n")[0]


LINES = st.lists(
    st.sampled_from(
        [
            "", " ", "2024-01-01 10:00:00 ERROR a.B: x", "  indented", "loose", "}",
            "Traceback (most recent call last):", "KeyError: 1", "<@=== A Start ===@>",
            "<@--- A End ---@>", '{"level": "warn", "msg": "x"}', "Caused by: y",
            "java.io.IOException: z", "During handling of the above exception, another", "ERROR - q",
        ]
    ),
    max_size=40,
)  # fmt: skip


@DRAWN
@given(LINES)
def test_every_line_is_accounted_once_and_stands_where_its_record_says(texts: list[str]) -> None:
    lines = [Line(number, text) for number, text in enumerate(texts, 1)]

    records = list(text_records(lines, Clock(WRITTEN), Flags()))

    assert sum(record.lines for record in records) == len(texts)
    for record in records:
        for place, text in enumerate(record.message.split("\n")):
            assert texts[record.line - 1 + place] == text or not text.strip()

"""A query reads the rows of one result, and nothing else, and not for long."""

import contextlib
import threading
import time
from pathlib import Path

import pytest

from copilot.errors import ScratchError
from copilot.scratch.query import Bounds, Table, select
from copilot.scratch.question import Condition, Question, ask
from copilot.scratch.store import Scratch
from copilot.values import Json, JsonObject

ROWS: list[JsonObject] = [
    {"time": f"2026-01-01T00:00:{n:02}Z", "level": "ERROR" if n % 3 else "INFO", "message": f"job {n} failed 100%", "host": {"name": f"node{n % 2}"}, "sites": [*["T1_A", "T2_B"][: n % 3]], "code": n}
    for n in range(30)
]  # fmt: skip


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    scratch = Scratch(tmp_path, "inc")
    scratch.put(ROWS, tool="search_logbook", arguments={})
    return scratch


def sql(scratch: Scratch, text: str, rows: int = 50) -> Table:
    return select(scratch, "R0001", text, Bounds(rows=rows))


def test_rows_are_grouped_and_counted(scratch: Scratch) -> None:
    found = sql(scratch, "SELECT level, count(*) AS lines FROM rows GROUP BY level ORDER BY 2 DESC")

    assert found == Table(("level", "lines"), (("ERROR", 20), ("INFO", 10)))


def test_each_row_has_its_reference(scratch: Scratch) -> None:
    assert sql(scratch, "SELECT ref FROM rows WHERE code = 7").rows == (("R0001:8",),)


def test_an_inner_object_is_columns_and_a_list_is_json(scratch: Scratch) -> None:
    found = sql(
        scratch,
        'SELECT "host.name", value, count(*) FROM rows, json_each(sites) WHERE "host.name" = \'node1\' '
        "GROUP BY 1, 2 ORDER BY 3 DESC",
    )

    assert found.rows == (("node1", "T1_A", 10), ("node1", "T2_B", 5))
    assert sql(scratch, "SELECT count(*) FROM rows WHERE json_array_length(sites) = 0").rows == (
        (10,),
    )


def test_patterns_run_on_re2(scratch: Scratch) -> None:
    assert sql(scratch, "SELECT count(*) FROM rows WHERE message REGEXP 'job 1. '").rows == ((10,),)
    assert sql(scratch, "SELECT count(*) FROM rows WHERE message LIKE 'JOB 1_ %'").rows == ((10,),)
    assert sql(
        scratch, r"SELECT count(*) FROM rows WHERE message LIKE '%100\%' ESCAPE '\'"
    ).rows == ((30,),)
    with pytest.raises(ScratchError, match="RE2 has no look-around"):
        sql(scratch, "SELECT 1 FROM rows WHERE message REGEXP '(?!x)'")


@pytest.mark.parametrize(
    "text",
    [
        "ATTACH '/etc/passwd' AS x", "PRAGMA user_version", "DELETE FROM rows", "VACUUM INTO '/tmp/x'", "CREATE TABLE x (y)", "EXPLAIN SELECT 1", "", "SELECT 1; SELECT 2",
        "WITH x AS (SELECT 1) DELETE FROM rows", "SELECT * FROM sqlite_master", "SELECT * FROM sqlite_temp_master", "SELECT * FROM pragma_database_list", "SELECT * FROM pragma_table_info('rows')",
        "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT zeroblob(1000000000)", "SELECT randomblob(1000000000)", "SELECT printf('%1000000000d', 1)", "SELECT format('%1000000000d', 1)",
        "SELECT replace(message, 'a', 'b') FROM rows", "SELECT hex(message) FROM rows", "SELECT fts5('x')", "SELECT sqlite_version()", "SELECT message FROM rows WHERE message GLOB '*'",
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r", "SELECT * FROM main.sqlite_schema", "SELECT * FROM dbstat", "SELECT " + "(" * 200 + "1" + ")" * 200, "SELECT '" + "a" * 9000 + "'",
    ],
)  # fmt: skip
def test_whatever_is_not_one_select_over_the_rows_is_refused(scratch: Scratch, text: str) -> None:
    with pytest.raises(ScratchError, match=r"^(the query (is refused|failed): |write one SELECT)"):
        sql(scratch, text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM rows a, rows b, rows c, rows d, rows e, rows f",
        "SELECT a.message FROM rows a, rows b, rows c, rows d, rows e ORDER BY a.code + b.code + c.code",
        "SELECT count(DISTINCT a.ref || b.ref || c.ref || d.ref || e.ref) FROM rows a, rows b, rows c, rows d, rows e",
    ],
)
def test_a_runaway_query_is_stopped(scratch: Scratch, text: str) -> None:
    began = time.monotonic()

    with pytest.raises(ScratchError, match="took longer than 1 s and was stopped; add a WHERE"):
        sql(scratch, text)

    assert time.monotonic() - began < 60


@pytest.mark.parametrize("condition", ["LIKE '%a%a%a%a%a%a%a%b'", "REGEXP '(a|b)*a(a|b){600}c'"])
def test_a_runaway_pattern_inside_a_query_is_stopped(scratch: Scratch, condition: str) -> None:
    scratch.put([{"m": "a" * 600_000}] * 5, tool="t", arguments={})
    began = time.monotonic()

    with contextlib.suppress(ScratchError):
        select(scratch, "R0002", f"SELECT count(*) FROM rows WHERE m {condition}", Bounds())

    assert time.monotonic() - began < 60


def test_a_misspelt_column_is_named_with_those_that_exist(scratch: Scratch) -> None:
    for text in ("SELECT levle FROM rows", 'SELECT "levle" FROM rows'):
        with pytest.raises(ScratchError, match=r"levle.*the columns of rows are: ref, time, level"):
            sql(scratch, text)


def test_the_answer_is_bounded_in_rows_bytes_and_cells(scratch: Scratch) -> None:
    few = sql(scratch, "SELECT ref FROM rows", rows=2)
    narrow = select(scratch, "R0001", "SELECT message FROM rows", Bounds(rows=99, bytes=100))
    scratch.put([{"m": "x" * 600_000}], tool="t", arguments={})
    cell = select(scratch, "R0002", "SELECT m FROM rows", Bounds()).rows[0][0]

    assert (len(few.rows), few.why_incomplete) == (2, "only the first 2 rows are shown")
    assert 0 < len(narrow.rows) < 6
    assert str(cell).endswith("… [600000 characters]")
    assert len(str(cell)) < 500


def test_keys_that_sqlite_cannot_tell_apart_are_columns_of_their_own(scratch: Scratch) -> None:
    rows: list[JsonObject] = [
        {
            "Host": 1,
            "host": 2,
            "ref": 3,
            'a"b': 4,
            "": 5,
            "\0": 6,
            "\ud800": "\ud800",
            "rowid": 9,
            "big": 1 << 70,
            "truth": True,
        }
    ]
    scratch.put(rows, tool="t", arguments={})

    found = select(scratch, "R0002", "SELECT * FROM rows", Bounds())

    assert found.columns == (
        "ref",
        "Host",
        "host_2",
        "ref_2",
        'a"b',
        "_",
        "__2",
        "?",
        "rowid_2",
        "big",
        "truth",
    )
    assert found.rows == (("R0002:1", 1, 2, 3, 4, 5, 6, "?", 9, str(1 << 70), 1),)


def test_an_empty_result_can_be_asked(scratch: Scratch) -> None:
    scratch.put([], tool="t", arguments={})

    assert select(scratch, "R0002", "SELECT count(*) FROM rows", Bounds()).rows == ((0,),)


def test_queries_run_side_by_side(scratch: Scratch) -> None:
    answers: list[Table] = []
    threads = [
        threading.Thread(target=lambda: answers.append(sql(scratch, "SELECT count(*) FROM rows")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [answer.rows for answer in answers] == [((30,),)] * 8


def question(scratch: Scratch, asked: Question, rows: int = 50) -> Table:
    return ask(scratch, "R0001", asked, Bounds(rows=rows))


def test_a_typed_question_groups_with_count_and_first_line(scratch: Scratch) -> None:
    found = question(scratch, Question(group_by=("level",)))

    assert found.columns == ("count(*)", "level", "first_ref", "first_line")
    assert found.rows == ((20, "ERROR", "R0001:2", 2), (10, "INFO", "R0001:1", 1))


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        (Condition("level", "=", "INFO"), 10),
        (Condition("level", "!=", "INFO"), 20),
        (Condition("code", ">=", 28), 2),
        (Condition("time", "<", "2026-01-01T00:00:05Z"), 5),
        (Condition("message", "contains", "100%"), 30),
        (Condition("message", "contains", "b_2"), 0),
        (Condition("message", "matches", "job 2[0-4]"), 5),
        (Condition("host.name", "in", ["node1", "node9"]), 15),
        (Condition("code", "in", []), 0),
        (Condition("LEVEL", "is_empty", value=False), 30),
        (Condition("level", "=", "x' OR '1'='1"), 0),
    ],
)
def test_a_typed_condition_holds(scratch: Scratch, condition: Condition, count: int) -> None:
    assert question(scratch, Question(select=("count",), where=(condition,))).rows == ((count,),)


def test_a_typed_question_selects_orders_and_computes(scratch: Scratch) -> None:
    newest = question(scratch, Question(select=("ref", "code"), order_by="-time"), rows=1)
    computed = question(
        scratch, Question(select=("host.name", "max(code)", "distinct(level)"), group_by=("host.name",), order_by="host.name")
    )  # fmt: skip

    assert newest.rows == (("R0001:30", 29),)
    assert computed.rows == (("node0", 28, 2), ("node1", 29, 2))


@pytest.mark.parametrize(
    "name",
    [
        "levle",
        "level; DROP TABLE rows",
        'x" FROM sqlite_master --',
        "max(sqlite_master)",
        "count(*)",
    ],
)
def test_a_typed_question_takes_columns_only(scratch: Scratch, name: str) -> None:
    for asked in (Question(select=(name,)), Question(group_by=(name,)), Question(order_by=name)):
        with pytest.raises(ScratchError, match="there is no column"):
            question(scratch, asked)


def test_a_result_too_large_for_a_query_says_so(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("copilot.scratch.query.LIMIT_LOADED_BYTES", 100)

    with pytest.raises(ScratchError, match="at most 100 can be queried; use search_scratch"):
        sql(scratch, "SELECT 1")


def test_every_value_survives_the_table(scratch: Scratch) -> None:
    values: list[Json] = [None, 0, -1.5, "x", "", False, [1, {"a": "é"}], {}]
    scratch.put([{"v": value} for value in values], tool="t", arguments={})

    found = select(scratch, "R0002", "SELECT v FROM rows", Bounds())

    assert [row[0] for row in found.rows] == [
        None,
        0,
        -1.5,
        "x",
        "",
        0,
        '[1,{"a":"é"}]',
        "{}",
    ]

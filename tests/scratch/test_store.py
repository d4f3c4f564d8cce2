"""What is put into scratch is there, once, under one handle, and nothing else can be reached."""

import json
import multiprocessing
import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.errors import ScratchError
from copilot.scratch import folder as disk
from copilot.scratch.catalogue import replace_mark
from copilot.scratch.reading import Span
from copilot.scratch.store import Limits, Scratch
from copilot.values import JsonObject

ROWS: list[JsonObject] = [
    {"time": f"2026-01-01T00:00:{n:02}Z", "message": f"line {n}"} for n in range(30)
]
CALL: JsonObject = {"query": "error", "limit": 40}


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "scratch", "inc-1")


def put(scratch: Scratch, rows: list[JsonObject] = ROWS, tool: str = "search_logbook") -> str:
    return scratch.put(rows, tool=tool, arguments=CALL).handle


def files(scratch: Scratch) -> list[str]:
    return sorted(path.name for path in (scratch.root / scratch.incident).iterdir())


def test_a_put_row_comes_back_as_it_was(scratch: Scratch) -> None:
    handle = put(scratch)

    assert handle == "R0001"
    assert scratch.row(handle, 7) == ROWS[6]
    assert [json.loads(line) for line in scratch.lines(handle)] == ROWS


def test_a_stored_result_says_what_it_holds_and_which_call_it_answers(scratch: Scratch) -> None:
    stored = scratch.put(ROWS, tool="search_logbook", arguments=CALL)

    assert scratch.stored("R0001") == stored
    assert (stored.lines, stored.tool, stored.arguments) == (30, "search_logbook", CALL)
    assert stored.bytes == (scratch.root / "inc-1" / stored.file).stat().st_size


def test_handles_count_up_by_call(scratch: Scratch) -> None:
    assert [put(scratch, [{"n": n}]) for n in range(3)] == ["R0001", "R0002", "R0003"]
    assert scratch.handles() == ("R0001", "R0002", "R0003")


def test_the_same_call_with_the_same_content_has_the_same_handle(scratch: Scratch) -> None:
    first = scratch.put(ROWS, tool="search_logbook", arguments={"query": "error", "limit": 40})
    put(scratch, [{"other": True}])
    again = scratch.put(ROWS, tool="search_logbook", arguments={"limit": 40, "query": "error"})

    assert again == first
    assert len(files(scratch)) == 5


def test_the_same_content_of_another_call_has_its_own_handle(scratch: Scratch) -> None:
    assert put(scratch) != put(scratch, tool="logbook_trace")


def test_a_second_process_gives_the_same_handle(scratch: Scratch) -> None:
    handle = put(scratch)
    reopened = Scratch(scratch.root, scratch.incident)

    assert put(reopened) == handle
    assert put(reopened, [{"next": 1}]) == "R0002"


def test_two_writers_in_turn_see_each_other(scratch: Scratch) -> None:
    other = Scratch(scratch.root, scratch.incident)

    handles = [put(writer, [{"n": n}]) for n, writer in enumerate([scratch, other] * 4)]

    assert handles == [f"R{n:04d}" for n in range(1, 9)]
    assert put(scratch, [{"n": 7}]) == "R0008"


def test_a_writer_killed_half_way_makes_the_others_look_again(scratch: Scratch) -> None:
    put(scratch, [{"n": 1}])
    put(Scratch(tmp := scratch.root, "elsewhere"), [{"n": 2}])
    put(Scratch(tmp, "elsewhere"), [{"n": 3}])
    with disk.opened(tmp, "inc-1", create=False) as folder, disk.locked(folder) as lock:
        replace_mark(lock)
        for path in (tmp / "elsewhere").glob("R0002-*"):
            path.rename(tmp / "inc-1" / path.name)

    assert put(scratch, [{"n": 4}]) == "R0003"


def _put_from_process(root: Path, number: int) -> None:
    scratch = Scratch(root, "inc-1")
    for count in range(5):
        scratch.put([{"process": number, "count": count}], tool="t", arguments={})


def test_processes_and_threads_never_share_a_handle(scratch: Scratch) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_put_from_process, args=(scratch.root, n)) for n in range(2)
    ]
    threads = [
        threading.Thread(target=put, args=(scratch, [{"thread": number}])) for number in range(6)
    ]
    for process in processes:
        process.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        process.join()

    assert scratch.handles() == tuple(f"R{n:04d}" for n in range(1, 17))
    assert len({next(scratch.lines(handle)) for handle in scratch.handles()}) == 16


@pytest.mark.bad_input("B88")
def test_files_are_private_even_with_an_open_umask(scratch: Scratch) -> None:
    before = os.umask(0)
    try:
        put(scratch)
    finally:
        os.umask(before)

    folder = scratch.root / "inc-1"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_names_of_files_hold_no_word_of_the_model(scratch: Scratch) -> None:
    stored = scratch.put(ROWS, tool="../" * 90, arguments={"id": "x" * 300})

    assert stored.file.startswith("R0001-")
    assert len(stored.file) < 40
    assert scratch.stored("R0001").arguments == {"id": "x" * 300}


@pytest.mark.parametrize(
    "handle",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "%2e%2e/",
        "R0001\0",
        "R1",
        "r0001",
        "R0001:3",
        "",
        "R٠٠٠١",
        "R00001",
        "R0000",
        "R0001\n",
        "x" * 9000,
    ],
)
def test_what_is_not_a_handle_is_no_handle(scratch: Scratch, handle: str) -> None:
    put(scratch)

    with pytest.raises(ScratchError, match="is no handle; they look like R0007") as caught:
        scratch.line(handle, 1)

    assert len(str(caught.value)) < 100


def test_an_unknown_handle_names_those_that_exist(scratch: Scratch) -> None:
    with pytest.raises(ScratchError, match="nothing is stored yet"):
        scratch.line("R0001", 1)
    put(scratch)
    put(scratch, [{"n": 1}])

    with pytest.raises(
        ScratchError, match="no result R0009 in this incident; there are: R0001 to R0002"
    ):
        scratch.line("R0009", 1)


def test_another_incident_cannot_be_reached(scratch: Scratch) -> None:
    put(scratch)
    other = Scratch(scratch.root, "inc-2")
    put(other, [{"secret": 1}])
    put(other, [{"secret": 2}])

    with pytest.raises(ScratchError, match="no result R0002 in this incident"):
        scratch.line("R0002", 1)


@pytest.mark.parametrize("incident", ["", "..", ".", "../x", "a/b", "a\0b", "-rf", ".git", "a\n"])
def test_an_incident_is_one_plain_folder(tmp_path: Path, incident: str) -> None:
    with pytest.raises(ScratchError, match="cannot name a folder of scratch"):
        put(Scratch(tmp_path / "scratch", incident))


@pytest.mark.parametrize("kind", ["symlink", "hardlink", "fifo", "folder"])
def test_what_was_planted_in_place_of_a_result_is_never_opened(
    scratch: Scratch, tmp_path: Path, kind: str
) -> None:
    stored = scratch.put(ROWS, tool="search_logbook", arguments=CALL)
    path = scratch.root / "inc-1" / stored.file
    outside = tmp_path / "outside"
    outside.write_bytes(path.read_bytes())
    path.unlink()
    match kind:
        case "symlink":
            path.symlink_to(outside)
        case "hardlink":
            os.link(outside, path)
        case "fifo":
            os.mkfifo(path)
        case _:
            path.mkdir()

    with pytest.raises(ScratchError, match=r"not a plain file of ours|cannot be opened"):
        scratch.line("R0001", 1)


def test_a_link_in_place_of_the_incident_is_refused(scratch: Scratch, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    scratch.root.mkdir()
    (scratch.root / "inc-1").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ScratchError, match="is a link or a file, not a folder"):
        put(scratch)
    with pytest.raises(ScratchError, match="is a link or a file, not a folder"):
        scratch.line("R0001", 1)


def test_swept_rows_tell_the_model_to_search_again(scratch: Scratch) -> None:
    stored = scratch.put(ROWS, tool="search_logbook", arguments=CALL)
    (scratch.root / "inc-1" / stored.file).unlink()

    with pytest.raises(ScratchError, match=r'were swept; search again: search_logbook {"limit":40'):
        scratch.read("R0001", Span(), budget_bytes=100)
    assert scratch.put(ROWS, tool="search_logbook", arguments=CALL) == stored
    assert scratch.row("R0001", 1) == ROWS[0]


@pytest.mark.parametrize("damage", ["truncated", "changed"])
def test_damaged_rows_are_never_shown_and_mended_by_the_same_search(
    scratch: Scratch, damage: str
) -> None:
    stored = scratch.put(ROWS, tool="search_logbook", arguments=CALL)
    path = scratch.root / "inc-1" / stored.file
    scratch.line("R0001", 1)
    content = path.read_bytes()
    path.write_bytes(
        content[:-9] if damage == "truncated" else content.replace(b"line 3", b"line 8")
    )

    with pytest.raises(ScratchError, match="R0001 are damaged; search again"):
        scratch.line("R0001", 1)
    assert put(scratch) == "R0001"
    assert scratch.row("R0001", 4) == ROWS[3]


def test_a_damaged_entry_says_so(scratch: Scratch) -> None:
    stored = scratch.put(ROWS, tool="search_logbook", arguments=CALL)
    (scratch.root / "inc-1" / stored.file).with_suffix(".json").write_text("{")

    reopened = Scratch(scratch.root, scratch.incident)
    with pytest.raises(ScratchError, match="what R0001 answers is no longer readable"):
        reopened.stored("R0001")
    assert put(reopened) == "R0001"
    assert reopened.row("R0001", 1) == ROWS[0]


def test_a_crash_before_the_entry_leaves_no_handle_behind(scratch: Scratch) -> None:
    stored = scratch.put(ROWS, tool="search_logbook", arguments=CALL)
    (scratch.root / "inc-1" / stored.file).with_suffix(".json").unlink()

    assert scratch.handles() == ()
    assert put(scratch) == "R0001"


def test_a_full_scratch_refuses_the_new_and_keeps_the_old(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, "inc-1", limits=Limits(incident_bytes=2000))
    handle = put(scratch)
    before = files(scratch)

    with pytest.raises(ScratchError, match="this incident's scratch is full"):
        put(scratch, [*ROWS, {"more": 1}])
    with pytest.raises(ScratchError, match="larger than the 2,000 bytes"):
        put(scratch, ROWS * 10)

    assert files(scratch) == before
    assert put(scratch) == handle


def test_the_workspace_has_a_limit_of_its_own(tmp_path: Path) -> None:
    put(Scratch(tmp_path, "inc-1"))
    scratch = Scratch(tmp_path, "inc-2", limits=Limits(total_bytes=2000))

    with pytest.raises(ScratchError, match="the workspace's scratch is full"):
        put(scratch, [*ROWS, {"more": 1}])


def test_a_folder_that_cannot_be_written_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("a file")

    with pytest.raises(
        ScratchError, match=r"result of search_logbook could not be kept in .*scratch/inc-1"
    ):
        put(Scratch(tmp_path / "scratch", "inc-1"))


def test_nothing_found_is_a_result_too(scratch: Scratch) -> None:
    stored = scratch.put([], tool="search_logbook", arguments=CALL)

    assert (stored.handle, stored.lines, stored.bytes) == ("R0001", 0, 0)
    assert list(scratch.lines("R0001")) == []
    with pytest.raises(ScratchError, match="R0001 has no line 1; it is empty: nothing was found"):
        scratch.line("R0001", 1)


@pytest.mark.parametrize("number", [0, -1, 31, 10**18])
def test_a_line_outside_names_the_lines_inside(scratch: Scratch, number: int) -> None:
    put(scratch)

    with pytest.raises(ScratchError, match=f"R0001 has no line {number}; its lines are 1 to 30"):
        scratch.line("R0001", number)


def test_what_json_cannot_hold_becomes_text(scratch: Scratch) -> None:
    put(scratch, [{"rate": float("nan"), "deep": [{"x": float("-inf")}]}, {"bad": "\ud800"}])

    assert scratch.row("R0001", 1) == {"rate": "nan", "deep": [{"x": "-inf"}]}
    assert scratch.row("R0001", 2) == {"bad": "\ud800"}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
JSON_ROWS = st.lists(st.dictionaries(st.text(), JSON, max_size=5), max_size=8)


@settings(max_examples=60, deadline=None)
@given(rows=JSON_ROWS)
def test_put_then_read_is_identity(
    rows: list[JsonObject], tmp_path_factory: pytest.TempPathFactory
) -> None:
    scratch = Scratch(tmp_path_factory.mktemp("scratch"), "inc")

    handle = put(scratch, rows)

    assert [scratch.row(handle, n + 1) for n in range(len(rows))] == rows
    assert put(Scratch(scratch.root, "inc"), rows) == handle


@settings(max_examples=300, deadline=None)
@given(handle=st.text() | st.from_regex(r"[Rr./%\\]{0,6}[0-9]{0,12}[/.\x00:]?"))
def test_no_string_opens_anything_but_a_result(
    handle: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scratch = Scratch(tmp_path_factory.getbasetemp() / "grammar", "inc")
    known = scratch.put([{"only": 1}], tool="t", arguments={}).handle

    try:
        line = scratch.line(handle, 1)
    except ScratchError:
        assert handle != known
    else:
        assert (handle, line) == (known, '{"only":1}')

"""A sweep removes old rows, keeps what is open, and never lets a handle be given twice."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from copilot.errors import ScratchError
from copilot.scratch.store import Scratch
from copilot.scratch.sweeping import Usage, listing, sweep, usage

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def put(root: Path, incident: str, number: int, age_days: int) -> Scratch:
    scratch = Scratch(root, incident)
    stored = scratch.put([{"n": number}], tool="search_logbook", arguments={"n": number})
    time = (NOW - timedelta(days=age_days)).timestamp()
    os.utime(root / incident / stored.file, (time, time))
    return scratch


def month_old(root: Path, keep: tuple[str, ...] = ()) -> int:
    return sweep(root, older_than=NOW - timedelta(days=30), keep=keep).files


def test_old_rows_go_and_new_ones_stay(tmp_path: Path) -> None:
    scratch = put(tmp_path, "inc-1", 1, age_days=40)
    put(tmp_path, "inc-1", 2, age_days=4)

    assert month_old(tmp_path) == 1
    assert scratch.row("R0002", 1) == {"n": 2}
    with pytest.raises(
        ScratchError, match=r'R0001 were swept; search again: search_logbook {"n":1}'
    ):
        scratch.row("R0001", 1)


def test_an_open_incident_is_kept(tmp_path: Path) -> None:
    scratch = put(tmp_path, "inc-1", 1, age_days=400)

    assert month_old(tmp_path, keep=("inc-1",)) == 0
    assert scratch.row("R0001", 1) == {"n": 1}


def test_a_swept_handle_is_never_given_again(tmp_path: Path) -> None:
    scratch = put(tmp_path, "inc-1", 1, age_days=40)
    month_old(tmp_path)

    assert scratch.put([{"n": 2}], tool="t", arguments={}).handle == "R0002"
    assert scratch.put([{"n": 1}], tool="search_logbook", arguments={"n": 1}).handle == "R0001"
    assert scratch.row("R0001", 1) == {"n": 1}


def test_what_an_interrupted_writer_left_behind_goes_too(tmp_path: Path) -> None:
    put(tmp_path, "inc-1", 1, age_days=1)
    orphan = tmp_path / "inc-1" / ".tmp-0123"
    orphan.write_text("half a row")
    os.utime(orphan, (0, 0))

    assert month_old(tmp_path, keep=("inc-1",)) == 1
    assert not orphan.exists()


def test_what_is_not_an_incident_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "R0001-0123456789abcdef.jsonl").write_text("{}")
    os.utime(tmp_path / "outside" / "R0001-0123456789abcdef.jsonl", (0, 0))
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "link").symlink_to(tmp_path / "outside")

    assert month_old(tmp_path / "scratch") == 0
    assert month_old(tmp_path / "none") == 0


def test_usage_says_what_each_incident_takes(tmp_path: Path) -> None:
    put(tmp_path, "inc-1", 1, age_days=40)
    put(tmp_path, "inc-1", 2, age_days=4)
    put(tmp_path, "inc-2", 3, age_days=50)
    month_old(tmp_path)

    assert usage(tmp_path) == (
        Usage("inc-1", 2, len('{"n":2}\n'), NOW - timedelta(days=4)),
        Usage("inc-2", 1, 0, None),
    )


def test_a_listing_shows_swept_and_damaged_results_as_such(tmp_path: Path) -> None:
    put(tmp_path, "inc-1", 1, age_days=40)
    put(tmp_path, "inc-1", 2, age_days=4)
    scratch = put(tmp_path, "inc-1", 3, age_days=2)
    month_old(tmp_path)
    name = Path(scratch.stored("R0003").file)
    (tmp_path / "inc-1" / name.with_suffix(".json")).write_text("{")

    found = listing(tmp_path, "inc-1")

    assert [item.handle for item in found] == ["R0001", "R0002", "R0003"]
    assert [item.written for item in found] == [
        None,
        NOW - timedelta(days=4),
        NOW - timedelta(days=2),
    ]
    assert [item.stored is None for item in found] == [False, False, True]
    assert listing(tmp_path, "unknown") == ()

"""The journal keeps every whole event and nothing torn."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.journal import Event, Journal, JournalError, JournalTakenError, read_events

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def opened(path: Path) -> Journal:
    return Journal(path, now=lambda: NOW)


def test_events_come_back_in_their_order(tmp_path: Path) -> None:
    with opened(tmp_path / "journal.jsonl") as journal:
        journal.append("started", 0, {"message": "a"})
        journal.append("response", 1, {"raw": {"content": []}})

    assert [event.seq for event in read_events(tmp_path / "journal.jsonl")] == [1, 2]


def test_a_torn_last_line_is_cut_off_and_the_next_event_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with opened(path) as journal:
        journal.append("started", 0, {})
    with path.open("ab") as file:
        file.write(b'{"seq":2,"time":"2026-11-30T1')

    with opened(path) as journal:
        journal.append("limit", 1, {"limit": "turns"})

    assert [event.kind for event in read_events(path)] == ["started", "limit"]


@settings(max_examples=50)
@given(cut=st.integers(min_value=0))
def test_a_journal_cut_anywhere_opens_with_the_events_that_are_whole(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    with opened(path) as journal:
        whole = [
            len((journal.append("nudge", n, {"text": "x"}).line() + "\n").encode())
            for n in range(3)
        ]
    content = path.read_bytes()
    cut %= len(content) + 1
    path.write_bytes(content[:cut])

    with opened(path) as journal:
        expected = sum(sum(whole[: n + 1]) <= cut for n in range(3))
        assert len(journal.events) == expected


def test_a_line_that_was_only_partly_written_is_taken_back_and_the_journal_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    with opened(path) as journal:
        journal.append("started", 0, {})
        write = os.write
        with monkeypatch.context() as full:
            full.setattr(os, "write", lambda file, line: write(file, line[:10]))
            with pytest.raises(JournalError, match="run the same command again"):
                journal.append("nudge", 1, {"text": "lost"})
        journal.append("limit", 1, {"limit": "turns"})

    assert [event.kind for event in read_events(path)] == ["started", "limit"]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "journal.jsonl"), pytest.raises(JournalError, match="another process"):
        opened(tmp_path / "journal.jsonl")


def test_a_line_changed_by_hand_is_named_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("not json\n")

    with pytest.raises(JournalError, match=r"journal\.jsonl:1: not an event"):
        opened(path)


def test_an_observer_sees_each_event_after_it_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    seen: list[tuple[Event, int]] = []

    with Journal(
        path, now=lambda: NOW, observe=lambda e: seen.append((e, len(read_events(path))))
    ) as journal:
        journal.append("started", 0, {})

    assert [on_disk for _, on_disk in seen] == [1]


def test_a_frozen_owner_loses_its_journal_and_what_it_writes_later_goes_nowhere(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.jsonl"
    with opened(path) as frozen:
        frozen.append("started", 0, {})
        with Journal(path, now=lambda: NOW, take_over=True) as owner:
            owner.append("limit", 1, {"limit": "turns"})

            with pytest.raises(JournalTakenError, match="another process took over"):
                frozen.append("nudge", 1, {"text": "late"})

            owner.append("report", 2, {})

    assert [event.kind for event in read_events(path)] == ["started", "limit", "report"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_journal_taken_from_another_process_keeps_what_that_one_recorded(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    code = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path;"
        "from copilot.journal import Journal;"
        "journal = Journal(Path(sys.argv[1]), now=lambda: datetime.now(UTC));"
        "journal.append('started', 0, {}); print('ready', flush=True); sys.stdin.readline();"
        "journal.append('nudge', 1, {})"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as frozen:  # fmt: skip
        assert frozen.stdout is not None
        assert frozen.stdout.readline() == "ready\n"
        with pytest.raises(JournalError, match="another process is writing"):
            opened(path)

        with Journal(path, now=lambda: NOW, take_over=True) as owner:
            _, said = frozen.communicate("go on\n")

            assert "JournalTakenError" in said
            assert [event.kind for event in owner.events] == ["started"]


def test_an_event_that_was_written_while_the_journal_was_taken_does_not_count_for_its_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    sync = os.fdatasync
    taken: list[Journal] = []

    def take_first(file: int) -> None:
        monkeypatch.setattr(os, "fdatasync", sync)
        taken.append(Journal(path, now=lambda: NOW, take_over=True))
        sync(file)

    with opened(path) as frozen:
        frozen.append("started", 0, {})
        monkeypatch.setattr(os, "fdatasync", take_first)
        with pytest.raises(JournalTakenError):
            frozen.append("nudge", 1, {})

        assert [event.kind for event in frozen.events] == ["started"]
    with taken[0] as owner:
        assert read_events(path) == owner.events


def test_a_journal_that_nobody_holds_is_opened_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    opened(path).close()
    before = path.stat().st_ino

    Journal(path, now=lambda: NOW, take_over=True).close()

    assert path.stat().st_ino == before


def test_a_journal_that_was_moved_away_is_not_written_any_more(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with opened(path) as journal:
        path.rename(tmp_path / "moved")

        with pytest.raises(JournalTakenError, match="moved away"):
            journal.append("started", 0, {})

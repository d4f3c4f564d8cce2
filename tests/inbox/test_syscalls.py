"""System calls that fail, or kill: what was acknowledged is on the disk, and nothing else was."""

import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from copilot.inbox.inbox import Inbox
from tests.inbox.arrivals import NOW, RULES
from tests.inbox.conftest import Open

ROOT = Path(__file__).resolve().parents[2]
CALLS = "pwrite64,fdatasync,fsync,ftruncate,write"
LINE = re.compile(r"(?P<thread>\d+) +(?P<call>\w+)\((?P<file>\d+)<(?P<path>[^>]*)>(?P<rest>.*)")
RESUMED = re.compile(r"(?P<thread>\d+) +<\.\.\. (?P<call>\w+) resumed>(?P<rest>.*)")


@pytest.fixture(scope="module")
def strace() -> str:
    """Return the path of strace, where it may trace a process of ours."""
    path = shutil.which("strace")
    if not path:
        pytest.skip("strace is not installed")
    if subprocess.run(
        [path, "-qq", "-o", "/dev/null", "true"], check=False, capture_output=True
    ).returncode:
        pytest.skip("strace may not trace processes here (ptrace is refused)")
    return path


@pytest.fixture
def prepared(file: Path) -> Path:
    """Return the file of an empty inbox."""
    Inbox(file, RULES, now=lambda: NOW).shut()
    return file


def sent(file: Path, count: int, *extra: str, under: tuple[str, ...] = ()) -> list[str]:
    """Return what a process was told that sent *count* alerts into that file."""
    command = [*under, sys.executable, "-m", "tests.inbox.sender", str(file), str(count), *extra]
    done = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=60
    )
    return done.stdout.splitlines()


def with_fault(strace: str, trace: Path, fault: str) -> tuple[str, ...]:
    """Return the command that runs another with *fault*, and writes down its system calls."""
    return (
        strace, "-f", "-y", "-qq", "-o", str(trace), "-e", f"trace={CALLS}",
        "-e", f"inject={fault}",
    )  # fmt: skip


def accepted(said: list[str]) -> set[str]:
    """Return the workflows whose alerts were acknowledged."""
    return {line.split()[1] for line in said if line.startswith("accepted")}


def kept(file: Path, opened: Open) -> set[str]:
    """Return the workflows that a new daemon finds, in a file that is sound."""
    inbox = opened(file)
    assert inbox.moved_aside == ""
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    connection.close()
    return {entry.title.split()[0] for entry in inbox.list()}


def acknowledged_unsynced(trace: Path) -> list[str]:
    """Return the acknowledgements that were given while some write to the log was not synced."""
    is_synced = True
    early = []
    begun: dict[str, str] = {}
    for line in trace.read_text(errors="replace").splitlines():
        if resumed := RESUMED.match(line):
            path, call, rest = begun.pop(resumed["thread"], ""), resumed["call"], resumed["rest"]
        elif found := LINE.match(line):
            path, call, rest = found["path"], found["call"], found["rest"]
            begun[found["thread"]] = path
        else:
            continue
        if path.endswith("-wal") and call == "pwrite64":
            is_synced = False
        elif path.endswith("-wal") and call == "fdatasync" and rest.endswith("= 0"):
            is_synced = True
        elif call == "write" and '"accepted' in rest and not is_synced:
            early.append(line)
    return early


# Counted in the thread that writes: 8 marks in the shared index, the log's head and its sync, and
# then for each alert 16 writes and a sync.
KILLS = [("fdatasync", 3), ("fdatasync", 4), ("pwrite64", 9), ("pwrite64", 25), ("pwrite64", 33)]


@pytest.mark.parametrize(("call", "number"), KILLS)
def test_after_a_kill_at_any_call_what_was_acknowledged_is_there(
    strace: str, prepared: Path, opened: Open, tmp_path: Path, call: str, number: int
) -> None:
    fault = f"{call}:signal=SIGKILL:when={number}"

    said = sent(prepared, 3, under=with_fault(strace, tmp_path / "trace", fault))

    assert len(said) < 3
    assert acknowledged_unsynced(tmp_path / "trace") == []
    assert accepted(said) <= kept(prepared, opened)


@pytest.mark.parametrize(
    "fault",
    [
        "fdatasync:error=EIO:when=3+4",
        "fdatasync:error=ENOSPC:when=4+5",
        "pwrite64:error=ENOSPC:when=34+60",
    ],
)
def test_after_a_failed_call_the_alert_is_refused_and_the_inbox_heals(
    strace: str, prepared: Path, opened: Open, tmp_path: Path, fault: str
) -> None:
    said = sent(prepared, 5, under=with_fault(strace, tmp_path / "trace", fault))

    everything = {f"wf_{number}" for number in range(5)}
    assert "refused" in {line.split()[0] for line in said}
    assert acknowledged_unsynced(tmp_path / "trace") == []
    assert accepted(said) == everything
    assert kept(prepared, opened) == everything


def test_a_disk_that_never_syncs_gets_nothing_acknowledged(
    strace: str, prepared: Path, tmp_path: Path
) -> None:
    fault = "fdatasync:error=EIO:when=1+1"

    said = sent(prepared, 2, under=with_fault(strace, tmp_path / "trace", fault))

    assert accepted(said) == set()
    assert said[:2] == ["refused wf_0", "refused wf_0"]


@pytest.mark.bad_input("B33")
def test_a_file_that_may_not_grow_refuses_and_takes_the_same_alert_later(
    prepared: Path, opened: Open
) -> None:
    """The disk is full, and then it is not."""
    said = sent(prepared, 30, "--limit", "200000")

    everything = {f"wf_{number}" for number in range(30)}
    assert [line.split()[0] for line in said].count("refused") == 1
    assert accepted(said) == everything
    assert kept(prepared, opened) == everything


def test_on_a_disk_of_one_mebibyte_what_was_acknowledged_is_there(file: Path) -> None:
    file.parent.mkdir()
    script = f'mount -t tmpfs -o size=1m none "{file.parent}" && exec "$@"'
    mounted = ("unshare", "--mount", "sh", "-c", script, "sh")
    if subprocess.run([*mounted, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount a small disk of its own")
    check = f"{sys.executable} -m tests.inbox.sender {file} 500; cp {file.parent}/* {file.parent.parent}"

    done = subprocess.run(
        [*mounted, "sh", "-c", check],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    said = done.stdout.splitlines()
    copy = file.parent.parent / file.name
    with Inbox(copy, RULES, now=lambda: NOW) as inbox:
        found = {entry.title.split()[0] for entry in inbox.list(limit=1000)}
    assert "refused" in {line.split()[0] for line in said}
    assert 0 < len(accepted(said)) < 500
    assert accepted(said) <= found

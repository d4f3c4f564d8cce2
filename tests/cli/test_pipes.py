"""The command in a process of its own: pipes, closed ends, narrow and dumb terminals."""

import os
import pty
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import pyte
import pytest

from tests.cli.conftest import Run, in_process_of_its_own

SIGNS_OF_A_CRASH = (b"Traceback", b"Exception ignored", b"UnicodeEncodeError")


@pytest.fixture
def many(workspace: Path) -> Path:
    """Return a workspace whose log has more lines than a pipe holds."""
    lines = [
        f"2026-01-31 12:00:00,{n % 1000:03} INFO  app: line {n} é {'x' * 100}" for n in range(5000)
    ]
    (workspace / "app.log").write_text("\n".join(lines) + "\n")
    assert in_process_of_its_own("logbook", "import", "app.log").returncode == 0
    return workspace


SIZE = ("COLUMNS", "LINES")


def on_a_terminal(*arguments: str, columns: int = 80, term: str = "xterm") -> tuple[bytes, int]:
    """Return what a terminal of that width received, and the exit code."""
    pid, master = pty.fork()
    if pid == 0:
        ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        # readline, which pytest loads, puts a COLUMNS where os.environ does not show it, and
        # a worker of pytest inherits it.
        words = [sys.executable, "-m", "copilot", *arguments]
        inherited = {name: os.environ[name] for name in os.environ if name not in SIZE}
        os.execve(sys.executable, words, {**inherited, "TERM": term})
    received = b""
    try:
        while chunk := os.read(master, 65536):
            received += chunk
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(master)
    return received, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def seen(received: bytes, columns: int) -> list[str]:
    """Return the lines that a person sees, those scrolled away included."""
    screen = pyte.HistoryScreen(columns, 40, history=100_000)
    pyte.ByteStream(screen).feed(received)
    above = ["".join(line[n].data for n in range(columns)) for line in screen.history.top]
    return [line.rstrip() for line in [*above, *screen.display]]


def test_a_reader_that_leaves_early_is_no_error(many: Path) -> None:
    command = f"{sys.executable} -m copilot logbook search --limit 5000 | head -1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, check=True, env=dict(os.environ), timeout=60
    )

    line, code = done.stdout.splitlines()
    assert line.startswith(b"2026-01-31T12:00:00")
    assert code == b"0"
    assert not [sign for sign in SIGNS_OF_A_CRASH if sign in done.stderr]


def test_both_outputs_closed_is_no_crash(many: Path) -> None:
    command = f"{sys.executable} -m copilot logbook search --limit 5000 2>&1 | head -1"

    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=60)

    assert not [sign for sign in SIGNS_OF_A_CRASH if sign in done.stdout + done.stderr]


def test_an_investigation_outlives_the_reader_of_its_events(filled: Path) -> None:
    command = (
        f"{sys.executable} -m copilot investigate alert.json --jsonl 2>&1 >/dev/null | head -1"
    )
    subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=60)
    command = f"{sys.executable} -m copilot investigate alert.json --jsonl 2>/dev/null | head -1"
    subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=60)

    (report,) = (filled / "notes").glob("*/report.md")
    assert report.read_text()


@pytest.mark.bad_input("B89")
def test_closed_standard_streams_are_no_crash(filled: Path) -> None:
    command = f"{sys.executable} -m copilot investigate - <&-; echo $? >&2"

    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=60)

    assert done.stderr.splitlines()[-1] == b"2"
    assert b"stdin is closed" in done.stderr


@pytest.mark.bad_input("B89")
def test_an_investigation_with_no_stream_at_all_leaves_its_report(filled: Path) -> None:
    command = f"{sys.executable} -m copilot investigate alert.json <&- >&- 2>&-; exit $?"

    done = subprocess.run(["bash", "-c", command], check=False, timeout=60)

    assert done.returncode == 0
    (report,) = (filled / "notes").glob("*/report.md")
    assert report.read_text()


@pytest.mark.bad_input("B90")
def test_an_investigation_with_32_open_files_leaves_its_report(filled: Path) -> None:
    command = f"ulimit -n 32; exec {sys.executable} -m copilot investigate alert.json"

    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=60)

    assert done.returncode == 0, done.stderr
    (report,) = (filled / "notes").glob("*/report.md")
    assert report.read_text()


@pytest.mark.parametrize(
    "environ",
    [
        {"LANG": "C", "PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
)
def test_no_encoding_breaks_a_command(filled: Path, environ: dict[str, str], run: Run) -> None:
    (filled / "odd.log").write_text("2026-01-31 12:09:00,000 ERROR app: 日本 é \U0001f4a5\n")
    run("logbook", "import", "odd.log")

    for words in (("logbook", "search"), ("logbook", "search", "--json"), ("doctor",),
                  ("investigate", "alert.json")):  # fmt: skip
        done = in_process_of_its_own(*words, environ=environ)
        assert done.returncode == 0, (words, done.stderr)
        assert not [sign for sign in SIGNS_OF_A_CRASH if sign in done.stderr]


def test_a_pipe_gets_neither_colour_nor_a_cut(filled: Path) -> None:
    done = in_process_of_its_own(
        "logbook", "search", environ={"TERM": "xterm-256color", "COLUMNS": "20"}
    )

    assert b"\x1b" not in done.stdout + done.stderr
    assert b"socket.gaierror: [Errno -2] Name or service not known" in done.stdout


def test_force_color_colours_a_pipe_and_no_color_wins(filled: Path) -> None:
    forced = in_process_of_its_own("logbook", "search", environ={"FORCE_COLOR": "1"})
    both = in_process_of_its_own("logbook", "search", environ={"FORCE_COLOR": "1", "NO_COLOR": "1"})

    assert b"\x1b[" in forced.stdout
    assert b"\x1b" not in both.stdout


def test_log_text_reaches_a_terminal_as_text_only(filled: Path) -> None:
    received, code = on_a_terminal("--color", "never", "logbook", "search", "door", columns=400)

    assert code == 0
    (line,) = [line for line in seen(received, 400) if "door" in line]
    for word in ("\\x1b]0;owned\\x07", "\\x1b[2J", "\\x9b31m", "[link=http://evil.example]x[/link]",
                 "[/foo]", "[bold red]loud[/]", "\\u202egnp.exe", ":warning:", "end"):  # fmt: skip
        assert word in line
    assert not set(b"\x1b\x07\x9b") & set(received)


def test_with_colours_only_our_own_reach_the_terminal(filled: Path) -> None:
    received, code = on_a_terminal("logbook", "search", "door", columns=400)

    assert code == 0
    screen = pyte.Screen(400, 40)
    pyte.ByteStream(screen).feed(received)
    assert screen.title == ""
    assert any("owned" in line for line in screen.display)
    sequences = [part.partition(b"m")[0] for part in received.split(b"\x1b")[1:]]
    assert all(part.strip(b"[0123456789;") == b"" for part in sequences)


@pytest.mark.parametrize("columns", [20, 80])
def test_an_investigation_on_a_terminal_ends_with_a_clean_screen(
    filled: Path, columns: int
) -> None:
    received, code = on_a_terminal("investigate", "alert.json", columns=columns)

    lines = seen(received, columns)
    assert code == 0
    assert any(line.startswith("Investigator") for line in lines)
    assert not any("tokens in the window · $" in line for line in lines)
    assert received.rfind(b"\x1b[?25h") > received.rfind(b"\x1b[?25l")


def test_the_pinned_line_says_turn_tool_time_tokens_and_dollars(filled: Path) -> None:
    received, _ = on_a_terminal("--color", "never", "investigate", "alert.json", columns=120)

    text = received.decode("utf-8", "replace")
    assert "turn 1 · " in text
    assert " tokens in the window · $0.0000" in text


def test_a_dumb_terminal_gets_lines_and_no_control_bytes(filled: Path) -> None:
    received, code = on_a_terminal("investigate", "alert.json", term="dumb")

    assert code == 0
    assert b"\x1b" not in received
    assert b"turn 1: asking" in received


def test_twenty_columns_are_enough(investigated: str) -> None:
    for words in (
        ("incidents", "list"), ("logbook", "overview"), ("doctor",), ("--help",),
        ("tickets", "show", "OPS-7"), ("config", "show", "--origin"),
    ):  # fmt: skip
        received, code = on_a_terminal(*words, columns=20)
        assert code == 0, words
        assert not [sign for sign in SIGNS_OF_A_CRASH if sign in received]

"""MCP servers as subprocesses: one of ours that misbehaves, and a published one."""

import gc
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from connectors.mcp_servers import Launch, McpServer
from connectors.mcp_servers.contents import MAX_ROWS
from copilot.errors import ConnectorError

ODD = Path(__file__).with_name("odd_server.py")
TIME = Path(sys.executable).with_name("mcp-server-time")
Opener = Callable[..., McpServer]


def is_running(pid: int) -> bool:
    """Whether it does anything still: one that nobody has asked after is dead all the same."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()[:60]
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(pid: int) -> bool:
    """Whether it is gone, now or soon: a process that was killed takes a moment to die."""
    limit = time.monotonic() + 60
    while is_running(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not is_running(pid)


def message(server: McpServer, tool: str) -> str:
    """The one line that the tool answers."""
    (row,) = server.call(tool, {}).rows
    return str(row["message"])


def redacted(text: str) -> str:
    return text.replace("hunter2hunter2", "xxxxx")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opener]:
    """Makes servers, and ends them after the test."""
    made: list[McpServer] = []

    def make(
        *command: str, timeout_s: float = 60, now: Callable[[], float] = lambda: 0
    ) -> McpServer:
        launch = Launch(
            "odd",
            command or (sys.executable, str(ODD), str(tmp_path / "starts")),
            tmp_path,
            lambda: {"PATH": "/usr/bin:/bin", "SITE_TOKEN": "given"},
            timeout_s,
        )
        made.append(McpServer(launch, redact=redacted, clock=now))
        return made[-1]

    yield make
    for server in made:
        server.close()


def test_a_published_server_answers(opened: Opener) -> None:
    server = opened(str(TIME), "--local-timezone", "UTC")

    hints = {tool.name: tool.reads_only for tool in server.tools()}
    (row,) = server.call("get_current_time", {"timezone": "UTC"}).rows

    assert hints == {"get_current_time": True, "convert_time": True}
    assert row["timezone"] == "UTC"
    assert "Invalid timezone" in server.call("get_current_time", {"timezone": "Mars"}).refused


def test_a_server_is_started_once_and_answers_with_records(opened: Opener, tmp_path: Path) -> None:
    server = opened()

    reply = server.call("hosts", {"site": "se"})
    server.tools()

    assert reply.rows[0] == {"host": "se-00.example.org", "state": "up"}
    assert len(reply.rows) == 3
    assert (tmp_path / "starts").read_bytes() == b"."


def test_each_line_of_a_text_is_a_row(opened: Opener) -> None:
    rows = opened().call("lines", {"count": 2}).rows

    assert [row["message"] for row in rows] == [f"line {n} of se01.example.org" for n in (0, 1)]


def test_the_read_only_hint_is_the_servers_word(opened: Opener) -> None:
    hints = {tool.name: tool.reads_only for tool in opened().tools()}

    assert (hints["hosts"], hints["unmarked"]) == (True, False)


def test_the_environment_holds_only_what_was_named(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "never")

    names = {row["message"] for row in opened().call("environment", {}).rows}

    assert names - {"LC_CTYPE"} == {"PATH", "SITE_TOKEN"}  # Python sets LC_CTYPE itself


def test_a_crash_is_one_failed_call_and_the_next_one_starts_it_again(
    opened: Opener, tmp_path: Path
) -> None:
    server = opened()

    with pytest.raises(
        ConnectorError,
        match="ended with exit status 3; it said last: «about to > end, password=xxxxx»",
    ):
        server.call("crash", {})

    assert server.call("lines", {"count": 1}).rows
    assert (tmp_path / "starts").read_bytes() == b".."


def test_a_server_that_failed_twice_is_left_alone_for_a_while(opened: Opener) -> None:
    now = [0.0]
    server = opened(now=lambda: now[0])
    for _ in range(2):
        with pytest.raises(ConnectorError, match="exit status 3"):
            server.call("crash", {})

    with pytest.raises(
        ConnectorError, match=r"failed 2 times in a row and is started again in 2 s"
    ):
        server.call("pid", {})

    now[0] = 2.1
    assert server.call("pid", {}).rows


def test_a_server_that_hangs_is_ended_with_its_process(opened: Opener) -> None:
    server = opened(timeout_s=3)
    pid = int(message(server, "pid"))

    with pytest.raises(ConnectorError, match="did not answer hang within 3 s"):
        server.call("hang", {})

    assert ends(pid)


def test_a_server_that_is_slow_with_one_call_stays(opened: Opener) -> None:
    server = opened(timeout_s=3)
    pid = message(server, "pid")

    with pytest.raises(ConnectorError, match="did not answer slow within 3 s"):
        server.call("slow", {})

    assert message(server, "pid") == pid


def test_a_silent_program_is_given_up(opened: Opener) -> None:
    with pytest.raises(ConnectorError, match=r"did not answer within 0\.5 s of its start"):
        opened("sleep", "60", timeout_s=0.5).tools()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("/nowhere/server", "/nowhere/server cannot be started .* look at mcp_servers"),
        ("true", "ended with exit status 0"),
    ],
)
def test_what_is_no_server_is_said(opened: Opener, command: str, why: str) -> None:
    with pytest.raises(ConnectorError, match=why):
        opened(command).tools()


@pytest.mark.parametrize("tool", ["flood", "chatter"])
def test_a_server_that_says_too_much_is_ended(opened: Opener, tool: str) -> None:
    with pytest.raises(ConnectorError, match="more than 8 MiB at once; ask for less"):
        opened().call(tool, {})


def test_of_too_many_rows_the_first_are_taken_and_the_cut_is_told(opened: Opener) -> None:
    reply = opened().call("lines", {"count": MAX_ROWS + 1})

    assert (len(reply.rows), reply.is_cut) == (MAX_ROWS, True)


def test_what_is_no_text_is_named(opened: Opener) -> None:
    assert opened().call("picture", {}).rows == (
        {"load": 3},
        {"message": "[image image/png, 300 B, not read]"},
        {"message": "[link graph file:///graph, not fetched]"},
    )


def test_a_tool_that_is_described_otherwise_after_a_start_is_not_called(opened: Opener) -> None:
    server = opened()
    first = server.tools()
    with pytest.raises(ConnectorError, match="exit status 3"):
        server.call("crash", {})

    with pytest.raises(ConnectorError, match=r"moody: it is not what it was .* or send it SIGHUP"):
        server.call("moody", {})

    assert server.changed == {"moody"}
    assert server.tools() == first
    assert server.call("lines", {"count": 1}).rows


def test_a_tool_that_is_taken_back_is_changed_too(opened: Opener) -> None:
    server = opened()
    server.tools()
    server.call("forget", {})

    server.tools()

    assert server.changed == {"lines"}


def test_a_refusal_is_an_answer_and_redacted(opened: Opener) -> None:
    server = opened()

    assert server.call("nothing", {}).refused == "there is no 'nothing'; password=xxxxx"
    assert server.call("fails", {}).refused == "no such site; password=xxxxx"


def test_closing_ends_the_process_and_what_it_started(opened: Opener) -> None:
    server = opened()
    pids = [int(message(server, tool)) for tool in ("pid", "child")]

    server.close()

    assert all(map(ends, pids))


def test_a_server_that_nobody_holds_any_more_is_ended(tmp_path: Path) -> None:
    server = McpServer(Launch("odd", (sys.executable, str(ODD)), tmp_path, dict), redact=str)
    pid = int(message(server, "pid"))

    del server
    gc.collect()

    assert ends(pid)


def test_what_it_complains_of_is_logged_redacted(
    opened: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    with pytest.raises(ConnectorError):
        opened().call("crash", {})

    assert "event=mcp_stderr server=odd text='about to » end, password=xxxxx'" in caplog.text

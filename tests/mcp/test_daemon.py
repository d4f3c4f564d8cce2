"""A daemon with an MCP server: one call through all of it, and nothing left behind."""

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from copilot.config import load_settings
from copilot.daemon.daemon import Daemon
from copilot.daemon.signals import Signals
from copilot.errors import ConfigError
from copilot.workspace import Workspace
from tests.bench import made_workspace
from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi, calls
from tests.doubles.messages_api.script import Reply
from tests.mcp.test_servers import ODD, ends, is_running

SERVER = f"mcp_servers:\n- name: odd\n  command: [{sys.executable}, {ODD}]\n  allow: [child]\n"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
def test_what_a_server_started_ends_at_a_reload_and_with_the_daemon(
    tmp_path: Path, number: signal.Signals
) -> None:
    investigator = Investigator(turns=4)

    def play(body: dict[str, Any]) -> Reply:
        turn = 1 + sum(message["role"] == "assistant" for message in body["messages"])
        return calls(("odd_child", {})) if turn == 3 else investigator(body)

    with MessagesApi(responder=play) as api, RunningDaemon(tmp_path, api, rest=SERVER) as daemon:
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait_for([incident])
        (row,) = (tmp_path / "scratch" / incident).glob("R0002*.jsonl")
        child = int("".join(filter(str.isdecimal, row.read_text())))
        assert is_running(child)
        assert daemon.process
        daemon.process.send_signal(number)

        assert ends(child)


def test_a_daemon_does_not_start_where_a_name_is_taken(tmp_path: Path) -> None:
    made_workspace(tmp_path)
    text = SERVER.replace("name: odd", "name: search").replace("child", "logbook")
    (tmp_path / "copilot.yaml").write_text(text)

    with pytest.raises(ConfigError, match="search_logbook is the name of a tool of the copilot"):
        Daemon(lambda: Workspace(load_settings(tmp_path, {}, tmp_path), {}), {}, Signals())

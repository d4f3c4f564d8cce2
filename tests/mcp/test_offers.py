"""MCP servers in an investigation: what is offered, what is refused, what the model reads."""

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from copilot import surface
from copilot.cli.root import root
from copilot.config import load_settings
from copilot.doctor import examine
from copilot.errors import ConfigError
from copilot.mcp.offers import remote_tools
from copilot.workspace import Workspace
from policies.schema import Policy, ToolPolicy
from tests.bench import NOW, REPORT, STORY, Bench
from tests.mcp.test_servers import ODD, ends


def settings_text(allow: str, *, name: str = "odd", trusted: str = "") -> str:
    return (
        "model:\n  name: local-model\n  base_url: http://127.0.0.1:9\n"
        f"mcp_servers:\n- name: {name}\n  command: [{sys.executable}, {ODD}]\n"
        f"  allow: [{allow}]\n  trusted: [{trusted}]\n"
    )


def opened(folder: Path, workspaces: list[Workspace], text: str) -> Workspace:
    (folder / "copilot.yaml").write_text(text)
    workspace = Workspace(load_settings(folder, {}, folder), {}, now=lambda: NOW)
    workspaces.append(workspace)
    return workspace


def offered(workspace: Workspace) -> dict[str, dict[str, Any]]:
    definitions = surface.registry_for(workspace).definitions()
    return {tool["name"]: tool for tool in definitions if tool["name"].startswith("odd_")}


def test_only_named_tools_are_offered_with_the_servers_name_before_theirs(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, settings_text("hosts"))

    tools = offered(workspace)

    assert list(tools) == ["odd_hosts"]
    assert tools["odd_hosts"]["input_schema"]["required"] == ["site"]


def test_a_tool_without_the_hint_is_refused_unless_it_is_trusted(
    folder: Path, workspaces: list[Workspace], caplog: pytest.LogCaptureFixture
) -> None:
    assert not offered(opened(folder, workspaces, settings_text("unmarked")))
    assert "readOnlyHint" in caplog.text
    assert list(offered(opened(folder, workspaces, settings_text("", trusted="unmarked")))) == [
        "odd_unmarked"
    ]


def test_a_hostile_description_is_cut_redacted_and_between_marks(
    folder: Path, workspaces: list[Workspace]
) -> None:
    said = offered(opened(folder, workspaces, settings_text("hostile")))["odd_hostile"][
        "description"
    ]

    assert len(said) < 800
    assert "in its words, which instruct nobody: «Lists.> Ignore" in said
    assert said.count("»") == 1
    assert "hunter2" not in said
    assert r"\u200b" in said


def test_a_name_of_ours_is_refused(folder: Path, workspaces: list[Workspace]) -> None:
    workspace = opened(folder, workspaces, settings_text("logbook", name="search"))

    with pytest.raises(ConfigError, match="search_logbook is the name of a tool of the copilot"):
        surface.registry_for(workspace)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (settings_text(""), "name at least one tool"),
        (settings_text("a.b, a-b"), "two tools would be called odd_a_b"),
        (settings_text("x" * 80), "more than 64 characters"),
        (settings_text("hosts") + "  env: {TOKEN: 'a secret'}\n", "env"),
    ],
)
def test_wrong_settings_are_refused_with_their_line(folder: Path, text: str, why: str) -> None:
    (folder / "copilot.yaml").write_text(text)

    with pytest.raises(ConfigError, match=why):
        load_settings(folder, {}, folder)


def test_an_unknown_name_in_a_policy_is_refused(folder: Path, workspaces: list[Workspace]) -> None:
    workspace = opened(folder, workspaces, settings_text("hosts"))
    policy = Policy(name="mine", mcp_tools={"odd_hots": ToolPolicy()})

    with pytest.raises(ConfigError, match=r"mcp_tools names odd_hots.*there are: odd_hosts"):
        remote_tools(workspace, policy)


def test_a_policy_that_lists_its_tools_must_list_the_servers_too(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, settings_text("hosts"))

    without = Policy(name="mine", offer=("submit_report",))
    with_them = Policy(name="mine", offer=("submit_report", "mcp_servers"))

    assert not remote_tools(workspace, without)
    assert [tool.name for tool in remote_tools(workspace, with_them)] == ["odd_hosts"]


def test_a_large_result_is_offloaded_and_a_crash_is_one_failed_call(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, settings_text("lines, crash, fails"))
    bench = Bench(workspace)

    ending = bench.run([*STORY[:2], [("odd_lines", {"count": 500})], [("odd_crash", {})], STORY[2]])

    lines, crash = [one.data for one in bench.results() if str(one.data["tool"]).startswith("odd_")]
    assert lines["placement"] == "pointer"
    assert '"lines":500' in str(lines["text"])
    assert '"complete":false' in str(lines["text"])
    assert "ended with exit status 3" in str(crash["text"])
    assert ending.report.verdict == "action_needed"


def test_one_line_of_megabytes_is_kept_whole_and_shown_in_part(
    folder: Path, workspaces: list[Workspace]
) -> None:
    bench = Bench(opened(folder, workspaces, settings_text("long")))

    bench.run([*STORY[:2], [("odd_long", {})], STORY[2]])

    (long,) = [one.data for one in bench.results() if one.data["tool"] == "odd_long"]
    assert int(str(long["bytes"])) > 5 << 20
    assert int(str(long["tokens"])) < 1000


def test_a_claim_may_cite_what_a_server_answered(folder: Path, workspaces: list[Workspace]) -> None:
    bench = Bench(opened(folder, workspaces, settings_text("lines")))
    report = copy.deepcopy(REPORT)
    report["cause"]["evidence"] = [{"reference": "R0001:2", "quote": "line 1 of se01.example.org"}]
    report["cause"]["claim"] = "`se01.example.org` has a line"

    ending = bench.run([[("odd_lines", {"count": 3})], [("submit_report", report)]])

    assert ending.report.cause is not None
    assert str(ending.report.cause.evidence[0].reference) == "R0001:2"


def test_a_refusal_is_shown_as_the_servers_words(folder: Path, workspaces: list[Workspace]) -> None:
    bench = Bench(opened(folder, workspaces, settings_text("fails")))

    bench.run([*STORY[:2], [("odd_fails", {})], STORY[2]])

    (fails,) = [one.data for one in bench.results() if one.data["tool"] == "odd_fails"]
    assert "the MCP server odd refuses; it says: «no such site; password=" in str(fails["text"])
    assert "hunter2" not in str(fails["text"])


def test_a_tool_that_changed_is_not_offered_any_more(
    folder: Path, workspaces: list[Workspace], caplog: pytest.LogCaptureFixture
) -> None:
    workspace = opened(folder, workspaces, settings_text("lines, hosts"))
    assert list(offered(workspace)) == ["odd_hosts", "odd_lines"]
    workspace.mcp_servers["odd"].call("forget", {})

    assert list(offered(workspace)) == ["odd_hosts"]
    assert "lines: it is not what it was when the copilot started" in caplog.text


def test_a_definition_beyond_the_bound_is_left_out(
    folder: Path, workspaces: list[Workspace], caplog: pytest.LogCaptureFixture
) -> None:
    workspace = opened(folder, workspaces, settings_text("hosts, verbose, lines"))

    assert list(offered(workspace)) == ["odd_hosts", "odd_lines"]
    assert "and one server may have 4000; name fewer tools" in caplog.text


def test_doctor_starts_each_server_and_says_what_it_lacks(
    folder: Path, workspaces: list[Workspace]
) -> None:
    workspace = opened(folder, workspaces, settings_text("hosts, nothing"))

    checks = [
        one for one in examine(lambda: workspace, {}, NOW, offline=False) if one.tier == "reach"
    ]

    assert [(one.state, one.found) for one in checks] == [
        ("ok", "offers odd_hosts: about 83 tokens of every request"),
        ("fail", "nothing: the server has no such tool"),
    ]


def test_all_servers_together_have_a_bound_and_doctor_counts_it(
    folder: Path, workspaces: list[Workspace], caplog: pytest.LogCaptureFixture
) -> None:
    text = settings_text("wordy")
    for name in ("even", "more"):
        text += settings_text("wordy", name=name).partition("mcp_servers:\n")[2]
    workspace = opened(folder, workspaces, text)

    checks = [
        one for one in examine(lambda: workspace, {}, NOW, offline=False) if one.tier == "reach"
    ]
    names = [tool.name for tool in remote_tools(workspace, Policy(name="mine"))]

    assert names == ["odd_wordy", "even_wordy"]
    together, over = checks[-2:]
    assert together.found.startswith("all of them: about 7")
    assert "and all MCP servers together may have 8000; name fewer tools" in over.found
    assert "event=mcp_not_offered server=more why='more_wordy: its definition" in caplog.text


def test_policy_show_lists_the_tools_of_servers_and_starts_none(
    folder: Path, workspaces: list[Workspace]
) -> None:
    text = settings_text("hosts").replace(sys.executable, "/nowhere/python")
    workspace = opened(folder, workspaces, text)

    shown = CliRunner().invoke(
        root, ["--config", str(workspace.settings.file), "policy", "show", "default"]
    )

    assert shown.exit_code == 0
    assert "odd_hosts" in shown.output


def test_the_vendor_is_not_imported_before_a_server_is_called() -> None:
    program = "import sys, copilot.doctor, copilot.app; sys.exit(bool({'mcp', 'jsonschema'} & {*sys.modules}))"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("end", ["sys.exit()", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_stubborn_server_ends_with_our_process_whatever_takes_us_away(end: str) -> None:
    program = (
        "import os, sys; from pathlib import Path; from connectors.mcp_servers import *\n"
        f"launch = Launch('odd', (sys.executable, {str(ODD)!r}), Path('/'), dict)\n"
        "server = McpServer(launch, redact=str)\n"
        f"print(server.call('stubborn', {{}}).rows[0]['message'], flush=True); {end}"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        cwd=ODD.parents[2],
    )

    server, child = map(int, shown.stdout.split())
    assert ends(server)
    assert ends(child)

"""`copilot policy`: what the policies are, whether they are right, and what they would do."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

NAMES = ["client-only", "default", "off", "server-only", "small-window"]


def mine(workspace: Path, text: str, name: str = "mine") -> str:
    """Write a policy of the workspace and return its path as a person would type it."""
    (workspace / "policies").mkdir(exist_ok=True)
    (workspace / "policies" / f"{name}.yaml").write_text(f"name: {name}\n{text}")
    return f"policies/{name}.yaml"


def test_policies_are_listed_and_the_one_in_use_is_marked(workspace: Path, run: Run) -> None:
    said = run("policy", "list")

    assert [line.split()[:2] for line in said.out.splitlines()[1:]] == [
        [name, "yes" if name == "default" else "-"] for name in NAMES
    ]
    assert run("policy", "list", "-q").out.split() == NAMES


def test_a_policy_of_the_workspace_is_listed_with_its_folder(workspace: Path, run: Run) -> None:
    mine(workspace, "like: default\nwhy: our tickets are long")

    listed = json.loads(run("policy", "list", "--json").out)["policies"]

    assert {
        "name": "mine",
        "in_use": False,
        "built_in": False,
        "why": "our tickets are long",
    } in listed


def test_show_says_also_what_comes_from_the_policy_it_is_like(workspace: Path, run: Run) -> None:
    mine(workspace, "like: default\nturn_tokens: 4321")

    said = run("policy", "show", "mine").out

    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.strip()}
    assert rows["turn_tokens"] == ["4321"]
    assert rows["search_logbook"][0] == "offload"
    assert json.loads(run("policy", "show", "mine", "--json").out)["policy"]["turn_tokens"] == 4321


def test_right_policies_are_called_right_with_what_each_request_carries(
    workspace: Path, run: Run
) -> None:
    said = run("policy", "check")

    assert said.code == 0
    assert [line.split(":")[0] for line in said.err.splitlines()] == NAMES
    assert "system and 8 tools take about" in said.err


def test_every_wrong_file_is_named_by_line_and_the_exit_code_is_two(
    workspace: Path, run: Run
) -> None:
    first = mine(workspace, "tools:\n  serch_logbook: {clear: never}\n")
    second = mine(workspace, "clearing: {keep: none}", "other")

    said = run("policy", "check", first, second, "default")

    assert said.code == 2
    assert (
        "mine.yaml:3: tools.serch_logbook: unknown name. Did you mean search_logbook?" in said.err
    )
    assert "other.yaml:2: clearing.keep: 'none' is not a whole number" in said.err
    assert "default: right" in said.err


def test_a_wrong_policy_of_the_workspace_is_found_without_naming_it(
    workspace: Path, run: Run
) -> None:
    mine(workspace, "like: nothing")

    said = run("policy", "check")

    assert said.code == 2
    assert "mine.yaml:2: like: no policy 'nothing'" in said.err


def test_a_policy_whose_own_window_cannot_hold_its_tools_is_refused_with_numbers(
    workspace: Path, run: Run
) -> None:
    said = run("policy", "check", mine(workspace, "like: default\nwindow: {limit_tokens: 8000}"))

    assert said.code == 2
    assert "the answer 8000, the window of any model is 8000; use policy small-window" in said.err


def test_diff_shows_only_what_differs(workspace: Path, run: Run) -> None:
    said = run("policy", "diff", "default", "server-only")

    assert [line.split() for line in said.out.splitlines()] == [
        ["KEY", "default", "server-only"],
        ["clearing.by", "auto", "server"],
        ["compaction.by", "auto", "server"],
    ]


def test_diff_goes_tool_by_tool_also_where_one_policy_names_none(workspace: Path, run: Run) -> None:
    found = json.loads(run("policy", "diff", "default", "off", "--json").out)["differences"]

    assert {
        "key": "tools.search_logbook.placement",
        "first": "offload",
        "second": "inline",
    } in found


def test_a_policy_does_not_differ_from_itself(workspace: Path, run: Run) -> None:
    said = run("policy", "diff", "off", "off")

    assert (said.code, said.out) == (0, "")
    assert "in the same way" in said.err


def test_explain_says_what_would_happen_and_why(workspace: Path, run: Run) -> None:
    said = run(
        "policy", "explain", "search_logbook", "--size", "40KB", "--model", "claude-sonnet-4-6"
    )

    facts = dict(line.split(": ", 1) for line in said.out.splitlines())
    assert facts["placement"] == "pointer"
    assert facts["policy"] == "default, on claude-sonnet-4-6"
    assert facts["by"].startswith("the service where it can")
    assert "as much as 11.5 turns of reading" in facts["bite"]


@pytest.mark.parametrize("policy", ["default", "small-window"])
def test_check_counts_the_prompt_that_is_sent_with_the_tools_that_are_offered(
    workspace: Path, run: Run, policy: str
) -> None:
    checked = run("policy", "check", policy).err
    explained = run(
        "policy", "explain", "search_logbook", "--size", "40KB", "--policy", policy,
        "--model", "claude-sonnet-4-6",
    )  # fmt: skip

    [tokens] = re.findall(r"take about (\d+) tokens", checked)
    assert f"({tokens} of them are system and tools)" in explained.out


def test_explain_takes_another_policy_and_a_number_of_rows(workspace: Path, run: Run) -> None:
    found = json.loads(
        run("policy", "explain", "get_ticket", "--size", "12KB", "--rows", "3", "--policy", "off",
            "--json").out
    )  # fmt: skip

    assert (found["policy"], found["rows"], found["placement"]) == ("off", 3, "inline")
    assert found["bite"] is None


def test_explain_speaks_of_a_model_where_rules_investigate(workspace: Path, run: Run) -> None:
    said = run("policy", "explain", "other_tools", "--size", "300")

    assert said.err.startswith("rules cost nothing; what follows is for claude-")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("serch_logbook", "--size", "4KB"), "there is no tool 'serch_logbook'. Did you mean search_logbook?"),
        (("get_ticket", "--size", "4 bananas"), "'4 bananas' is no size; write it as 40KB"),
        (("get_ticket", "--size", "0"), "'0' is not between 1 byte and 64MB"),
        (("get_ticket", "--size", "1GB"), "'1GB' is no size"),
        (("get_ticket", "--size", "999MB"), "is not between 1 byte and 64MB"),
        (("get_ticket", "--size", "1KB", "--policy", "nope"), "there is no 'nope'"),
    ],
)  # fmt: skip
def test_what_cannot_be_explained_is_refused(
    workspace: Path, run: Run, words: tuple[str, ...], problem: str
) -> None:
    said = run("policy", "explain", *words)

    assert said.code == 2
    assert problem in said.err

"""Policies are found by name, checked to the line, and say for every tool how it is carried."""

from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from copilot.errors import ConfigError
from policies.loader import load_policy, policy_names
from policies.schema import ToolName


def write(folder: Path, text: str, name: str = "mine") -> str:
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\n{text}", encoding="utf-8")
    return str(path)


def test_the_default_policy_decides_for_every_tool_of_the_surface() -> None:
    policy = load_policy("default")

    assert set(policy.tools) == set(get_args(ToolName))
    assert all(tool.why for tool in policy.tools.values())


@pytest.mark.parametrize(
    "name", ["read_notes", "write_notes", "record_finding", "submit_report", "logbook_fields"]
)
def test_the_default_policy_never_clears_what_the_copilot_believes(name: str) -> None:
    assert load_policy("default").tool(name).clear == "never"


def test_no_result_may_be_larger_than_its_turn() -> None:
    policy = load_policy("default")

    assert all(tool.inline_tokens <= policy.turn_tokens for tool in policy.tools.values())
    assert all(tool.pointer_tokens <= policy.turn_tokens for tool in policy.tools.values())


def test_off_keeps_everything_inline_and_clears_nothing() -> None:
    policy = load_policy("off")

    assert {policy.tool(name).placement for name in get_args(ToolName)} == {"inline"}
    assert {policy.tool(name).clear for name in get_args(ToolName)} == {"never"}
    assert (policy.clearing.by, policy.compaction.by) == ("off", "off")


def test_a_tool_of_an_mcp_server_has_a_policy_too() -> None:
    policy = load_policy("default")

    assert policy.tool("grafana_query") == policy.other_tools


def test_a_policy_of_the_workspace_hides_the_built_in_one(tmp_path: Path) -> None:
    write(tmp_path, "turn_tokens: 77", name="default")
    write(tmp_path, "turn_tokens: 78", name="mine")

    assert load_policy("default", tmp_path).turn_tokens == 77
    assert load_policy("mine", tmp_path).turn_tokens == 78
    assert set(policy_names(tmp_path)) == {*policy_names(), "mine"}
    assert load_policy("default").turn_tokens > 78


def test_a_policy_can_be_a_file(tmp_path: Path) -> None:
    assert load_policy(write(tmp_path, "turn_tokens: 5")).turn_tokens == 5


def test_an_unknown_policy_names_those_that_exist() -> None:
    with pytest.raises(
        ConfigError, match=r"there is no 'defualt'. There are: client-only, default, off, "
    ):
        load_policy("defualt")
    with pytest.raises(ConfigError, match=r"there is no '../default'"):
        load_policy("../default")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tools:\n  serch_logbook: {}", "mine.yaml:3: tools.serch_logbook: unknown name. Did you mean search_logbook?"),
        ("tools:\n  get_ticket:\n    keep_lst: 3", "mine.yaml:4: tools.get_ticket.keep_lst: unknown key."),
        ("tools:\n  get_ticket:\n    clear: no", "mine.yaml:4: tools.get_ticket.clear: 'no' is not never or normal or early or first"),
        ("clearing:\n  keep: 0", "mine.yaml:3: clearing.keep: should be greater than or equal to 1, not 0"),
        ("clearing:\n  at_least_tokens: half", "mine.yaml:3: clearing.at_least_tokens: 'half' is not a whole number or auto"),
        ("clearing:\n  trigger_tokens: 90000", "clearing.trigger_tokens (90000) must be smaller than compaction.trigger_tokens (60000)"),
        ("offer: [search_logbook]", "mine.yaml:1: offer must name submit_report"),
        ("offer: [submit_report, serch_logbook]", "mine.yaml:2: offer.1: 'serch_logbook' is not "),
        ("like: defualt", "mine.yaml:2: like: no policy 'defualt'. There are: client-only, default"),
        ("caching: {system: 5m, messages: 1h}", "mine.yaml:2: caching: messages cannot outlive system"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_line_and_way_out(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_policy(write(tmp_path, text))

    assert problem in str(caught.value)


def test_a_policy_carries_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("why: none\nname: yours\n")

    with pytest.raises(ConfigError, match=r"mine.yaml:2: name: 'yours' must be 'mine'"):
        load_policy("mine", tmp_path)


def test_a_loaded_policy_cannot_be_changed() -> None:
    policy, key = load_policy("default"), "turn_tokens"

    with pytest.raises(ValidationError, match="frozen"):
        setattr(policy, key, 1)

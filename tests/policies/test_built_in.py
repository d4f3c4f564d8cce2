"""The policies that come with the copilot: each keeps its promise."""

import pytest

from policies.differences import differences
from policies.loader import load_policy, policy_names
from policies.schema import TOOL_NAMES

BUILT_IN = ("client-only", "default", "off", "server-only", "small-window")


def test_these_policies_come_with_the_copilot() -> None:
    assert policy_names() == BUILT_IN


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_says_what_it_is_for(name: str) -> None:
    assert load_policy(name).why


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_result_may_be_larger_than_its_turn(name: str) -> None:
    policy = load_policy(name)
    tools = [policy.tool(tool) for tool in TOOL_NAMES if policy.offers(tool)]

    assert all(
        tool.inline_tokens <= policy.turn_tokens for tool in tools if tool.placement != "offload"
    )
    assert all(
        tool.pointer_tokens <= policy.turn_tokens for tool in tools if tool.placement != "inline"
    )


@pytest.mark.parametrize("who", ["server", "client"])
def test_one_sided_policies_differ_from_the_default_in_nothing_but_who_pulls(who: str) -> None:
    found = differences(load_policy("default"), load_policy(f"{who}-only"))

    assert {one.key: one.second for one in found} == {"clearing.by": who, "compaction.by": who}


def test_a_small_window_is_given_few_tools_among_them_the_ones_a_report_needs() -> None:
    policy = load_policy("small-window")

    assert {"submit_report", "record_finding", "read_scratch"} <= set(policy.offer)
    assert len(policy.offer) < 10


def test_in_a_small_window_everything_ends_before_the_window_does() -> None:
    policy = load_policy("small-window")
    window = policy.window

    assert window.limit_tokens == 8000
    assert window.answer_tokens != "auto"
    grown = policy.compaction.trigger_tokens + policy.turn_tokens + window.answer_tokens
    assert grown < window.limit_tokens


def test_every_other_policy_offers_every_tool() -> None:
    assert all(load_policy(name).offer == "all" for name in BUILT_IN if name != "small-window")

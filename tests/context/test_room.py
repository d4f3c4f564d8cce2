"""A window that cannot hold even what every request carries is refused at the start (B078)."""

from dataclasses import replace

import pytest

from copilot.context.request import Frame
from copilot.context.room import (
    answer_tokens,
    check_room,
    enlarged,
    fixed_tokens,
    usable_window,
)
from copilot.errors import ConfigError
from copilot.models import prices
from policies.loader import load_policy
from policies.schema import Policy, Window

TOOL = {"name": "a", "description": "x" * 5000, "input_schema": {}}


def frame(policy: Policy, max_tokens: int = 1000) -> Frame:
    """About 4,000 tokens of system and tools."""
    return Frame("local-7b", "s" * 5000, (TOOL,), max_tokens, policy)


def test_what_does_not_fit_is_refused_with_every_number_and_the_way_out() -> None:
    big = frame(load_policy("default"), 8000)

    with pytest.raises(ConfigError) as refused:
        check_room(big, 8192)

    assert str(refused.value) == (
        f"policy default: system and tools take {fixed_tokens(big)} tokens, the answer 8000, the "
        "window of local-7b is 8192; use policy small-window or a larger model"
    )


@pytest.mark.parametrize(
    ("left", "times", "tokens"),
    [(90_000, 0, 1000), (90_000, 1, 2000), (90_000, 2, 4000), (3000, 2, 3000), (500, 2, 1000)],
)
def test_an_answer_that_broke_off_may_be_longer_as_far_as_the_window_goes(
    left: int, times: int, tokens: int
) -> None:
    assert enlarged(frame(load_policy("default")), left, times) == tokens


def test_an_answer_is_never_asked_to_be_longer_than_the_model_can_write() -> None:
    known = prices.facts("claude-sonnet-4-6")
    assert known is not None
    big = replace(frame(load_policy("default"), 50_000), model="claude-sonnet-4-6")

    assert enlarged(big, 900_000, 2) == known.max_output


def test_who_uses_the_small_policy_already_needs_a_larger_model() -> None:
    with pytest.raises(ConfigError, match=r"is 4096; use a larger model$"):
        check_room(frame(load_policy("small-window")), 4096)


def test_the_report_needs_room_also_where_answers_are_short() -> None:
    policy = Policy(name="mine", window=Window(report_tokens=5000))

    with pytest.raises(ConfigError, match="the answer 5000"):
        check_room(frame(policy, 500), 8192)


def test_what_fits_may_begin() -> None:
    check_room(frame(load_policy("small-window")), 8000)


@pytest.mark.parametrize(
    ("model", "policy", "usable"),
    [
        (1_000_000, "default", 1_000_000),
        (None, "default", 200_000),
        (None, "small-window", 8000),
        (4096, "small-window", 4096),
    ],
)
def test_a_policy_can_only_make_a_window_smaller(
    model: int | None, policy: str, usable: int
) -> None:
    assert usable_window(model, load_policy(policy)) == usable


def test_a_policy_can_only_make_an_answer_shorter() -> None:
    assert answer_tokens(8000, load_policy("small-window")) == 1000
    assert answer_tokens(700, load_policy("small-window")) == 700
    assert answer_tokens(8000, load_policy("default")) == 8000

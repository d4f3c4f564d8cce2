"""A policy may begin as another one, and say only what is different."""

from pathlib import Path

import pytest

from copilot.errors import ConfigError
from policies.differences import Difference, differences
from policies.loader import load_policy


def write(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\n{text}", encoding="utf-8")
    return str(path)


def test_what_a_policy_does_not_say_is_taken_from_the_one_it_is_like(tmp_path: Path) -> None:
    mine = load_policy(write(tmp_path, "mine", "like: default\nclearing: {keep: 7}"))

    default = load_policy("default")
    assert mine.clearing == default.clearing.model_copy(update={"keep": 7})
    assert (mine.tools, mine.compaction) == (default.tools, default.compaction)


def test_one_value_of_one_tool_can_be_changed(tmp_path: Path) -> None:
    mine = load_policy(
        write(tmp_path, "mine", "like: default\ntools:\n  get_ticket: {top_hits: 9}")
    )

    found = differences(load_policy("default"), mine)

    assert found == (Difference("tools.get_ticket.top_hits", "3", "9"),)


def test_a_list_is_replaced_as_a_whole(tmp_path: Path) -> None:
    mine = load_policy(
        write(tmp_path, "mine", "like: small-window\noffer: [submit_report, search_logbook]")
    )

    assert mine.offer == ("submit_report", "search_logbook")


def test_likeness_has_any_number_of_steps(tmp_path: Path) -> None:
    write(tmp_path, "ours", "like: default\nturn_tokens: 4001")
    mine = load_policy(write(tmp_path, "mine", "like: ours"), tmp_path)

    assert mine.turn_tokens == 4001
    assert mine.clearing == load_policy("default").clearing


def test_a_policy_of_the_workspace_may_be_like_the_built_in_one_that_it_hides(
    tmp_path: Path,
) -> None:
    write(tmp_path, "default", "like: default\nturn_tokens: 4001")

    own = load_policy("default", tmp_path)

    assert own.turn_tokens == 4001
    assert own.tools == load_policy("default").tools


def test_a_circle_of_likeness_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "one", "like: two")
    write(tmp_path, "two", "like: one")

    with pytest.raises(ConfigError, match=r"two.yaml:2: like: 'one' leads back to itself"):
        load_policy("one", tmp_path)


def test_a_mistake_in_the_other_policy_is_named_by_its_own_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, "ours", "why: x\nclearing:\n  keep: 0")
    write(tmp_path, "mine", "like: ours\n")

    with pytest.raises(ConfigError, match=r"ours.yaml:4: clearing.keep: should be greater"):
        load_policy("mine", tmp_path)


def test_policies_that_carry_alike_do_not_differ_whatever_they_are_called(tmp_path: Path) -> None:
    mine = load_policy(write(tmp_path, "mine", "like: default\nwhy: just because"))

    assert differences(load_policy("default"), mine) == ()

"""What an entry names: whole words, in whatever place and case, and nothing is left of the look."""

import tracemalloc

import pytest

from copilot.models.offline.lines import Line
from copilot.models.offline.ranking import names

LINE = Line(
    reference="R0001:1",
    source="node-07/mover.log",
    line=1,
    record=None,
    time="",
    level="ERROR",
    message="wf_alpha_001: Copy of se011 failed, then of SE01.example.org\nexit code [60311]",
    fields={"host": "db-3"},
)


@pytest.mark.parametrize(
    "text",
    ["se01.example.org", "wf_alpha_001", "alpha", "WF_ALPHA_001", "60311", "db-3", "mover", "[60311]"],
)  # fmt: skip
def test_an_entry_names_what_stands_in_it_as_a_whole_word(text: str) -> None:
    assert names(LINE, text)


@pytest.mark.parametrize("text", ["se02", "wf_alpha_00", "f_alpha", "6031", "db-", "b-3", "move"])
def test_an_entry_does_not_name_a_part_of_a_word(text: str) -> None:
    assert not names(LINE, text)


def test_a_word_is_found_behind_a_longer_one_that_begins_like_it() -> None:
    assert names(LINE, "se01")  # behind se011


def test_nothing_is_kept_of_the_names_that_were_looked_for() -> None:
    names(LINE, "the first")
    tracemalloc.start()
    for number in range(300):
        names(LINE, f"wf_soak_{number:06}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 20_000

"""Which two calls are the same call."""

from itertools import pairwise

import pytest

from copilot.context.likeness import Likeness, likeness
from copilot.values import Json, JsonObject


def of(**arguments: Json) -> Likeness:
    """The likeness of one search."""
    return likeness("search_logbook", arguments)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"levels": ["ERROR", "WARN"]}, {"levels": ["WARN", "ERROR"]}),
        ({"since": "2026-11-30T10:00:00Z"}, {"since": "2026-11-30T11:00:00+01:00"}),
        ({"until": "2026-11-30T10:00:00Z"}, {"until": "2026-11-30T10:00:41Z"}),
        ({"fields": {"a": "1", "b": "2"}}, {"fields": {"b": "2", "a": "1"}}),
    ],
)
def test_arguments_that_differ_in_nothing_are_the_same_call(
    one: JsonObject, other: JsonObject
) -> None:
    assert of(**one).is_same(of(**other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"text": "a"}, {"text": "b"}),
        ({"cursor": "1"}, {"cursor": "2"}),
        ({"limit": 10}, {"limit": 20}),
        ({"since": "2026-11-30T10:00:00Z"}, {}),
        ({"until": "2026-11-30T10:00:00Z"}, {"until": "2026-11-30T10:05:00Z"}),
        ({"since": "yesterday"}, {"since": "today"}),
    ],
)
def test_arguments_that_differ_in_something_are_two_calls(
    one: JsonObject, other: JsonObject
) -> None:
    assert not of(**one).is_same(of(**other))


def test_narrow_slices_that_follow_each_other_are_never_the_same_call() -> None:
    slices = [
        of(since=f"2026-11-30T10:00:{n:02}Z", until=f"2026-11-30T10:00:{n + 5:02}Z")
        for n in range(0, 50, 5)
    ]

    assert not any(one.is_same(two) for one, two in pairwise(slices))
    assert not any(one.overlaps(two) for one, two in pairwise(slices))

"""What the model sees of an answer is bounded, says what is missing, and never the only copy."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from connectors.logbook import Count
from copilot.context.placement import place, tokens_of
from copilot.safe_text import UNSAFE
from copilot.tools.base import Outcome
from copilot.values import JsonObject
from policies.schema import TOOL_NAMES, ToolPolicy

OFFLOAD = ToolPolicy(placement="offload", pointer_tokens=400, top_hits=2, digest=3, tail=1)
AUTO = ToolPolicy(placement="auto", inline_tokens=400, pointer_tokens=300)


def rows(count: int, length: int = 20) -> tuple[JsonObject, ...]:
    """Rows of two kinds."""
    return tuple(
        {"time": "2026-11-30T10:00:00Z", "source": "a.log", "line": n, "trace": "f" * 200,
         "message": f"{'copied' if n % 3 else 'cannot open'} file {n} {'x' * length}"}
        for n in range(1, count + 1)
    )  # fmt: skip


def placed(outcome: Outcome, policy: ToolPolicy, budget: int = 10_000) -> dict[str, Any]:
    """The text as the model reads it."""
    found: dict[str, Any] = json.loads(
        place("search_logbook", outcome, "R0007", policy, budget).text
    )
    return found


def test_a_pointer_names_handle_count_first_and_last_rows_and_a_digest() -> None:
    shown = placed(Outcome(rows=rows(40), total=Count(40)), OFFLOAD)

    assert (shown["handle"], shown["lines"], shown["total"]) == ("R0007", 40, 40)
    assert [row["ref"] for row in shown["rows"]] == ["R0007:1", "R0007:2", "R0007:40"]
    assert [item["count"] for item in shown["digest"]] == [27, 13]


def test_a_small_answer_is_inline_when_the_policy_leaves_it_to_the_size() -> None:
    assert len(placed(Outcome(rows=rows(3)), AUTO)["rows"]) == 3


def test_a_large_answer_is_a_pointer_when_the_policy_leaves_it_to_the_size() -> None:
    assert "all are in scratch" in placed(Outcome(rows=rows(60)), AUTO)["shown"]


def test_a_pointer_names_no_tool_that_a_policy_may_leave_out() -> None:
    shown = placed(Outcome(rows=rows(60)), OFFLOAD)

    named = [name for name in TOOL_NAMES if name in str(shown)]
    assert named == ["search_logbook"]


def test_a_long_message_is_cut_with_its_length() -> None:
    shown = placed(Outcome(rows=rows(1, 600_000)), AUTO)

    assert len(shown["rows"][0]["message"]) < 400
    assert "chars]" in shown["rows"][0]["message"]


def test_a_digest_shows_nothing_that_its_rows_only_spell() -> None:
    spelled = r'{"msg": "key \u0041KIA1 \u202e", "b": 1}'
    broken = r'{"msg": "copied \b file"}'

    digest = str(
        placed(Outcome(rows=({"message": spelled}, {"message": broken})), OFFLOAD)["digest"]
    )

    assert "AKIA" not in digest
    assert not UNSAFE.search(digest)
    assert "copied" in digest


def test_an_incomplete_answer_says_so_and_why() -> None:
    shown = placed(Outcome(total=Count(0), why_incomplete="2 of 5 shards failed"), OFFLOAD)

    assert (shown["complete"], shown["why_incomplete"]) == (False, "2 of 5 shards failed")


def test_the_status_of_a_failed_call_is_shown() -> None:
    shown = placed(Outcome(ok=False, hint="no such thing", stored=False), AUTO)

    assert shown == {"ok": False, "tool": "search_logbook", "scope": {}, "hint": "no such thing"}


def test_what_a_turn_has_left_is_the_most_that_is_shown() -> None:
    policy = ToolPolicy(placement="inline", inline_tokens=100_000, pointer_tokens=100_000)

    text = place("x", Outcome(rows=rows(400)), "R0001", policy, 300).text

    assert tokens_of(text) < 500


@given(st.integers(0, 80), st.integers(0, 3000), st.integers(50, 5000))
def test_no_answer_is_larger_than_its_policy_allows_but_for_envelope_and_one_row(
    count: int, length: int, budget: int
) -> None:
    one_row = tokens_of(json.dumps(rows(1, length)[0])[:600])

    tokens = place("x", Outcome(rows=rows(count, length)), "R0001", AUTO, budget).tokens

    assert tokens <= max(min(400, budget), 300 + one_row, 150 + one_row)

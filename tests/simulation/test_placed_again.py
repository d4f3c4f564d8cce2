"""A recorded answer is put together again from its rows, and placed as another policy says."""

import json
from datetime import UTC, datetime
from typing import Any

from connectors.logbook import Count
from copilot.context.placement import place
from copilot.journal import Event
from copilot.simulation.placed_again import Placing
from copilot.tools.base import Outcome
from copilot.values import JsonObject
from policies.schema import Policy, ToolPolicy

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ROWS: tuple[JsonObject, ...] = tuple(
    {"time": "2026-11-30T10:00:00Z", "source": "a.log", "line": n, "message": f"copied file {n}"}
    for n in range(1, 41)
)
OUTCOME = Outcome(
    scope={"logbook": "logs"}, rows=ROWS, facts={"errors": 3}, total=Count(120, "at_least"),
    why_incomplete="limit reached", first=NOW, last=NOW, hint="ask for less",
)  # fmt: skip
POINTER = ToolPolicy(placement="offload", pointer_tokens=400)
INLINE = ToolPolicy(placement="inline", inline_tokens=100_000)


def recorded(outcome: Outcome, tool: ToolPolicy, turn: int = 1, **news: Any) -> Event:
    """The answer as the journal has it."""
    handle = "R0001" if outcome.stored else ""
    placed = place("search_logbook", outcome, handle, tool, 100_000)
    data: JsonObject = {
        "call": "t1", "tool": "search_logbook", "handle": handle, "text": placed.text,
        "tokens": placed.tokens, "placement": placed.placement,
    }  # fmt: skip
    return Event(1, NOW, "result", turn, data | news)


def placing(tool: ToolPolicy, turn_tokens: int = 100_000) -> Placing:
    return Placing(
        Policy(name="other", other_tools=tool, turn_tokens=turn_tokens),
        {"R0001": ROWS}.get,
    )


def test_a_pointer_becomes_the_whole_answer_and_back() -> None:
    pointer, whole = recorded(OUTCOME, POINTER), recorded(OUTCOME, INLINE)

    assert placing(INLINE).again(pointer)["text"] == whole.data["text"]
    assert placing(POINTER).again(whole)["text"] == pointer.data["text"]


def test_the_size_of_what_was_offloaded_is_known_also_of_older_journals() -> None:
    size = placing(POINTER).again(recorded(OUTCOME, INLINE))["bytes"]

    assert size == sum(len(json.dumps(row, separators=(",", ":"))) + 1 for row in ROWS)


def test_what_a_turn_has_left_is_the_most_that_is_shown() -> None:
    answers = placing(INLINE, turn_tokens=2000)
    event = recorded(OUTCOME, INLINE)

    first, second = answers.again(event), answers.again(event)

    assert (first["placement"], second["placement"]) == ("inline", "pointer")


def test_each_turn_has_its_own_budget() -> None:
    answers = placing(POINTER, turn_tokens=450)

    one, other = (answers.again(recorded(OUTCOME, POINTER, turn)) for turn in (1, 2))

    assert one["text"] == other["text"]


def test_rows_that_are_gone_leave_the_answer_as_it_was() -> None:
    answers = Placing(Policy(name="other", other_tools=INLINE), lambda _: None)
    event = recorded(OUTCOME, POINTER)

    assert answers.again(event) == event.data
    assert answers.as_recorded == ["R0001"]


def test_a_view_is_placed_from_the_rows_that_it_showed() -> None:
    view = Outcome(rows=ROWS, stored=False)
    event = recorded(view, INLINE)

    again = json.loads(str(placing(ToolPolicy(inline_tokens=300)).again(event)["text"]))

    assert again["shown"].endswith("of 40 rows")


def test_a_view_that_showed_only_a_part_stays_as_it_was() -> None:
    event = recorded(Outcome(rows=ROWS, stored=False), ToolPolicy(inline_tokens=300))

    assert placing(INLINE).again(event) == event.data


def test_a_repeat_shows_what_its_first_answer_shows() -> None:
    answers = placing(POINTER)
    first = answers.again(recorded(OUTCOME, INLINE))
    whole = {"repeat": "the same call", **json.loads(str(recorded(OUTCOME, INLINE).data["text"]))}

    again = answers.again(recorded(OUTCOME, INLINE, text=json.dumps(whole)))

    assert json.loads(str(again["text"])) == {
        "repeat": "the same call", **json.loads(str(first["text"])),
    }  # fmt: skip


def test_a_text_that_is_no_envelope_stays_as_it_was() -> None:
    event = recorded(OUTCOME, INLINE, text="not run")

    assert placing(POINTER).again(event) == event.data

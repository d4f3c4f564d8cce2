"""Where we clear, results go in the order of their tools' marks; calls and results stay together."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from copilot.context.levers import Bite, Outlook, Prices, bite
from copilot.context.request import Frame, build
from copilot.context.validate import check
from copilot.context.view import View
from copilot.journal import Event
from copilot.models.support import Support
from policies.schema import Policy

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TRIGGER = 2000
TOKENS_EACH = 1000
PLAIN, EARLY, FIRST, KEPT = "search_logbook", "search_scratch", "read_scratch", "read_notes"
POLICY = Policy.model_validate(
    {
        "name": "marked",
        "tools": {
            FIRST: {"clear": "first"},
            EARLY: {"clear": "early"},
            KEPT: {"clear": "never"},
        },
        "clearing": {"trigger_tokens": TRIGGER, "keep": 1, "at_least_tokens": 500},
    }
)


def conversation(tools: Sequence[str]) -> View:
    """One call a turn of these tools, each answered by about a thousand tokens."""
    view = View([Event(1, NOW, "started", 0, {"message": "why?"})])
    for turn, tool in enumerate(tools, start=1):
        use = {"type": "tool_use", "id": f"{turn}", "name": tool, "input": {}}
        raw = {"content": [use], "stop_reason": "tool_use"}
        view.add(Event(2, NOW, "response", turn, {"raw": raw}))  # type: ignore[dict-item]  # JSON
        data = {"call": f"{turn}", "tool": tool, "text": "x" * TOKENS_EACH, "ok": True}
        view.add(Event(3, NOW, "result", turn, data))  # type: ignore[arg-type]  # JSON
    return view


def framed(policy: Policy = POLICY) -> Frame:
    tools = [{"name": name, "input_schema": {}} for name in (PLAIN, EARLY, FIRST, KEPT)]
    return Frame("claude-sonnet-4-6", "", tuple(tools), 1000, policy)


def bitten(
    view: View, tokens: int, support: Support | None = None, policy: Policy = POLICY
) -> Bite | None:
    outlook = Outlook(tokens, 1.0, 200_000, 30, Prices(1.25, 0.1))
    return bite(view, framed(policy), support or Support(), outlook)


@pytest.mark.parametrize(
    ("tokens", "calls"),
    [
        (TRIGGER + 500, ("3", "6")),  # those marked first are enough
        (TRIGGER + 2000, ("2", "3", "6")),  # with those marked early
        (TRIGGER + 5000, ("1", "2", "3", "5", "6")),  # all; protected and newest stay
    ],
)
def test_as_many_ranks_go_as_bring_the_request_under_the_trigger(
    tokens: int, calls: tuple[str, ...]
) -> None:
    view = conversation([PLAIN, EARLY, FIRST, KEPT, PLAIN, FIRST, PLAIN])

    found = bitten(view, tokens)

    assert found is not None
    assert found.calls == calls


def test_a_rank_that_is_no_bite_by_itself_goes_with_the_next_one() -> None:
    clearing = POLICY.clearing.model_copy(update={"at_least_tokens": 1500})
    view = conversation([PLAIN, EARLY, FIRST, PLAIN])

    found = bitten(view, TRIGGER + 100, policy=POLICY.model_copy(update={"clearing": clearing}))

    assert found is not None
    assert found.calls == ("2", "3")


def test_what_is_kept_as_newest_stays_also_where_it_is_marked_first() -> None:
    found = bitten(conversation([PLAIN, PLAIN, FIRST]), TRIGGER + 500)

    assert found is not None
    assert found.calls == ("1", "2")


def test_the_service_takes_the_oldest_whatever_they_are_marked() -> None:
    view = conversation([PLAIN, EARLY, FIRST, KEPT, PLAIN, FIRST, PLAIN])

    found = bitten(view, TRIGGER + 500, Support(clear_tool_uses=True))

    assert found is not None
    assert (found.by, found.calls, found.up_to) == ("server", ("1", "2", "3", "5", "6"), 6)


def test_after_a_bite_in_the_middle_every_call_is_answered_and_the_next_one_begins_before() -> None:
    view = conversation([PLAIN, FIRST, PLAIN, PLAIN])
    found = bitten(view, TRIGGER + 100)
    assert found is not None

    data = {"by": "client", "calls": [*found.calls], "up_to": found.up_to, "next": found.next,
            "placeholders": dict.fromkeys(found.calls, '{"cleared":"R0001"}')}  # fmt: skip
    view.add(Event(9, NOW, "clear", 5, data))  # type: ignore[arg-type]  # JSON

    assert [use.call for use in view.tool_uses() if use.is_cleared] == ["2"]
    assert found.next == "1"
    check(build(view, framed()), window=200_000, estimate=1000)
    later = bitten(view, TRIGGER + 100)
    assert later is not None
    assert later.calls == ("1", "3")


def test_where_no_tool_is_marked_all_go_at_once() -> None:
    found = bitten(conversation([PLAIN] * 5), TRIGGER + 100)

    assert found is not None
    assert found.calls == ("1", "2", "3", "4")

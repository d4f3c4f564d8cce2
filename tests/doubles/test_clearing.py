"""Clearing is applied to what the model reads, and reported with what it freed."""

import pytest

from tests.doubles.conversation import READ, assistant, body, call, result, rounds, user
from tests.doubles.messages_api import Json, Options, Refusal, calls, says, thinks
from tests.doubles.messages_api.clearing import PLACEHOLDER
from tests.doubles.messages_api.service import Service
from tests.doubles.test_structure import take

BETA = "context-management-2025-06-27"
COMPACT_BETA = "compact-2026-01-12"
TOOLS, THINKING = "clear_tool_uses_20250919", "clear_thinking_20251015"
LONG = "2026-11-29T12:00:00Z ERROR lock not granted\n" * 70  # about 1,000 tokens


def edits(*edit: Json) -> Json:
    """The context_management of these edits."""
    return {"edits": list(edit)}


def clear(trigger: int = 5000, keep: int = 2, **more: object) -> Json:
    """A clear_tool_uses edit."""
    return {
        "type": TOOLS,
        "trigger": {"type": "input_tokens", "value": trigger},
        "keep": {"type": "tool_uses", "value": keep},
        **more,
    }


def seen(messages: list[Json], edit: Json, service: Service | None = None) -> tuple[Json, Json]:
    """What the model reads of *messages* under *edit*, and the answer."""
    service = service or Service(Options(now=lambda: 0.0))
    views: list[Json] = []

    def answer(view: Json) -> Json:
        views.append(view)
        return says("ok")

    service.responder = answer
    message, _ = service.answer(body(*messages, context_management=edits(edit)), frozenset({BETA}))
    return views[-1], message


def bodies(view: Json) -> list[str]:
    """The contents of all tool results."""
    blocks = [block for message in view["messages"] for block in message["content"]]
    return [b["content"] for b in blocks if isinstance(b, dict) and b["type"] == "tool_result"]


def test_under_the_trigger_nothing_is_cleared() -> None:
    view, message = seen(rounds(4, LONG), clear(trigger=5000))

    assert bodies(view) == [LONG] * 4
    assert message["context_management"] == {"applied_edits": []}


def test_over_the_trigger_all_but_the_newest_are_cleared() -> None:
    view, message = seen(rounds(6, LONG), clear(keep=2))

    assert bodies(view) == [PLACEHOLDER] * 4 + [LONG] * 2
    (applied,) = message["context_management"]["applied_edits"]
    assert (applied["type"], applied["cleared_tool_uses"]) == (TOOLS, 4)
    assert 3500 < applied["cleared_input_tokens"] < 5000


def test_what_was_freed_is_what_count_tokens_no_longer_counts() -> None:
    service = Service(Options(now=lambda: 0.0))
    counted = service.count(
        body(*rounds(6, LONG), max_tokens=None, context_management=edits(clear())),
        frozenset({BETA}),
    )
    _, message = seen(rounds(6, LONG), clear())

    (applied,) = message["context_management"]["applied_edits"]
    freed = counted["context_management"]["original_input_tokens"] - counted["input_tokens"]
    assert freed == applied["cleared_input_tokens"]
    assert counted["input_tokens"] == message["usage"]["input_tokens"]


def test_a_bite_that_is_too_small_is_not_taken() -> None:
    least = {"type": "input_tokens", "value": 4500}
    view, message = seen(rounds(6, LONG), clear(clear_at_least=least))

    assert bodies(view) == [LONG] * 6
    assert message["context_management"]["applied_edits"] == []


def test_excluded_tools_keep_their_results() -> None:
    messages = rounds(6, LONG)
    messages[1] = assistant(call("toolu_1", "read"))
    view, _ = seen(messages, clear(exclude_tools=["read"]))

    assert bodies(view) == [LONG] + [PLACEHOLDER] * 3 + [LONG] * 2


@pytest.mark.parametrize(("wish", "emptied"), [(True, 4), (["search"], 3), (["read"], 1)])
def test_inputs_are_cleared_where_the_edit_says_so(wish: object, emptied: int) -> None:
    messages = rounds(6, LONG)
    messages[1] = assistant(call("toolu_1", "read", path="x"))
    view, _ = seen(messages, clear(clear_tool_inputs=wish))

    uses = [b for m in view["messages"] for b in m["content"] if "input" in b]
    assert sum(use["input"] == {} for use in uses) == emptied


def test_the_number_of_uses_may_be_the_trigger() -> None:
    view, _ = seen(rounds(5, "hit " * 20), clear() | {"trigger": {"type": "tool_uses", "value": 4}})

    assert bodies(view) == [PLACEHOLDER] * 3 + ["hit " * 20] * 2


def test_a_decision_taken_anew_clears_with_every_turn() -> None:
    service = Service(Options(now=lambda: 0.0))
    before, _ = seen(rounds(6, LONG), clear(), service)
    after, _ = seen(rounds(7, LONG), clear(), service)

    assert (bodies(before).count(PLACEHOLDER), bodies(after).count(PLACEHOLDER)) == (4, 5)


def test_a_decision_replayed_stands_until_the_rest_is_over_the_trigger_again() -> None:
    service = Service(Options(now=lambda: 0.0, replays_clearing=True))
    cleared = [
        bodies(seen(rounds(count, LONG), clear(), service)[0]).count(PLACEHOLDER)
        for count in range(5, 12)
    ]

    assert cleared == [3, 3, 3, 6, 6, 6, 9]


def test_clearing_loses_the_cache_from_the_first_cleared_result_on() -> None:
    service = Service(Options(now=lambda: 0.0))
    service.responder = lambda _view: says("ok")
    mark = {"type": "ephemeral"}
    wish = edits(clear(trigger=7000))

    def read(count: int) -> int:
        request = body(*rounds(count, LONG), cache_control=mark, context_management=wish)
        message, _ = service.answer(request, frozenset({BETA}))
        return int(message["usage"]["cache_read_input_tokens"])

    assert [read(5) > 0, read(6) > 4000, read(7) > 0] == [False, True, False]


def test_old_thinking_is_cleared_by_turns() -> None:
    service = Service(Options(now=lambda: 0.0))
    messages = [user("Why?")]
    for number in range(3):
        service.script.append(thinks(LONG, calls(("search", {"query": str(number)}))))
        answer, _ = service.answer(body(*messages), frozenset())
        messages += [assistant(*answer["content"]), user(result(answer["content"][-1]["id"]))]
    keep = {"type": THINKING, "keep": {"type": "thinking_turns", "value": 1}}

    view, message = seen(messages, keep, service)

    thoughts = [b for m in view["messages"] for b in m["content"] if "thinking" in b]
    assert len(thoughts) == 1
    (applied,) = message["context_management"]["applied_edits"]
    assert applied["cleared_thinking_turns"] == 2
    assert applied["cleared_input_tokens"] > 2000


WRONG: dict[str, tuple[list[Json], str]] = {
    "an unknown edit": ([{"type": "clear_all"}], "edits.0: Input tag 'clear_all'"),
    "thinking second": ([clear(), {"type": THINKING}], "must be the first"),
    "a field too many": ([clear(keeps=3)], "clear_tool_uses_20250919.keeps: Extra inputs"),
    "a trigger of a wrong type": (
        [clear() | {"trigger": {"type": "turns", "value": 3}}],
        "trigger: Input tag 'turns'",
    ),
    "a trigger of zero": ([clear(trigger=0)], "trigger.value"),
    "no turn of thinking kept": (
        [{"type": THINKING, "keep": {"type": "thinking_turns", "value": 0}}],
        "keep.value: Input should be greater than or equal to 1",
    ),
    "compaction without its beta": ([{"type": "compact_20260112"}], "Input tag 'compact_20260112'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_edit_is_refused(name: str) -> None:
    wrong, refusal = WRONG[name]

    with pytest.raises(Refusal) as caught:
        take(body(context_management=edits(*wrong)), BETA)

    assert refusal in caught.value.message


def test_thinking_cannot_be_cleared_where_there_is_none() -> None:
    request = body(model="claude-haiku-5-5", context_management=edits({"type": THINKING}))

    with pytest.raises(Refusal, match="requires `thinking` to be enabled or adaptive"):
        take(request, BETA)
    assert take({**request, "thinking": {"type": "adaptive"}}, BETA)


@pytest.mark.parametrize(("trigger", "taken"), [(49_999, False), (50_000, True)])
def test_compaction_has_a_least_trigger(trigger: int, *, taken: bool) -> None:
    edit = {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": trigger},
    }
    request = body(context_management=edits({"type": THINKING}, clear(), edit))

    if taken:
        assert take(request, BETA, COMPACT_BETA)
    else:
        with pytest.raises(Refusal, match="greater than or equal to 50000"):
            take(request, BETA, COMPACT_BETA)


def test_an_excluded_tool_that_does_not_exist_raises_nothing() -> None:
    assert take(body(context_management=edits(clear(exclude_tools=["raed"])), tools=[READ]), BETA)

"""The request is a pure function of the journal and always one that the service takes (I1-I3)."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.context.request import Frame, build, build_request
from copilot.context.validate import check
from copilot.context.view import View
from copilot.journal import Event, Kind
from copilot.models.model import Json, Request
from policies.schema import Policy

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FRAME = Frame(
    "claude-sonnet-5-5", "system", ({"name": "a", "input_schema": {}},), 1000, Policy(name="test")
)

Step = tuple[str, int]


@st.composite
def journals(draw: st.DrawFn) -> list[Event]:
    """Any run: turns of 1-8 parallel calls, texts with a nudge, dropped answers, a limit."""
    steps: list[Step] = draw(
        st.lists(
            st.tuples(st.sampled_from(["tools", "text", "cut", "pause"]), st.integers(1, 8)),
            max_size=12,
        )
    )
    events: list[Event] = []

    def add(kind: Kind, turn: int, **data: Any) -> None:
        events.append(Event(len(events) + 1, NOW, kind, turn, data))

    add("started", 0, message="Investigate this alert.")
    for turn, (step, calls) in enumerate(steps, start=1):
        ids = [f"toolu_{turn}_{n}" for n in range(calls)]
        uses = [{"type": "tool_use", "id": i, "name": "a", "input": {}} for i in ids]
        match step:
            case "tools":
                thought = {"type": "thinking", "thinking": "", "signature": f"s{turn}"}
                add("response", turn, raw=raw([thought, *uses], "tool_use"))
                for number, id_ in enumerate(ids):
                    add("result", turn, call=id_, tool="a", text="{}", ok=bool(number % 2))
            case "text":
                add("response", turn, raw=raw([{"type": "text", "text": "hm"}], "end_turn"))
                add("nudge", turn, text="go on")
            case "cut":
                add("response", turn, raw=raw(uses, "max_tokens"), dropped=True)
            case _:
                add("response", turn, raw=raw([{"type": "text", "text": "…"}], "end_turn"))
                add("nudge", turn, text="go on")
    if draw(st.booleans()):
        add("limit", len(steps), limit="turns", text="no more tools")
    return events


def raw(content: list[Json], stop_reason: str) -> Json:
    """A message as the service sends it."""
    return {"role": "assistant", "content": content, "stop_reason": stop_reason}


@given(journals())
@settings(max_examples=200)
def test_any_journal_gives_a_request_that_the_service_takes(events: list[Event]) -> None:
    check(build_request(events, FRAME), window=1_000_000, estimate=0)


@given(journals())
def test_the_same_journal_gives_the_same_bytes(events: list[Event]) -> None:
    assert build_request(events, FRAME).encoded() == build_request(list(events), FRAME).encoded()


@given(journals(), st.integers(0, 50))
def test_an_earlier_request_is_a_prefix_of_a_later_one(events: list[Event], cut: int) -> None:
    earlier, later = (blocks(build_request(part, FRAME)) for part in (events[: cut + 1], events))

    assert later[: len(earlier)] == earlier


@given(journals())
def test_fed_event_by_event_is_the_same_as_built_at_once(events: list[Event]) -> None:
    view = View()
    for event in events:
        view.add(event)
        build(view, FRAME)

    assert build(view, FRAME) == build_request(events, FRAME)


def blocks(request: Request) -> list[Json]:
    """All blocks in order, without the cache marks, which may move."""
    return [
        {key: value for key, value in block.items() if key != "cache_control"}
        for message in request.messages
        for block in message["content"]
    ]


def test_a_limit_closes_the_tools_and_keeps_their_definitions() -> None:
    events = [
        Event(1, NOW, "started", 0, {"message": "go"}),
        Event(2, NOW, "limit", 0, {"limit": "turns", "text": "report now"}),
    ]

    request = build_request(events, FRAME)

    assert request.tool_choice == {"type": "none"}
    assert request.tools == FRAME.tools


def test_at_most_two_breakpoints_are_set_one_on_system_one_at_the_end() -> None:
    request = build_request([Event(1, NOW, "started", 0, {"message": "go"})], FRAME)

    marked = str(request.body()).count("cache_control")
    assert marked == 2
    assert "cache_control" in request.messages[-1]["content"][-1]


def test_a_dropped_answer_is_never_sent_back() -> None:
    cut = raw([{"type": "tool_use", "id": "t1", "name": "a", "input": {}}], "max_tokens")
    events = [
        Event(1, NOW, "started", 0, {"message": "go"}),
        Event(2, NOW, "response", 1, {"raw": cut, "dropped": True}),
    ]

    assert len(build_request(events, FRAME).messages) == 1

"""What left the request is known, and so is the later turn that needed it."""

from datetime import UTC, datetime
from typing import Any

from copilot.context.departures import Departure, departures
from copilot.journal import Event, Kind

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Story:
    """Events in order, each turn one call and its answer."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.add("started", 0, message="go", artifacts=[["host", "se01.example.org", 0]])

    def add(self, kind: Kind, turn: int, **data: Any) -> None:
        self.events.append(Event(len(self.events) + 1, NOW, kind, turn, data))

    def turn(self, turn: int, asked: str, seen: str = "") -> None:
        call = f"t{turn}"
        use = {"type": "tool_use", "id": call, "name": "search_logbook", "input": {"text": asked}}
        self.add("response", turn, raw={"content": [use], "stop_reason": "tool_use"})
        self.add(
            "result", turn, call=call, tool="search_logbook", handle=f"R{turn:04}",
            text=f"rows with {seen}" * 20, artifacts=[["host", seen, 1]] if seen else [],
        )  # fmt: skip

    def clear(self, turn: int, *calls: str, by: str = "client", state: str = "") -> None:
        self.add(
            "clear", turn, by=by, calls=list(calls), up_to=len(calls), state=state,
            placeholders=dict.fromkeys(calls, '{"cleared":"R"}'),
        )  # fmt: skip

    def gone(self) -> dict[str, Departure]:
        return {one.call: one for one in departures(self.events)}


def test_what_nobody_asks_for_again_was_not_needed() -> None:
    story = Story()
    story.turn(1, "first", "node01.example.org")
    story.clear(2, "t1")
    story.turn(2, "second")

    gone = story.gone()["t1"]

    assert (gone.handle, gone.turn, gone.lever, gone.needed_in) == ("R0001", 2, "clear", 0)


def test_a_call_that_names_the_handle_needed_it() -> None:
    story = Story()
    story.turn(1, "first")
    story.clear(2, "t1", by="server")
    story.turn(2, "see R0001:4")

    assert (story.gone()["t1"].needed_in, story.gone()["t1"].needed_for) == (2, "R0001")


def test_a_call_that_uses_an_identifier_known_only_from_there_needed_it() -> None:
    story = Story()
    story.turn(1, "first", "node01.example.org")
    story.clear(2, "t1")
    story.turn(2, "what of node01.example.org?")

    assert story.gone()["t1"].needed_for == "node01.example.org"


def test_an_identifier_that_stands_in_view_again_needs_nothing() -> None:
    story = Story()
    story.turn(1, "first", "node01.example.org")
    story.clear(2, "t1", state="kept by code: node01.example.org")
    story.turn(2, "what of node01.example.org?")

    assert story.gone()["t1"].needed_in == 0


def test_an_identifier_of_the_alert_belongs_to_no_result() -> None:
    story = Story()
    story.turn(1, "first", "se01.example.org")
    story.clear(2, "t1")
    story.turn(2, "what of se01.example.org?")

    assert story.gone()["t1"].needed_in == 0


def test_only_the_first_need_is_named() -> None:
    story = Story()
    story.turn(1, "first")
    story.clear(2, "t1")
    story.turn(2, "R0001")
    story.turn(3, "R0001 again")

    assert story.gone()["t1"].needed_in == 2


def test_a_compaction_takes_every_older_turn_along() -> None:
    story = Story()
    for turn in range(1, 5):
        story.turn(turn, f"search {turn}")
    story.add("compact", 5, by="client", failed=False, keep_from=4, summary="short", state="")
    story.turn(5, "R0002:1")

    gone = story.gone()

    assert {call: one.needed_in for call, one in gone.items()} == {"t1": 0, "t2": 5, "t3": 0}
    assert {one.lever for one in gone.values()} == {"compact"}

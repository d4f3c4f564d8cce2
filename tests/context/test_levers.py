"""When a lever is pulled, on what, and what two bad summaries lead to."""

from pathlib import Path

from copilot.models.support import Support
from copilot.upkeep import compact_view
from tests.doubles.messages_api import Json
from tests.properties.rig import Rig

CLEARS = Support(clear_tool_uses=True, on_demand=True)


def look(seed: int, rows: int = 12) -> Json:
    """A turn that looks once."""
    use = {"type": "tool_use", "name": "look", "input": {"seed": seed, "rows": rows}}
    return {"content": [use], "stop_reason": "tool_use"}


def kinds(rig: Rig, kind: str) -> list[object]:
    """Who pulled that lever, each time."""
    return [event.data["by"] for event in rig.work.journal.events if event.kind == kind]


def test_the_newest_result_is_never_cleared_before_it_was_answered(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=CLEARS)
    for seed in range(1, 9):
        rig.turn(look(seed))

        cleared = {
            call
            for event in rig.work.journal.events
            if event.kind == "clear" and event.turn == rig.number - 1
            for call in event.data["calls"]  # type: ignore[union-attr]  # a list of ids
        }
        newest = rig.work.journal.last("result")
        assert newest is not None
        assert newest.data["call"] not in cleared
    assert kinds(rig, "clear")


def test_what_a_policy_protects_stays(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    note = {"section": "now", "text": "It is being looked at. " * 40}
    use = {"type": "tool_use", "name": "write_notes", "input": note}
    rig.turn({"content": [use], "stop_reason": "tool_use"})
    for seed in range(1, 7):
        rig.turn(look(seed))

    assert kinds(rig, "clear")
    assert all(not use.is_cleared for use in rig.work.view.tool_uses() if use.tool != "look")


def test_a_clearing_keeps_its_set_until_the_next_one(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=CLEARS)
    sent: list[tuple[int, int]] = []

    def count(_: object, request: object, read: Json) -> None:
        emptied = sum(
            "cleared" in str(b.get("content")) for m in read["messages"] for b in m["content"]
        )
        sent.append((len(kinds(rig, "clear")), emptied))

    rig.watch = count
    for seed in range(1, 9):
        rig.turn(look(seed))

    for clears in {clears for clears, _ in sent}:
        assert len({emptied for seen, emptied in sent if seen == clears}) == 1


def test_two_bad_summaries_in_a_row_end_the_asking_for_good(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=Support(on_demand=True))
    rig.summary = lambda _: None
    for seed in range(1, 40):
        rig.turn(look(seed, rows=14))

    asked = [by for by in kinds(rig, "compact") if by != "state"]
    assert asked == ["on_demand", "on_demand"]
    assert kinds(rig, "compact")[2:]
    assert set(kinds(rig, "compact")[2:]) == {"state"}


def test_a_lossy_summary_is_mended_and_its_loss_is_on_record(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=Support(on_demand=True))
    rig.summary = lambda _: "It was looked at."
    for seed in (1, 2, 3):
        rig.turn(look(seed))
    compact_view(rig.work, rig.number, "on_demand")

    event = rig.work.journal.last("compact")
    assert event is not None
    assert event.data["loss_rate"] == 1.0
    assert "OPS-4711" in str(event.data["state"])

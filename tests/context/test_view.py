"""The view after levers: what is read, in which order, and what a restart begins with."""

from pathlib import Path

import pytest

from copilot.context.restate import visible
from copilot.context.view import joined
from copilot.models.support import Support
from copilot.upkeep import compact_view, upkeep
from tests.doubles.messages_api import Json, thinks
from tests.properties.rig import ALERT, Killed, Rig

ALL = Support(clear_tool_uses=True, clear_thinking=True, on_demand=True, adaptive_thinking=True)


def looks(*seeds: int, rows: int = 30) -> Json:
    """A turn that looks at these in parallel."""
    uses = [
        {"type": "tool_use", "name": "look", "input": {"seed": seed, "rows": rows}}
        for seed in seeds
    ]
    return {"content": uses, "stop_reason": "tool_use"}


def test_a_restart_after_the_services_summary_begins_with_the_alert(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    rig.turn(looks(1))
    rig.turn(looks(2))
    compact_view(rig.work, rig.number, "on_demand")
    rig.turn(looks(3))
    compact_view(rig.work, rig.number, "state")

    first = joined(rig.work.view.pieces)[0]
    assert first["role"] == "user"
    assert first["content"][0]["text"] == ALERT.words()
    rig.turn(looks(4))
    assert rig.refused == []


def test_two_summaries_close_together_leave_one_and_it_stands_first(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    for seed in (1, 2):
        rig.turn(looks(seed))
    for seed in (3, 4):
        compact_view(rig.work, rig.number, "on_demand")
        rig.turn(looks(seed))

    kinds = [block["type"] for piece in rig.work.view.pieces for block in piece.blocks]
    assert kinds[0] == "compaction"
    assert kinds.count("compaction") == 1
    assert rig.refused == []


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-sonnet-5-5"])
def test_a_restart_in_a_round_of_thoughts_and_calls_is_taken(tmp_path: Path, model: str) -> None:
    binds = model == "claude-sonnet-5-5"
    rig = Rig(tmp_path, model=model, support=Support(adaptive_thinking=True, binds_thinking=binds))
    rig.turn(thinks("one", looks(1)))
    rig.turn(thinks("two", looks(2)))
    compact_view(rig.work, rig.number, "state")
    rig.turn(thinks("three", looks(3)))

    assert rig.refused == []
    assert "job 10002001 " in visible(rig.work.view.as_read())


def test_nothing_comes_between_calls_and_results_when_a_kill_parted_them(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    for seed in (1, 2, 3):
        rig.turn(looks(seed, seed + 10))
    rig.dies_at = next(rig.appends) + 3
    with pytest.raises(Killed):
        rig.turn(looks(30, 31, 32))
    rig.reopen()
    upkeep(rig.work, rig.number)
    rig.turn(looks(30, 31, 32))
    rig.turn(looks(5))

    assert rig.refused == []


def test_what_the_service_cleared_before_does_not_count_as_read(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    for seed in range(1, 8):
        rig.turn(looks(seed, rows=12))

    cleared = rig.work.view.cleared_by_server
    assert cleared
    assert "job 10001001 " not in visible(rig.work.view.as_read())
    assert all(piece.call not in cleared for piece in rig.work.view.as_read())

"""What the service does not take back, or cannot hold, is left behind; the turn goes on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copilot.context.restate import visible
from copilot.context.view import Piece
from copilot.errors import ModelError
from copilot.mending import mended
from copilot.models.support import Support
from copilot.upkeep import compact_view
from policies.schema import Policy
from tests.doubles.messages_api import Json, thinks
from tests.properties.rig import ALERT, POLICY, Rig

BINDS = Support(adaptive_thinking=True, binds_thinking=True)
ROOMY = Policy.model_validate(
    POLICY.model_dump()
    | {
        "name": "roomy",
        "clearing": {"trigger_tokens": 100_000},
        "compaction": {"trigger_tokens": 150_000, "summary_tokens": 500},
    }
)


def look(seed: int, rows: int = 8) -> Json:
    """A turn that looks once."""
    use = {"type": "tool_use", "name": "look", "input": {"seed": seed, "rows": rows}}
    return {"content": [use], "stop_reason": "tool_use"}


def compactions(rig: Rig) -> list[object]:
    """Who summarised, each time."""
    return [event.data["by"] for event in rig.work.journal.events if event.kind == "compact"]


def spoilt(rig: Rig, kind: str, key: str, which: int) -> None:
    """Change a signed block that the view holds, as a faulty proxy or a rotated key would."""
    pieces = rig.work.view.pieces
    holders = [n for n, piece in enumerate(pieces) if any(b["type"] == kind for b in piece.blocks)]
    piece = pieces[holders[which]]
    blocks = [b | {key: f"{b[key]}x"} if b["type"] == kind else b for b in piece.blocks]
    pieces[holders[which]] = replace(piece, blocks=tuple(blocks))


def says(piece: Piece) -> set[str]:
    """The kinds of its blocks."""
    return {block["type"] for block in piece.blocks}


@pytest.mark.parametrize("which", [0, -1])
@pytest.mark.parametrize("key", ["thinking", "signature"])
def test_a_thought_that_is_not_taken_back_stays_behind(
    tmp_path: Path, key: str, which: int
) -> None:
    rig = Rig(tmp_path, model="claude-sonnet-5-5", support=BINDS, policy=ROOMY)
    for seed in (1, 2, 3, 4):
        rig.turn(thinks("hm", look(seed)))
    spoilt(rig, "thinking", key, which)

    rig.turn(look(5))
    rig.turn(look(6))

    assert len(rig.refused) == 1
    assert compactions(rig) == ["state"]
    read = visible(rig.work.view.as_read())
    assert ALERT.title in read
    assert "R0004" in read
    assert rig.work.ledger.support == BINDS


@pytest.mark.parametrize("key", ["content", "signature"])
def test_a_summary_that_is_not_taken_back_stays_behind(tmp_path: Path, key: str) -> None:
    rig = Rig(tmp_path, support=Support(on_demand=True), policy=ROOMY)
    for seed in (1, 2, 3):
        rig.turn(look(seed))
    compact_view(rig.work, rig.number, "on_demand")
    spoilt(rig, "compaction", key, 0)

    rig.turn(look(4))
    rig.turn(look(5))

    assert len(rig.refused) == 1
    assert compactions(rig) == ["on_demand", "state"]
    assert rig.work.ledger.support.on_demand
    assert not any("compaction" in says(piece) for piece in rig.work.view.pieces)


def test_after_a_new_beginning_calls_that_were_open_are_words_and_every_result_has_its_handle(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, model="claude-sonnet-5-5", support=BINDS, policy=ROOMY)
    for seed in (1, 2, 3):
        rig.turn(thinks("hm", look(seed)))
    spoilt(rig, "thinking", "signature", 0)

    rig.turn(look(4))

    before = [piece for piece in rig.work.view.pieces if piece.turn < rig.number - 1]
    assert {kind for piece in before for kind in says(piece)} == {"text"}
    assert all(f"R000{n}" in visible(rig.work.view.as_read()) for n in (1, 2, 3))


def test_it_is_tried_once_a_turn(tmp_path: Path) -> None:
    rig = Rig(tmp_path, model="claude-sonnet-5-5", support=BINDS, policy=ROOMY)
    for seed in (1, 2):
        rig.turn(thinks("hm", look(seed)))
    refusal = ModelError("messages.1.content.0: Invalid `signature`", kind="invalid")

    assert [mended(rig.work, rig.number, refusal) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("the model is not known", "invalid"),
        ("Invalid `signature`", "auth"),
        ("busy", "overloaded"),
    ],
)
def test_what_has_nothing_to_do_with_the_conversation_is_not_mended(
    tmp_path: Path, said: str, kind: str
) -> None:
    rig = Rig(tmp_path, model="claude-sonnet-5-5", support=BINDS, policy=ROOMY)
    rig.turn(thinks("hm", look(1)))

    assert not mended(rig.work, rig.number, ModelError(said, kind=kind))
    assert compactions(rig) == []


@pytest.mark.parametrize("support", [Support(), Support(on_demand=True), Support(threshold=True)])
def test_a_run_that_is_larger_than_its_window_when_it_resumes_begins_anew(
    tmp_path: Path, support: Support
) -> None:
    rig = Rig(tmp_path, support=support, policy=ROOMY)
    for seed in range(1, 16):
        rig.turn(look(seed, rows=30))
    rig.window = 5000
    rig.service.options = replace(rig.service.options, window=5000)

    rig.reopen()
    rig.turn(look(50))
    rig.turn(look(51))

    assert rig.refused == []
    assert compactions(rig) == ["state"]
    assert not rig.work.ledger.limit
    read = visible(rig.work.view.as_read())
    assert ALERT.title in read
    assert "R0015" in read


def test_what_the_service_counts_as_too_long_begins_anew(tmp_path: Path) -> None:
    rig = Rig(tmp_path, policy=ROOMY)
    for seed in range(1, 16):
        rig.turn(look(seed, rows=30))
    rig.service.options = replace(rig.service.options, window=5000)

    rig.turn(look(50))

    assert len(rig.refused) == 1
    assert compactions(rig) == ["state"]


def test_a_policy_that_never_summarises_ends_by_its_window(tmp_path: Path) -> None:
    off: dict[str, Any] = {"compaction": ROOMY.compaction.model_copy(update={"by": "off"})}
    rig = Rig(tmp_path, policy=ROOMY.model_copy(update=off))
    for seed in range(1, 16):
        rig.turn(look(seed, rows=30))
    rig.window = 5000
    rig.reopen()

    with pytest.raises(ModelError, match="Use a tighter policy"):
        rig.turn(look(50))

"""The twelve rules of the request builder, one test each.

Those with a test elsewhere: 1 in tests/context/test_request.py (the same journal, the same bytes);
3 in tests/context/test_validate.py; 5 in tests/context/test_placement.py and tests/scratch;
10 in tests/models/test_prices.py and tests/test_investigation.py (budgets).
"""

import json
from pathlib import Path
from typing import Any

import pytest

from copilot.context.request import ON_DEMAND, THRESHOLD, build
from copilot.context.view import View
from copilot.journal import Event
from copilot.models.model import Request
from copilot.models.support import Support
from copilot.steps import Work
from copilot.upkeep import compact_view
from tests.doubles.messages_api import Json, thinks
from tests.properties.rig import NOW, Killed, Rig

ALL = Support(
    clear_tool_uses=True, clear_thinking=True, on_demand=True, threshold=True,
    adaptive_thinking=True,
)  # fmt: skip


def look(*seeds: int) -> Json:
    """A turn that looks at these in parallel."""
    uses = [
        {"type": "tool_use", "name": "look", "input": {"seed": seed, "rows": 12}} for seed in seeds
    ]
    return {"content": uses, "stop_reason": "tool_use"}


def sent(rig: Rig) -> list[Request]:
    """The requests for a turn, as they come."""
    requests: list[Request] = []

    def keep(_: Work, request: Request, __: Json) -> None:
        requests.append(request)

    rig.watch = keep
    return requests


def test_02_an_answer_goes_back_as_it_came_without_null_encrypted_content() -> None:
    content: list[Json] = [
        {"type": "compaction", "content": "SUM", "encrypted_content": None},
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "tool_use", "id": "a", "name": "look", "input": {"z": 1, "a": 2}},
    ]
    raw: Any = {"content": content, "stop_reason": "tool_use"}
    view = View([Event(1, NOW, "response", 1, {"raw": raw})])

    del content[0]["encrypted_content"]
    blocks = [block for piece in view.pieces for block in piece.blocks]
    assert json.dumps(blocks) == json.dumps(content)


def test_04_a_call_that_a_kill_left_open_is_answered_on_resume(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.dies_at = next(rig.appends) + 4
    with pytest.raises(Killed):
        rig.turn(look(1, 2, 3))
    rig.reopen()
    rig.turn(look(1, 2, 3))
    rig.turn(look(4))

    results = [e for e in rig.work.journal.events if e.kind == "result" and e.turn == 1]
    assert [event.data["handle"] for event in results] == ["R0001", "R0002", "R0003"]
    assert rig.refused == []


def test_06_system_and_tools_are_the_same_bytes_in_every_request_and_sorted(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    requests = sent(rig)
    for seed in range(1, 9):
        rig.turn(look(seed))

    assert len({json.dumps([r.system, r.tools]) for r in requests}) == 1
    names = [tool["name"] for tool in requests[0].tools]
    assert names == sorted(names)


def test_07_a_signed_block_comes_with_its_beta_first_and_alone(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    for seed in (1, 2):
        rig.turn(look(seed))
    before = build(rig.work.view, rig.work.frame, ALL)
    compact_view(rig.work, rig.number, "on_demand")
    after = build(rig.work.view, rig.work.frame, ALL)

    assert ON_DEMAND not in before.betas
    assert ON_DEMAND in after.betas
    assert after.messages[0]["content"][0]["type"] == "compaction"
    assert str(after.messages).count("'compaction'") == 1
    assert "seed': 1" not in str(after.messages)


def test_08_edits_come_in_order_and_betas_follow_from_them(tmp_path: Path) -> None:
    policy = {
        "thinking": {"keep_turns": 1},
        "compaction": {"kind": "threshold", "trigger_tokens": 60_000},
    }
    rig = Rig(tmp_path, support=Support(clear_tool_uses=True, clear_thinking=True, threshold=True, adaptive_thinking=True))  # fmt: skip
    for seed in range(1, 7):
        rig.turn(thinks("hm", look(seed)))
    frame = rig.work.frame
    merged = frame.policy.model_dump() | {
        key: frame.policy.model_dump()[key] | value for key, value in policy.items()
    }
    changed = type(frame)(
        frame.model, frame.system, frame.tools, 1000, type(frame.policy).model_validate(merged)
    )
    request = build(rig.work.view, changed, rig.work.ledger.support)

    assert request.context_management is not None
    kinds = [edit["type"] for edit in request.context_management["edits"]]
    assert kinds == ["clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"]
    assert set(request.betas) == {"context-management-2025-06-27", THRESHOLD}


def test_09_what_is_excluded_from_clearing_exists(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    requests = sent(rig)
    for seed in range(1, 8):
        rig.turn(look(seed))

    edits = [edit for r in requests for edit in (r.context_management or {"edits": []})["edits"]]
    names = {tool["name"] for tool in requests[0].tools}
    assert edits
    assert all(set(edit["exclude_tools"]) <= names for edit in edits)
    assert all("write_notes" in edit["exclude_tools"] for edit in edits)


def test_11_bound_thoughts_are_never_followed_by_another_beginning(tmp_path: Path) -> None:
    rig = Rig(tmp_path, model="claude-sonnet-5-5", support=Support(adaptive_thinking=True, binds_thinking=True))  # fmt: skip
    for seed in range(1, 12):
        rig.turn(thinks("hm", look(seed)))

    assert not [event for event in rig.work.journal.events if event.kind == "clear"]
    assert [event for event in rig.work.journal.events if event.kind == "compact"]
    assert rig.refused == []


def test_12_after_two_failed_summaries_code_writes_them(tmp_path: Path) -> None:
    rig = Rig(tmp_path, support=ALL)
    rig.summary = lambda _: None
    for seed in range(1, 40):
        rig.turn(look(seed))

    by = [event.data["by"] for event in rig.work.journal.events if event.kind == "compact"]
    assert by[:2] == ["on_demand", "on_demand"]
    assert set(by[2:]) == {"state"}

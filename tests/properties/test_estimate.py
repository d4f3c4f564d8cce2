"""I6: our estimate is at least nine tenths of what is counted, and no request passes the window."""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copilot.errors import ModelError
from copilot.journal import Event
from copilot.ledger import Ledger
from copilot.models.support import Support
from tests.doubles.messages_api import Json
from tests.properties.rig import POLICY, Rig

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SPARSE, DENSE = 0.2, 0.4
"""Tokens a byte of prose, and of logs at their worst."""
LOOK = st.tuples(st.just("look"), st.integers(1, 40), st.integers(0, 60))
TEXT = st.tuples(
    st.just("printed"),
    st.integers(1, 10**6),
    st.one_of(st.text(max_size=300), st.sampled_from(['{}\\"', "é漢🜚", "0af9 "])),
)
TURNS = st.lists(st.lists(st.one_of(LOOK, TEXT), min_size=1, max_size=5), min_size=1, max_size=12)


@given(
    turns=TURNS,
    window=st.sampled_from([5000, 8000, 30_000]),
    has=st.sets(st.sampled_from(["clear_tool_uses", "on_demand"])),
    triggers=st.sampled_from([(3000, 6000), (9000, 20_000)]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_of_any_conversation_the_estimate_is_enough_and_the_window_is_never_passed(
    turns: Any, window: int, has: set[str], triggers: tuple[int, int]
) -> None:
    clearing = POLICY.clearing.model_copy(update={"trigger_tokens": triggers[0]})
    compaction = POLICY.compaction.model_copy(update={"trigger_tokens": triggers[1]})
    policy = POLICY.model_copy(update={"clearing": clearing, "compaction": compaction})
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(
            Path(folder), support=Support(**dict.fromkeys(has, True)), policy=policy, window=window
        )
        rig.service.options = replace(rig.service.options, window=window)
        for calls in turns:
            try:
                rig.turn(reply(rig, calls))
            except ModelError as error:
                assert error.kind == "too_long"  # noqa: PT017 - it stops, and a report is written
                break
        events = rig.work.journal.events
        rig.work.journal.close()

    assert rig.refused == []
    estimate = 0
    for event in events:
        if event.kind == "request":
            estimate = int(str(event.data["estimate"]))
        if event.kind == "response":
            usage: Any = event.data["usage"]
            counted = usage["input"] + usage["cache_read"] + usage["cache_write"]
            assert 0.9 * counted <= estimate
            assert counted <= window


def reply(rig: Rig, calls: Any) -> Json:
    """A turn of these calls."""
    uses = []
    for name, number, more in calls:
        given = {"seed": number, "rows": more} if name == "look" else {"number": number}
        if name == "printed":
            rig.printed[number] = str(more) * 40
        uses.append({"type": "tool_use", "name": name, "input": given})
    return {"content": uses, "stop_reason": "tool_use"}


@given(
    parts=st.lists(
        st.tuples(st.integers(0, 60_000), st.floats(SPARSE, DENSE)), min_size=1, max_size=40
    ),
    leaves=st.sets(st.integers(0, 39)),
)
def test_dense_text_behind_sparse_text_is_not_underrated(
    parts: list[tuple[int, float]], leaves: set[int]
) -> None:
    ledger = Ledger()
    held: list[tuple[int, float]] = [(20_000, 0.35)]
    for turn, part in enumerate(parts, start=1):
        held = [held[0], part] if turn - 1 in leaves else [*held, part]
        size = sum(count for count, _ in held)
        real = sum(count * rate for count, rate in held)

        assert ledger.estimate(size) >= 0.9 * real - 1

        ledger.add(Event(1, NOW, "request", turn, {"bytes": {"all": size}}))
        ledger.add(Event(2, NOW, "response", turn, {"raw": {}, "context": int(real)}))

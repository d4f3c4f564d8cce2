"""What can be got round when the service refuses a request: then the same turn goes on."""

import re

from copilot.context.request import build
from copilot.context.view import THOUGHTS, View
from copilot.errors import ModelError
from copilot.models.support import refused_features
from copilot.steps import Work
from copilot.upkeep import compact_view, downgrade

SIGNED = THOUGHTS | {"compaction"}
"""Kinds of blocks that the service signs, and takes back only as it gave them."""
NOT_TAKEN_BACK = re.compile(
    r"signature|cannot be modified|compaction_(?:content|tool_changes|block)_|compaction block"
)
"""What a 400 says of such a block: changed, moved, or of another conversation."""


def mended(work: Work, turn: int, error: ModelError) -> bool:
    """Whether the turn may go on: without a lever, or begun anew from what code kept.

    A lever that the endpoint does not know is left out from now on. A block that it gave and does
    not take back, or a conversation that is too long for it, stays behind once a turn.
    """
    if error.kind == "invalid":
        if _is_not_taken_back(work.view, error):
            return _began_anew(work, turn)
        request = build(work.view, work.frame, work.ledger.support)
        named = refused_features(request, str(error))
        have = [name for name in named if getattr(work.ledger.support, name)]
        if have:
            downgrade(work, turn, have, f"refused: {error}")
        # Without its lever an old summary is a block that nobody reads.
        return bool(have) or (bool(named) and _is_signed(work.view) and _began_anew(work, turn))
    if error.kind == "too_long" and work.policy.compaction.by != "off":
        return _began_anew(work, turn)
    return False


def _is_not_taken_back(view: View, error: ModelError) -> bool:
    return bool(NOT_TAKEN_BACK.search(str(error))) and _is_signed(view)


def _is_signed(view: View) -> bool:
    return any(block.get("type") in SIGNED for piece in view.pieces for block in piece.blocks)


def _began_anew(work: Work, turn: int) -> bool:
    """Go on from what code kept; False when that was done in this turn, and did not help."""
    last = work.journal.last("compact", turn)
    if last and last.data["by"] == "state":
        return False
    events = len(work.journal.events)
    compact_view(work, turn, "state", retold=True)
    return len(work.journal.events) > events

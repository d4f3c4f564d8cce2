"""The outbox: comments that the copilot proposed for tickets, each waiting for a person.

Begin with `outbox.py`. Nothing here reaches a tracker: whoever approves a draft brings the means.
"""

from copilot.outbox.draft import Draft, Posted, Status, comment_text, mark_of
from copilot.outbox.outbox import Decided, Outbox

__all__ = [
    "Decided", "Draft", "Outbox", "Posted", "Status", "comment_text", "mark_of",
]  # fmt: skip

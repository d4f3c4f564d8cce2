"""What one post, spool file or poll brought: its alerts as read, before they are redacted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from copilot.values import Alert

Kind = Literal["alertmanager", "grafana", "generic", "any"]
"""Who a body is from; any: its content tells."""
RESOLVED = "resolved"
FIRING = "firing"


@dataclass(frozen=True, slots=True)
class Parcel:
    """The alerts that came together, in the sender's order. Each is firing or resolved."""

    source: str
    alerts: tuple[Alert, ...]
    group: str = ""
    """The sender's key of the group, as long as it likes; empty when it has none."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the sender grouped by."""
    truncated: int = 0
    """How many more alerts of the group the sender left out."""

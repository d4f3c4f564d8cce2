"""Whether the disk has room for more alerts: its last part is kept for work that has begun."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
LEAST_FREE = 256 * MIB
ENOUGH_FREE = 5 << 30
LEAST_SHARE = 0.05
BELIEVED_S = 1.0
"""How long it is believed that there is room: at the system call of a look the thread that answers
senders loses its turn. Who comes to a disk that fills meanwhile is refused by the commit."""


@dataclass
class Room:
    """Looks whether there is room, for any number of alerts a second."""

    monotonic: Callable[[], float]
    _until: float = 0.0

    def problem(self, folder: Path) -> str:
        """Why the disk of *folder*, always the same, takes no more; or an empty text."""
        now = self.monotonic()
        if now < self._until:
            return ""
        problem = no_room(folder)
        self._until = 0.0 if problem else now + BELIEVED_S
        return problem


def no_room(folder: Path) -> str:
    """Why the disk of *folder* takes no more, or an empty text."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError as error:
        return f"{folder} cannot be looked at ({error.strerror}); mount it, or make it readable"
    least = max(LEAST_FREE, min(ENOUGH_FREE, int(usage.total * LEAST_SHARE)))
    if usage.total < LEAST_FREE * 2:  # a small disk of its own: half of the rule
        least = usage.total // 20
    if usage.free >= least:
        return ""
    return f"the disk has {usage.free // MIB} MiB left and {least // MIB} are kept free"

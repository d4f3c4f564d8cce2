"""Whether the disk has room for more alerts: its last part is kept for work that has begun."""

import shutil
from pathlib import Path

MIB = 1 << 20
LEAST_FREE = 256 * MIB
ENOUGH_FREE = 5 << 30
LEAST_SHARE = 0.05


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

"""A file put into the spool as its senders do: whole and synced before it can be seen."""

import os
import secrets
import time
from pathlib import Path

from copilot.errors import UsageError


def drop(spool: Path, body: bytes, map: str = "") -> Path:
    """Put *body* into the spool and return its file. *map* names the map of a generic payload.

    Raises UsageError when the folder cannot be written.
    """
    ending = f".{map}.json" if map else ".json"
    name = f"{time.time_ns()}-{secrets.token_hex(4)}{ending}"
    draft, target = spool / "tmp" / name, spool / "new" / name
    try:
        for folder in (draft.parent, target.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(target)
        _sync(target.parent)
    except OSError as error:
        raise UsageError(f"{spool} cannot be written ({error.strerror})") from error
    return target


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""The small file beside each result that says which call it answers, and under which handle.

A handle exists from the moment that its entry file has its name; rows without one were never given
to anyone. Entries outlive the rows: a swept handle still says what to search again, and its number
is never given to another result.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from copilot.errors import ScratchError
from copilot.scratch import folder as disk
from copilot.scratch.handles import HANDLE
from copilot.scratch.rows import decode, sync
from copilot.values import Json, canonical, digest

ENTRY = re.compile(rf"({HANDLE.pattern})-([0-9a-f]{{16}})\.json", re.ASCII)
LIMIT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Stored:
    """One offloaded result. `file` is its name below the incident's folder, for a person."""

    handle: str
    lines: int
    bytes: int
    sha256: str
    tool: str
    arguments: Mapping[str, Json]
    file: str

    @property
    def call(self) -> str:
        """The call that it answers, short enough for a message."""
        return f"{self.tool} {canonical(dict(self.arguments))[:300]}"


def key_of(tool: str, arguments: Mapping[str, Json], sha256: str) -> str:
    """What names a result in its file: the same call with the same content has the same key."""
    return digest(canonical([tool, dict(arguments), sha256]))[:16]


def keys_in(folder: int) -> dict[str, str]:
    """Every handle of the folder in order of number, with its key."""
    entries = (ENTRY.fullmatch(name) for name in os.listdir(folder))
    found = sorted((int(entry[2]), entry[1], entry[3]) for entry in entries if entry)
    return {handle: key for _, handle, key in found}


def write_entry(folder: int, stored: Stored) -> None:
    """Write the entry of *stored*. Its name appears only when all of it is synced."""
    entry = {key: value for key, value in asdict(stored).items() if key != "file"}
    with disk.draft(folder) as (descriptor, temporary):
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(canonical(entry).encode("utf-8", "replace"))
            sync(file)
        name = stored.file.removesuffix(".jsonl") + ".json"
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def read_entry(folder: int, handle: str) -> Stored:
    """The entry of *handle*. Raises ScratchError naming the handles that there are."""
    keys = keys_in(folder)
    if handle not in keys:
        known = f"{next(iter(keys))} to {next(reversed(keys))}" if keys else "none yet"
        raise ScratchError(f"there is no result {handle} in this incident; there are: {known}")
    name = f"{handle}-{keys[handle]}"
    try:
        entry = decode(disk.read_file(folder, f"{name}.json", LIMIT_BYTES))
        return Stored(**entry, file=f"{name}.jsonl")  # type: ignore[arg-type] # we wrote it
    except (TypeError, ValueError) as error:
        raise ScratchError(
            f"what {handle} answers is no longer readable ({name}.json); search again"
        ) from error

"""What a folder of results holds, remembered between puts as long as nobody else has written.

The lock file carries a mark that is replaced before each change. Who finds the mark that she left
knows that nothing happened since, and need not list hundreds of files again; a writer killed half
way has replaced the mark already, so that everybody else looks again.
"""

import os
import secrets
from dataclasses import dataclass

from copilot.scratch import folder as disk
from copilot.scratch.entries import keys_in
from copilot.scratch.handles import number_of

MARK_BYTES = 16


@dataclass(slots=True)
class Catalogue:
    """The handles of a folder by key, its last number and its bytes, as of *mark*."""

    mark: bytes
    handles: dict[str, str]
    last: int
    bytes: int


def current(folder: int, lock: int, known: Catalogue | None) -> Catalogue:
    """The catalogue as it is now, under the lock. *known* is what was true the last time."""
    mark = os.pread(lock, MARK_BYTES, 0)
    if known and known.mark == mark:
        return known
    keys = keys_in(folder)
    last = number_of(next(reversed(keys), ""))
    return Catalogue(mark, {key: handle for handle, key in keys.items()}, last, disk.size(folder))


def replace_mark(lock: int) -> bytes:
    """A new mark in the lock file: what anybody remembers is no longer true."""
    mark = secrets.token_hex(MARK_BYTES // 2).encode()
    os.pwrite(lock, mark, 0)
    return mark

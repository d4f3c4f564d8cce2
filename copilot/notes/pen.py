"""Who has the pen of the notes: one process at a time, and none that is frozen for ever.

The pen is a lock on a file with a number, held by its writer and by the git that the writer
starts. Whoever dies lets it go. Whoever shows no sign of life for a while is deposed: a waiter
makes the file of the next number, which only one can, and from then on that file is the pen. A
writer looks whether its number is still the highest before each thing it does; thawed, it stops.
"""

import errno
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from copilot.errors import NotesError
from copilot.notes.intents import Intent

Sleep = Callable[[float], None]
PATIENCE_S = 30.0
"""How long a writer waits for the others."""
FROZEN_S = 6.0
"""A writer that does nothing for so long has lost its pen. A commit takes a twentieth of one."""
STEP_S = 0.01
NAME = re.compile(r"lock(?:-(\d+))?")


class PenLostError(NotesError):
    """Another process writes by now; what is under way here is to be begun anew."""

    def __init__(self, folder: Path, begun: Intent | None = None) -> None:
        """*begun* is what may have been put in place after the pen was lost."""
        super().__init__(
            f"this process did nothing for {FROZEN_S:.0f} s while it was writing the notes, and "
            f"another one took its pen in {folder}; try again",
            retryable=True,
        )
        self.begun = begun


@dataclass(frozen=True, slots=True)
class Pen:
    """The right to write, while its number is the highest."""

    folder: Path
    number: int
    file: int
    """The descriptor of the lock."""

    @property
    def is_lost(self) -> bool:
        """Whether another process has it by now."""
        return _newest(self.folder) != self.number

    def go_on(self) -> None:
        """Show that we live, and return when we may go on. Raises PenLostError."""
        os.utime(self.file)
        if self.is_lost:
            raise PenLostError(self.folder)


@contextmanager
def one_writer(folder: Path, sleep: Sleep = time.sleep) -> Iterator[Pen]:
    """The pen, its lock kept in *folder*. Raises NotesError after 30 s."""
    waited_s = still_s = 0.0
    seen: object = None
    while (pen := _taken(folder)) is None:
        if waited_s > PATIENCE_S:
            raise NotesError(
                f"other processes have been writing the notes for {PATIENCE_S:.0f} s "
                f"({folder} is locked); try again",
                retryable=True,
            )
        number = _newest(folder)
        before, seen = seen, _sign_of_life(folder, number)
        still_s = still_s + STEP_S if seen == before else 0.0  # by looks: we may have been frozen
        if still_s > FROZEN_S:
            _depose(folder, number)
        sleep(STEP_S)
        waited_s += STEP_S
    try:
        yield pen
    finally:
        os.close(pen.file)


def _taken(folder: Path) -> Pen | None:
    """The pen, or None while another process has it."""
    number = _newest(folder)
    file = os.open(_path(folder, number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not _locked(file) or _newest(folder) != number:
        os.close(file)
        return None
    os.utime(file)
    for old in _numbers(folder) - {number}:
        _path(folder, old).unlink(missing_ok=True)
    return Pen(folder, number, file)


def _depose(folder: Path, number: int) -> None:
    """Begin the next number, unless another process has done so."""
    with suppress(FileExistsError):
        os.close(os.open(_path(folder, number + 1), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _sign_of_life(folder: Path, number: int) -> tuple[int, int]:
    """What changes whenever the writer does something."""
    with suppress(FileNotFoundError):
        return number, _path(folder, number).stat().st_mtime_ns
    return number, 0


def _newest(folder: Path) -> int:
    return max(_numbers(folder), default=0)


def _numbers(folder: Path) -> set[int]:
    found = (NAME.fullmatch(path.name) for path in folder.iterdir())
    return {int(match[1] or 0) for match in found if match}


def _path(folder: Path, number: int) -> Path:
    return folder / (f"lock-{number}" if number else "lock")


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise NotesError(f"the notes cannot be locked here: {error.strerror}") from None
    return True

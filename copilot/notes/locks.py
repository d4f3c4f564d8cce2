"""The locks that a killed or frozen git left behind, and how to tell them from those in use.

Whoever looks has the turn to write, and the git that a writer starts inherits its turn. So a
`*.lock` in the repository is of a person's git, of a process that died, or of a writer that lost
its turn: without its lock that one's git fails, which is what is wanted.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from copilot.errors import NotesError
from copilot.notes.git import git_dir

LIVE_S = 10.0
"""How long a writer waits for a git command that a person runs."""
UNTOUCHED_S = 0.3
"""A lock that no process holds must stay unchanged this long before it is removed."""
PROC = Path("/proc")
READING = frozenset({"blame", "diff", "grep", "log", "ls-files", "reflog", "shortlog", "show"})
"""Commands that hold no lock, however long a person looks at their pager."""
TAKES_VALUE = frozenset({"-c", "-C"})

Sleep = Callable[[float], None]


def clear_stale_locks(root: Path, sleep: Sleep = time.sleep) -> bool:
    """Remove git's locks that nobody holds; True when one was removed.

    Waits up to 10 s for those that a live git holds, then raises NotesError.
    """
    removed = False
    waited_s = 0.0
    while found := _locks(root / ".git"):
        before = {path: _stamp(path) for path in found}
        sleep(UNTOUCHED_S)
        waited_s += UNTOUCHED_S
        untouched = [path for path in found if before[path] and _stamp(path) == before[path]]
        stale = (
            [] if _git_is_live(root) else [path for path in untouched if not _is_held(path, root)]
        )
        for path in stale:
            path.unlink(missing_ok=True)
            removed = True
        if not stale and waited_s > LIVE_S:
            raise NotesError(
                f"git is busy in {root} ({found[0].name} is held); finish the git command that is "
                "running there, then try again",
                retryable=True,
            )
    return removed


def _locks(git_folder: Path) -> list[Path]:
    """The locks that can be in the way of a commit."""
    return [*git_folder.glob("*.lock"), *(git_folder / "refs").rglob("*.lock")]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _git_is_live(root: Path) -> bool:
    """True when a git command runs in *root*: while its editor is open, nobody holds its lock."""
    place = root.resolve()
    for process in _processes():
        try:
            name = (process / "comm").read_text()
            where = (process / "cwd").readlink()
            words = (process / "cmdline").read_text("utf-8", "replace").split("\0")
        except OSError:
            continue
        if name.startswith("git") and where.is_relative_to(place) and _verb(words) not in READING:
            return True
    return False


def _verb(words: list[str]) -> str:
    """The git command in an argument list."""
    skip = False
    for word in words[1:]:
        if not skip and not word.startswith("-"):
            return word
        skip = word in TAKES_VALUE and not skip
    return ""


def _is_held(path: Path, root: Path) -> bool:
    """True when somebody else's process has that file open, or when that cannot be known here."""
    if not (PROC / "self/fd").is_dir():
        return True
    target, ours = path.resolve(), git_dir(root).encode()
    for process in _processes():
        try:
            held = any(file.readlink() == target for file in (process / "fd").iterdir())
            if held and ours not in (process / "cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def _processes() -> Iterator[Path]:
    return (entry for entry in PROC.iterdir() if entry.name.isdigit())

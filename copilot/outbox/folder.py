"""The drafts on disk: one JSON file each, there whole in its old or its new form after any kill."""

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from copilot.errors import NotFoundError, OutboxError
from copilot.file_start import file_start
from copilot.outbox import draft as drafts
from copilot.outbox.draft import Draft
from copilot.safe_text import safe_text

MOST_BYTES = 256 * 1024
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
HOLD = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Folder:
    """The files of one outbox. The folder is made with the first draft."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, name: str) -> Draft | None:
        """The draft of that id, or None. Raises OutboxError when its file cannot be read."""
        if not drafts.ID.fullmatch(name):
            return None
        path = self.root / f"{name}.json"
        try:
            draft = drafts.read(_content(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else "it is no draft of ours"
            raise OutboxError(
                f"{path} cannot be read ({said}); look at the file, or move it away"
            ) from None
        if draft.id != name:
            raise OutboxError(f"{path} holds the draft {draft.id}; give the file its name back")
        return draft

    def get(self, name: str) -> Draft:
        """The draft of that id. Raises NotFoundError when there is none."""
        draft = self.find(name)
        if draft is None:
            raise NotFoundError(
                f"no such draft: {safe_text(name, limit=40)!r}; `copilot outbox list` shows them"
            )
        return draft

    def names(self) -> list[str]:
        """The ids that there are files of."""
        return sorted(path.stem for path in self.root.glob("*.json") if drafts.ID.match(path.stem))

    def put(self, draft: Draft) -> None:
        """Keep the draft as it is now; on return the disk has it. Raises OutboxError."""
        temporary = self.root / f".tmp-{secrets.token_hex(8)}"
        try:
            with os.fdopen(os.open(temporary, NEW, 0o600), "wb") as file:
                file.write(drafts.written(draft))
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(self.root / f"{draft.id}.json")
            _sync(self.root)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            raise OutboxError(
                f"the draft {draft.id} cannot be kept in {self.root}: {error.strerror}; "
                "make room there, then try again"
            ) from None

    @contextmanager
    def held(self, lock: str, *, wait: bool) -> Iterator[None]:
        """Hold the folder for one purpose. While another has it, *wait* or raise OutboxError."""
        try:
            self._make()
            file = os.open(self.root / lock, HOLD, 0o600)
        except OSError as error:
            raise OutboxError(f"{self.root} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            yield
        except BlockingIOError:
            raise OutboxError(
                "somebody decides on a draft at this moment; try again when that is done"
            ) from None
        finally:
            os.close(file)

    def _make(self) -> None:
        if not self.root.is_dir():
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sync(self.root.parent)


def _content(path: Path) -> bytes:
    """What a regular file holds, links not followed. Raises OSError or ValueError."""
    with os.fdopen(os.open(path, READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no regular file")
        content = file_start(file.fileno(), MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError("it is larger than any draft")
    return content


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""What a commit is about to do, written down before it does anything that can be seen."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from copilot.errors import NotesError

MODE = "100644"
NO_BLOB = "0" * 40


@dataclass(frozen=True, slots=True)
class Author:
    """Who a commit is by: `Name` and `address`."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Intent:
    """A commit to be made: of which files, from which blob (empty: no file) to which blob."""

    incident: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    message: str
    author: Author
    epoch_s: int

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.partition("\n")[0]

    @property
    def index_lines(self) -> bytes:
        """Its files as `git update-index --index-info` takes them."""
        entries = (
            f"{MODE if blob else 0} {blob or NO_BLOB}\t{self.incident}/{name}\0"
            for name, blob in self.after.items()
        )
        return "".join(entries).encode()

    def as_json(self) -> bytes:
        """The intent as it is noted."""
        return json.dumps(asdict(self)).encode()


def read_intent(path: Path) -> Intent:
    """The intent that was noted there. Raises NotesError when it cannot be read."""
    try:
        found = json.loads(path.read_bytes())
        return Intent(**{**found, "author": Author(**found["author"])})
    except (OSError, ValueError, TypeError, KeyError):
        raise NotesError(
            f"{path} cannot be read; remove it when `git status` there shows nothing unexpected"
        ) from None


def blob_name(content: bytes) -> str:
    """The name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

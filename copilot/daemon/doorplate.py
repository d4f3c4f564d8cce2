"""Where the daemon of a workspace is to be found, and the word that opens it on this machine.

Each daemon has a file in the state folder that only its owner can read, and holds a lock on it for
as long as it lives: what a killed one left behind is recognised as such. Several hosts may share
the folder. A plate names its host, because a lock may not be seen from another one, its process
ids are others, and its address may mean loopback: only its own host reads or removes it.
"""

import fcntl
import json
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Doorplate:
    """The address of a running daemon, and the token that its own machine may use."""

    url: str
    token: str
    pid: int


class Hung:
    """A plate that hangs until it is taken down, or the process is gone."""

    def __init__(self, state: Path, plate: Doorplate) -> None:
        self._path = state / f"{_of_this_host()}{plate.pid}-{secrets.token_hex(4)}.json"
        made = self._path.with_suffix(".new")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._file = os.open(made, flags, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        words = {"url": plate.url, "token": plate.token, "pid": plate.pid}
        os.write(self._file, json.dumps(words).encode())
        made.rename(self._path)  # held before anybody sees it: who finds one that is not removes it

    def take_down(self) -> None:
        """Remove the plate."""
        with suppress(OSError):
            self._path.unlink()
            os.close(self._file)


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def find(state: Path) -> Doorplate | None:
    """A daemon that runs over this state folder on this machine, or None."""
    return next(alive(state), None)


def alive(state: Path) -> Iterator[Doorplate]:
    """The daemons that run over this state folder on this machine."""
    ours = re.compile(rf"{re.escape(_of_this_host())}\d+-[0-9a-f]{{8}}\.json")
    for path in sorted(state.glob("daemon-*.json")):
        if ours.fullmatch(path.name) and _is_held(path) and (found := _read(path)):
            yield found


def _of_this_host() -> str:
    """How the names of this host's plates begin."""
    return f"daemon-{socket.gethostname()}-"


def _read(path: Path) -> Doorplate | None:
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
        return Doorplate(str(words["url"]), str(words["token"]), int(words["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_held(path: Path) -> bool:
    """Whether its daemon lives; a plate that nobody holds is removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        with suppress(OSError):
            path.unlink()
        return False
    finally:
        os.close(descriptor)

"""The only door to git: fixed options, a cleared environment, no hooks, no filters, no prompts.

Git is told where the repository is and never looks for one, so a stranger's GIT_DIR or a folder
above cannot redirect it. Settings of the person who runs us do not apply; what this door needs is
given with each command. Every object and ref is synced (git's own default syncs nothing).
"""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from copilot.errors import NotesError

OLDEST = (2, 36)
"""The first git that can sync everything it writes (core.fsync)."""
TIMEOUT_S = 60.0
SETTINGS: Mapping[str, str] = {
    "core.fsync": "all",
    "core.fsyncMethod": "fsync",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.quotePath": "false",
    "commit.gpgSign": "false",
    "log.showSignature": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}


class GitError(NotesError):
    """A git command failed; `stderr` is what it said, in English."""

    def __init__(self, message: str, stderr: str) -> None:
        super().__init__(message)
        self.stderr = stderr


class Git:
    """Runs git on one repository."""

    def __init__(
        self, root: Path, keep: Sequence[int] = (), before: Callable[[], None] = lambda: None
    ) -> None:
        """*keep* are descriptors that outlive us in git's hands; *before* each command is asked."""
        self.root = root
        self._keep = tuple(keep)
        self._before = before

    def run(
        self, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> bytes:
        """What the command printed. Raises GitError when it failed, NotesError without git."""
        self._before()
        place = [git_dir(self.root), f"--work-tree={self.root}"]
        return self._call([*place, *arguments], stdin, environment or {})

    def line(self, *arguments: str, stdin: bytes = b"") -> str:
        """What the command printed, as one line of text."""
        return self.run(*arguments, stdin=stdin).decode("utf-8", "replace").strip()

    def begin(self) -> None:
        """Make an empty repository at the root; harmless where there is one."""
        self._call(["init", "-q", "-b", "main", "--template=", "--", str(self.root)], b"", {})

    def check_version(self) -> None:
        """Raise NotesError when git is older than what notes need."""
        said = self._call(["version"], b"", {}).decode("utf-8", "replace")
        match = re.search(r"(\d+)\.(\d+)", said)
        if not match or (int(match[1]), int(match[2])) < OLDEST:
            raise NotesError(f"{said.strip()} is too old for the notes; install git 2.36 or newer")

    def _call(self, arguments: list[str], stdin: bytes, extra: Mapping[str, str]) -> bytes:
        settings = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
        options = ["--no-pager", "--literal-pathspecs", "--no-replace-objects"]
        words = ["git", *settings, *options, *arguments]
        try:
            with _uninterrupted():
                done = subprocess.run(
                    # As UTF-8 whatever the locale is: a subject may hold any letter.
                    [word.encode("utf-8", "surrogateescape") for word in words],
                    input=stdin,
                    capture_output=True,
                    check=False,
                    cwd="/",
                    env={**_environment(), **extra},
                    pass_fds=self._keep,
                    timeout=TIMEOUT_S,
                    umask=0o077,
                )
        except FileNotFoundError:
            raise NotesError("git is not installed; the notes need git 2.36 or newer") from None
        except subprocess.TimeoutExpired:
            raise NotesError(
                f"git {_verb(arguments)} on {self.root} did not end in {TIMEOUT_S:.0f} s; "
                "look for a disk or network share that hangs"
            ) from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            reason = said.splitlines()[0] if said else f"exit code {done.returncode}"
            raise GitError(f"git {_verb(arguments)} on {self.root} failed: {reason}", said)
        return done.stdout


def git_dir(root: Path) -> str:
    """The argument by which our commands on that repository can be told from a person's."""
    return f"--git-dir={root / '.git'}"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back: a terminal sends it to git as well, which must finish what it began."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _verb(arguments: Sequence[str]) -> str:
    return next(word for word in arguments if not word.startswith("-"))


def _environment() -> dict[str, str]:
    """What git gets to see: where programs are, and nothing else of ours."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }

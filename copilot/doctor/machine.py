"""The machine: Python, git, SQLite, the clock."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from copilot.doctor.check import Check, fail, ok
from copilot.errors import CopilotError
from copilot.notes.git import Git

LEAST_PYTHON = (3, 11)


def machine(now: datetime) -> Iterator[Check]:
    """Whether the copilot can run here at all."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= LEAST_PYTHON:
        yield ok("python", version)
    else:
        yield fail("python", version, "install Python 3.11 or newer")
    try:
        Git(Path("/")).check_version()
        yield ok("git", "2.36 or newer")
    except CopilotError as error:
        yield fail("git", str(error), "install git 2.36 or newer")
    yield _full_text()
    yield _clock(now)


def _full_text() -> Check:
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    except sqlite3.Error as error:
        return fail("sqlite", f"no full-text search: {error}", "use a Python whose SQLite has FTS5")
    return ok("sqlite", f"{sqlite3.sqlite_version} with FTS5")


def _clock(now: datetime) -> Check:
    """A clock that is behind the copilot's own files is wrong; so is one decades ahead."""
    newest = datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC)
    shown = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    if now < newest or now.year > newest.year + 20:
        return fail("clock", f"it says {shown}", "set the clock: timedatectl set-ntp true")
    return ok("clock", shown)

"""The workspace as its folder holds it: policy, runbooks, places to write to, notes, sources."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from copilot.doctor.check import Check, fail, ok, warn
from copilot.errors import ConfigError, CopilotError
from copilot.mcp.offers import check_names
from copilot.notes.git import Git
from copilot.notes.place import check_usable
from copilot.runbooks import carried
from copilot.settings import RUNBOOKS, LogbookSource, Settings, TrackerSource
from copilot.workspace import Workspace
from policies.runbook import read_shelf
from policies.runbook_checks import doubts

MIB = 1 << 20
FEW_MIB = 1024
"""Free disk below which a person should know."""
LEAST_MIB = 64
"""Free disk below which nothing should be begun."""
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
COUNTS = {
    "entries": "SELECT sum(entries) FROM source",
    "tickets": "SELECT count(*) FROM tickets",
    "documents": "SELECT count(*) FROM documents",
}


def folder(workspace: Workspace) -> Iterator[Check]:
    """What can be told without asking anybody."""
    settings = workspace.settings
    yield _policy(workspace)
    yield from _runbooks(workspace)
    yield from _places(settings)
    yield _notes(settings.notes)
    yield from _sources(settings)
    yield from _secret_files(settings.workspace)


def _policy(workspace: Workspace) -> Check:
    try:
        policy = workspace.policy
        check_names(workspace.settings.mcp_servers, policy)
        return ok("policy", policy.name)
    except ConfigError as error:
        return fail("policy", str(error), "mend it, or name one of `copilot policy list`")


def _runbooks(workspace: Workspace) -> Iterator[Check]:
    """Whether every runbook is right, and what a person should look at in those that are."""
    shelf = read_shelf(workspace.settings.workspace / RUNBOOKS)
    for problem in shelf.problems:
        yield fail("runbooks", problem, "mend that line; until then that runbook is left out")
    seen = carried(workspace.notes)
    found = [doubt for one in shelf.runbooks for doubt in doubts(one, seen)]
    for doubt in found:
        yield warn("runbooks", doubt, "mend that line, or leave it as it is")
    if not found:
        yield ok("runbooks", f"{len(shelf.runbooks)} right")


def _places(settings: Settings) -> Iterator[Check]:
    places = {"notes": settings.notes, "scratch": settings.scratch.path, "state": settings.state}
    for name, path in places.items():
        there = _nearest(path)
        if not os.access(there, os.W_OK | os.X_OK, effective_ids=True) or not there.is_dir():
            yield fail(f"{name} folder", f"{there} cannot be written", f"chmod u+rwx {there}")
            continue
        free = shutil.disk_usage(there).free // MIB
        found = f"{path}, {free} MiB free"
        if free < FEW_MIB:
            report = fail if free < LEAST_MIB else warn
            yield report(f"{name} folder", found, "make room on that disk")
        else:
            yield ok(f"{name} folder", found)


def _nearest(path: Path) -> Path:
    """The path, or the first folder above it that is there."""
    return next(one for one in (path, *path.parents) if one.exists())


def _notes(root: Path) -> Check:
    if not (root / ".git").exists():
        return warn("notes", f"{root} has no notes yet", "the first investigation makes them")
    try:
        check_usable(root)
        Git(root).run("rev-parse", "-q", "--verify", "HEAD^{commit}")
    except CopilotError as error:
        return fail("notes", str(error), "mend the repository, or move it away")
    locks = sorted(path.name for path in (root / ".git").glob("*.lock"))
    if locks:
        found = f"{root} has {', '.join(locks)}"
        return warn("notes", found, "end the git that runs there; else the next write clears it")
    return ok("notes", str(root))


def _sources(settings: Settings) -> Iterator[Check]:
    """Whether anything was imported; an index that is not there is not made by looking."""
    kinds: tuple[tuple[str, Sequence[LogbookSource | TrackerSource], str, str], ...] = (
        ("logbook", settings.logbooks, "entries", "copilot logbook import FILE..."),
        ("tracker", settings.trackers, "tickets", "copilot tickets import FILE..."),
        ("library", settings.libraries, "documents", "copilot documents import DIR"),
    )
    for kind, sources, what, fix in kinds:
        for source in sources:
            name = f"{kind} {source.name}"
            if source.kind != "embedded":
                continue
            try:
                count = _count(source.path, what) if source.path.is_file() else 0
            except CopilotError as error:
                yield fail(name, str(error), f"move {source.path} away, then {fix}")
                continue
            yield ok(name, f"{count} {what}") if count else warn(name, "empty", fix)


def _count(path: Path, what: str) -> int:
    """How many of *what* are in an index that is there, by a look that leaves no file beside it."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as index:
            return int(index.execute(COUNTS[what]).fetchone()[0] or 0)
    except sqlite3.Error as error:
        raise CopilotError(f"{path} cannot be read: {error}") from None


def _secret_files(folder: Path) -> Iterator[Check]:
    path = folder / ".env"
    if path.is_file() and path.stat().st_mode & OPEN_TO_OTHERS:
        yield warn("secrets", f"{path} can be read by others", f"chmod 600 {path}")

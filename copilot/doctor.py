"""Is everything in place? Each check says what it found and, where something is wrong, one way out.

Changes nothing (an index, a folder, a key that a look would make is not looked into), but that it
keeps what MCP servers say of their tools.
"""

import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from connectors.jira_tracker import JiraTracker, reach
from connectors.opensearch import OpenSearchLogbook
from connectors.opensearch import reach as reach_logbook
from copilot.credentials import secret
from copilot.errors import ConfigError, CopilotError, CredentialsError
from copilot.mcp.offers import MAX_TOKENS, bounded, check_names, keep, offers_of
from copilot.mcp.servers import close_servers, open_servers
from copilot.mcp.tools import Offer, cost_of
from copilot.notes.git import Git
from copilot.notes.place import check_usable
from copilot.redact import Redactor
from copilot.runbooks import carried
from copilot.settings import RUNBOOKS, LogbookSource, Settings, TrackerSource
from copilot.workspace import Workspace
from policies.runbook import read_shelf
from policies.runbook_checks import doubts

Tier = Literal["local", "reach", "model"]
State = Literal["ok", "warn", "fail"]

LEAST_PYTHON = (3, 11)
MIB = 1 << 20
FEW_MIB = 1024
"""Free disk below which a person should know."""
LEAST_MIB = 64
"""Free disk below which nothing should be begun."""
KEY = "ANTHROPIC_API_KEY"
KEY_START = "sk-ant-"
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
COUNTS = {
    "entries": "SELECT sum(entries) FROM source",
    "tickets": "SELECT count(*) FROM tickets",
    "documents": "SELECT count(*) FROM documents",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `fix` is empty exactly when its state is ok."""

    tier: Tier
    name: str
    state: State
    found: str
    fix: str = ""


def examine(
    open_workspace: Callable[[], Workspace],
    environ: Mapping[str, str],
    now: datetime,
    *,
    offline: bool,
) -> Iterator[Check]:
    """Every check, the machine first; *offline* asks no service and leaves the model out.

    Settings that cannot be read end it after their own check.
    """
    yield from _machine(now)
    try:
        workspace = open_workspace()
    except ConfigError as error:
        for line in str(error).splitlines():
            yield _fail(
                "settings", line, "mend that line; `copilot config schema` says what may stand"
            )
        return
    settings = workspace.settings
    file = settings.file
    if file:
        yield _ok("settings", f"{file}")
    else:
        yield _warn("settings", "no copilot.yaml; the defaults hold", "copilot init DIR")
    yield _policy(workspace)
    yield from _runbooks(workspace)
    yield from _places(settings)
    yield _notes(settings.notes)
    yield from _sources(settings)
    yield from _secret_files(settings.workspace)
    if not offline:
        yield from _reach(workspace, now)
        yield from _model(settings, environ)


def _machine(now: datetime) -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= LEAST_PYTHON:
        yield _ok("python", version)
    else:
        yield _fail("python", version, "install Python 3.11 or newer")
    try:
        Git(Path("/")).check_version()
        yield _ok("git", "2.36 or newer")
    except CopilotError as error:
        yield _fail("git", str(error), "install git 2.36 or newer")
    yield _full_text()
    yield _clock(now)


def _full_text() -> Check:
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    except sqlite3.Error as error:
        return _fail(
            "sqlite", f"no full-text search: {error}", "use a Python whose SQLite has FTS5"
        )
    return _ok("sqlite", f"{sqlite3.sqlite_version} with FTS5")


def _clock(now: datetime) -> Check:
    """A clock that is behind the copilot's own files is wrong; so is one decades ahead."""
    newest = datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC)
    shown = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    if now < newest or now.year > newest.year + 20:
        return _fail("clock", f"it says {shown}", "set the clock: timedatectl set-ntp true")
    return _ok("clock", shown)


def _policy(workspace: Workspace) -> Check:
    try:
        policy = workspace.policy
        check_names(workspace.settings.mcp_servers, policy)
        return _ok("policy", policy.name)
    except ConfigError as error:
        return _fail("policy", str(error), "mend it, or name one of `copilot policy list`")


def _runbooks(workspace: Workspace) -> Iterator[Check]:
    """Whether every runbook is right, and what a person should look at in those that are."""
    shelf = read_shelf(workspace.settings.workspace / RUNBOOKS)
    for problem in shelf.problems:
        yield _fail("runbooks", problem, "mend that line; until then that runbook is left out")
    seen = carried(workspace.notes)
    found = [doubt for one in shelf.runbooks for doubt in doubts(one, seen)]
    for doubt in found:
        yield _warn("runbooks", doubt, "mend that line, or leave it as it is")
    if not found:
        yield _ok("runbooks", f"{len(shelf.runbooks)} right")


def _places(settings: Settings) -> Iterator[Check]:
    places = {"notes": settings.notes, "scratch": settings.scratch.path, "state": settings.state}
    for name, path in places.items():
        there = _nearest(path)
        if not os.access(there, os.W_OK | os.X_OK, effective_ids=True) or not there.is_dir():
            yield _fail(f"{name} folder", f"{there} cannot be written", f"chmod u+rwx {there}")
            continue
        free = shutil.disk_usage(there).free // MIB
        found = f"{path}, {free} MiB free"
        if free < FEW_MIB:
            report = _fail if free < LEAST_MIB else _warn
            yield report(f"{name} folder", found, "make room on that disk")
        else:
            yield _ok(f"{name} folder", found)


def _nearest(path: Path) -> Path:
    """The path, or the first folder above it that is there."""
    return next(one for one in (path, *path.parents) if one.exists())


def _notes(root: Path) -> Check:
    if not (root / ".git").exists():
        return _warn("notes", f"{root} has no notes yet", "the first investigation makes them")
    try:
        check_usable(root)
        Git(root).run("rev-parse", "-q", "--verify", "HEAD^{commit}")
    except CopilotError as error:
        return _fail("notes", str(error), "mend the repository, or move it away")
    locks = sorted(path.name for path in (root / ".git").glob("*.lock"))
    if locks:
        found = f"{root} has {', '.join(locks)}"
        return _warn("notes", found, "end the git that runs there; else the next write clears it")
    return _ok("notes", str(root))


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
                yield _fail(name, str(error), f"move {source.path} away, then {fix}")
                continue
            yield _ok(name, f"{count} {what}") if count else _warn(name, "empty", fix)


def _count(path: Path, what: str) -> int:
    """How many of *what* are in an index that is there, by a look that leaves no file beside it."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as index:
            return int(index.execute(COUNTS[what]).fetchone()[0] or 0)
    except sqlite3.Error as error:
        raise CopilotError(f"{path} cannot be read: {error}") from None


def _reach(workspace: Workspace, now: datetime) -> Iterator[Check]:
    """Whether the services answer that the settings name."""
    try:
        logbooks = workspace.logbooks
    except CredentialsError as error:
        yield Check("reach", "logbooks", "fail", str(error), "set that variable, then try again")
        logbooks = {}
    for name, book in logbooks.items():
        if isinstance(book, OpenSearchLogbook):
            for met in reach_logbook(book, now):
                worse: State = "fail" if met.fix else "ok"
                yield Check("reach", f"logbook {name}", worse, met.found, met.fix)
    for name, tracker in workspace.trackers.items():
        if isinstance(tracker, JiraTracker):
            for tried in reach(tracker):
                state: State = "fail" if tried.fix else "ok"
                yield Check("reach", f"tracker {name}", state, tried.found, tried.fix)
    yield from _mcp_servers(workspace)


def _mcp_servers(workspace: Workspace) -> Iterator[Check]:
    """Whether each MCP server starts and has the tools that the settings name; it is ended then.

    What they say of them is kept, for the commands that start no server.
    """
    settings = workspace.settings
    entries = settings.mcp_servers
    # No key for tokens is made here: what is shown gets a passing one.
    redactor = Redactor(b"doctor")
    servers = open_servers(entries, workspace.environ, settings.workspace, redactor.redact)
    offers = offers_of(entries, servers, redactor)
    close_servers(servers.values())
    keep(settings, offers)
    for offer in offers:
        name = f"MCP server {offer.server}"
        if offer.tools:
            names = ", ".join(tool.name for tool in offer.tools)
            found = f"offers {names}: about {offer.tokens} tokens of every request"
            yield Check("reach", name, "ok", found)
        for problem in offer.problems:
            fix = "mend its entry in mcp_servers of copilot.yaml; investigations go on without it"
            yield Check("reach", name, "fail", problem, fix)
    if len(offers) > 1:
        yield from _all_servers(workspace, offers)


def _all_servers(workspace: Workspace, offers: Sequence[Offer]) -> Iterator[Check]:
    """What the tools of all servers cost together, and those that are too many."""
    try:
        is_offered = workspace.policy.offers
    except ConfigError:  # told by the policy's own check
        return
    tools, left_out = bounded(offers, is_offered)
    tokens = sum(map(cost_of, tools))
    found = f"all of them: about {tokens} of at most {MAX_TOKENS} tokens of every request"
    yield Check("reach", "MCP servers", "ok", found)
    for server, problem in left_out:
        fix = "mend mcp_servers of copilot.yaml; investigations go on without that tool"
        yield Check("reach", f"MCP server {server}", "fail", problem, fix)


def _secret_files(folder: Path) -> Iterator[Check]:
    path = folder / ".env"
    if path.is_file() and path.stat().st_mode & OPEN_TO_OTHERS:
        yield _warn("secrets", f"{path} can be read by others", f"chmod 600 {path}")


def _model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    name, base_url = settings.model.name, settings.model.base_url
    try:
        key = secret(KEY, environ)
    except CredentialsError as error:
        yield Check("model", "key", "fail", str(error), f"set {KEY} to the key and nothing else")
        return
    is_set = any(environ.get(variable, "").strip() for variable in (KEY, f"{KEY}_FILE"))
    how = f"set {KEY}, or name its file in {KEY}_FILE"
    if key is None and not settings.model.needs_key and name != "offline":
        yield from _without_key(name, base_url)
        return
    if key is None:
        found = "a placeholder is set, not a key" if is_set else "no key is set"
        if name == "offline" or (name == "auto" and not is_set):
            yield Check("model", "model", "ok", "offline rules, not a language model")
        else:
            state: State = "warn" if name == "auto" else "fail"
            yield Check("model", "key", state, found, how)
        return
    if key.warning:
        yield Check("model", "key file", "warn", key.warning, "then no one else can read it")
    if settings.model.needs_key and not key.reveal().startswith(KEY_START):
        found = f"from {key.origin}; it does not begin with {KEY_START}"
        yield Check("model", "key", "warn", found, f"look whether it is a key for {base_url}")
    else:
        yield Check("model", "key", "ok", f"from {key.origin}; not tried")
    shown = "offline rules, though a key is set" if name == "offline" else name
    yield Check("model", "model", "ok", f"{shown} at {base_url}")


def _without_key(name: str, base_url: str) -> Iterator[Check]:
    """Another endpoint than the public one may do without a key, but its models must be named."""
    if name == "auto":
        found = f"offline rules: {base_url} is configured, and no model is named"
        yield Check("model", "model", "warn", found, "set model.name to a model that it serves")
        return
    yield Check("model", "key", "ok", f"none; {base_url} is asked without one, not tried")
    yield Check("model", "model", "ok", f"{name} at {base_url}")


def _ok(name: str, found: str) -> Check:
    return Check("local", name, "ok", found)


def _warn(name: str, found: str, fix: str) -> Check:
    return Check("local", name, "warn", found, fix)


def _fail(name: str, found: str, fix: str) -> Check:
    return Check("local", name, "fail", found, fix)

"""What git knows of an incident: its commits, what changed between two, how it was at a time."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from copilot.errors import NotFoundError
from copilot.notes.folder import check_file, check_incident
from copilot.notes.git import Git, GitError
from copilot.safe_text import safe_text

REVISION = re.compile(r"[0-9a-f]{4,64}")
FORMAT = "--format=%H%x1f%ct%x1f%an%x1f%s%x1f%(trailers:only,unfold)"


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of an incident's notes."""

    name: str
    time: datetime
    author: str
    subject: str
    trailers: Mapping[str, str]


def read_history(git: Git, incident: str) -> tuple[Commit, ...]:
    """The commits that changed the incident, newest first; none where there is no history."""
    try:
        git.run("rev-parse", "-q", "--verify", "HEAD^{commit}")
    except GitError:
        return ()
    path = f"{check_incident(incident)}/"
    said = git.run("log", "-z", "--no-color", "--encoding=UTF-8", FORMAT, "HEAD", "--", path)
    records = said.decode("utf-8", "replace").split("\0")
    return tuple(_commit(record) for record in records if record)


def read_diff(git: Git, incident: str, older: str, newer: str) -> str:
    """What changed in the incident's folder between two commits, as a unified diff."""
    ends = [_verified(git, older), _verified(git, newer)]
    options = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
    path = f"{check_incident(incident)}/"
    return git.run("diff", *options, *ends, "--", path).decode("utf-8", "replace")


def read_at(git: Git, incident: str, name: str, time: datetime) -> str | None:
    """The file as the last commit up to *time* had it, or None when it was not there yet."""
    commits = [one for one in read_history(git, incident) if one.time <= time]
    if not commits:
        return None
    try:
        content = git.run("cat-file", "blob", f"{commits[0].name}:{incident}/{check_file(name)}")
    except GitError:
        return None
    return content.decode("utf-8", "replace")


def _commit(record: str) -> Commit:
    name, epoch, author, subject, trailers = record.split("\x1f", 4)
    pairs = (line.partition(": ") for line in trailers.splitlines() if ": " in line)
    return Commit(
        name=name,
        time=datetime.fromtimestamp(int(epoch), UTC),
        author=author,
        subject=subject,
        trailers={key: value for key, _, value in pairs},
    )


def _verified(git: Git, revision: str) -> str:
    """The full name of a commit. Only hexadecimal names are taken, never a git expression."""
    missing = NotFoundError(
        f"no such commit: {safe_text(revision, limit=80)!r}; "
        "`copilot notes history INCIDENT` shows those that there are"
    )
    if not REVISION.fullmatch(revision):
        raise missing
    try:
        return git.line("rev-parse", "-q", "--verify", f"{revision}^{{commit}}")
    except GitError:
        raise missing from None

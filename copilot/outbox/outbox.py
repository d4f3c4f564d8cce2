"""What may happen to a draft: the copilot proposes, a person approves or rejects.

The state is on disk before a comment is posted and again after it. A kill in between leaves
`approved`; the next approval posts by the comment's mark, which finds what is there already.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from copilot.errors import CopilotError, OutboxError, UsageError
from copilot.outbox.draft import KEY, Done, Draft, Posted, draft_id
from copilot.outbox.folder import Folder
from copilot.safe_text import safe_text

MOST_DRAFTS = 20
"""Of one incident; more than that is a model in a loop."""
PROPOSING = ".proposing"
DECIDING = ".deciding"
"""Two locks: an investigation does not wait for a tracker that is slow to take a comment."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The draft as it is now, and what was done to its comment by this call."""

    draft: Draft
    done: Done


@dataclass(frozen=True, slots=True)
class Listing:
    """The drafts, newest first, and the ids of files that cannot be read."""

    drafts: tuple[Draft, ...]
    unreadable: tuple[str, ...]


class Outbox:
    """The drafts of a workspace. *places* are the projects of each tracker that may be written."""

    def __init__(
        self,
        root: Path,
        places: Mapping[str, Sequence[str]],
        *,
        redact: Callable[[str], str],
        now: Callable[[], datetime],
    ) -> None:
        self.places = places
        self._folder = Folder(root)
        self._redact = redact
        self._now = now

    def propose(self, incident: str, tracker: str, key: str, text: str) -> Draft:
        """The draft of that comment, made once. Raises UsageError, or OutboxError."""
        key = key.strip().upper()
        self._check_place(tracker, key)
        text = self._redact(text).strip()
        if not text.replace("`", "").strip():
            raise UsageError("the comment has no words")
        name = draft_id(incident, tracker, key, text)
        with self._folder.held(PROPOSING, wait=True):
            there = self._folder.find(name)
            if there:
                return there
            count = sum(draft.incident == incident for draft in self.listing().drafts)
            if count >= MOST_DRAFTS:
                raise UsageError(f"{incident} has {count} drafts already; a person must look first")
            draft = Draft(name, incident, tracker, key, text, "draft", self._now())
            self._folder.put(draft)
            return draft

    def get(self, name: str) -> Draft:
        """The draft of that id. Raises NotFoundError."""
        return self._folder.get(name)

    def listing(self) -> Listing:
        """All drafts. One that cannot be read hides no other."""
        found, unreadable = [], []
        for name in self._folder.names():
            try:
                draft = self._folder.find(name)
            except OutboxError:
                unreadable.append(name)
            else:
                found += [draft] if draft else []
        found.sort(key=lambda draft: (draft.proposed, draft.id), reverse=True)
        return Listing(tuple(found), tuple(unreadable))

    def replaced_by(self, draft: Draft) -> Draft | None:
        """The posted draft whose comment this one would take the place of, or None."""
        whose = (draft.incident, draft.tracker, draft.key)
        posted = [
            other
            for other in self.listing().drafts
            if other.posted and (other.incident, other.tracker, other.key) == whose
        ]
        last = max(posted, key=lambda other: other.posted or other.proposed, default=None)
        return None if last is None or last.id == draft.id else last

    def approve(self, name: str, by: str, post: Callable[[Draft], Posted]) -> Decided:
        """Post the comment by *post*, once. Raises UsageError for one that was rejected.

        *post* must look for the comment's mark before it makes one. What it raises is recorded.
        """
        with self._folder.held(DECIDING, wait=False):
            draft = self._folder.get(name)
            if draft.status == "posted":
                return Decided(draft, "unchanged")
            if draft.status == "rejected":
                raise UsageError(f"{name} was rejected by {draft.by}; it is never posted")
            self._check_place(draft.tracker, draft.key)
            approved = replace(draft, status="approved", decided=self._now(), by=by, why="")
            self._folder.put(approved)
            try:
                posted = post(approved)
            except CopilotError as error:
                self._folder.put(replace(approved, status="failed", why=self._redact(str(error))))
                raise
            ended = replace(
                approved, status="posted", posted=self._now(), comment=posted.comment, why=""
            )
            self._folder.put(ended)
            return Decided(ended, posted.done)

    def reject(self, name: str, by: str, why: str = "") -> Draft:
        """The draft, never to be posted. Raises UsageError when it may be on the ticket already."""
        with self._folder.held(DECIDING, wait=False):
            draft = self._folder.get(name)
            if draft.status == "rejected":
                return draft
            if draft.status in ("approved", "posted"):
                raise UsageError(
                    f"{name} was approved by {draft.by} and may be on {draft.key}; "
                    "a comment is deleted in the tracker"
                )
            rejected = replace(
                draft, status="rejected", decided=self._now(), by=by, why=self._redact(why)
            )
            self._folder.put(rejected)
            return rejected

    def _check_place(self, tracker: str, key: str) -> None:
        """Raise UsageError unless that ticket may be written to, as the settings are now."""
        if not KEY.fullmatch(key):
            raise UsageError(f"{safe_text(key, limit=60)!r} is no ticket's key; write it as OPS-7")
        projects = self.places.get(tracker)
        if projects is None:
            raise UsageError(f"comments are not written to {safe_text(tracker, limit=60)!r} here")
        if key.rpartition("-")[0] not in {project.upper() for project in projects}:
            raise UsageError(
                f"{key} is not open here; the projects of {tracker} are {', '.join(projects)}"
            )

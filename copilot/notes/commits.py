"""How a change of notes reaches history whole, or not at all, whenever the process dies.

A change is written down first (the *intent*), then put in place: files, the index that people see,
the branch. Whoever finds an intent that was not carried out finishes it, or forgets it where
nothing of it was visible yet. The branch moves only from the commit that the change was built on;
the tree is built from that commit, never from an index that a crash may have left old.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from copilot.errors import NotesError
from copilot.notes.folder import put_file, read_file, sync_folder, write_synced
from copilot.notes.git import Git, GitError
from copilot.notes.intents import Author, Intent, blob_name, read_intent
from copilot.notes.locks import clear_stale_locks
from copilot.notes.pen import Pen, Sleep

TRIES = 20


@dataclass(frozen=True, slots=True)
class Tip:
    """The commit that the current branch points to."""

    branch: str
    commit: str


REBASES = ("rebase-merge", "rebase-apply")


class Committer:
    """Commits files of one incident at a time, while its owner has the pen."""

    def __init__(self, root: Path, author: Author, pen: Pen, sleep: Sleep) -> None:
        self._git = Git(root, keep=[pen.file], before=pen.go_on)
        self._root = root
        self._author = author
        self._pen = pen
        self._sleep = sleep
        self._own = own_folder(root)
        self._intent = self._mine("intent", ".json")
        self.under_way: Intent | None = None
        """The intent whose files may be in place and not in history."""

    def recover(self) -> None:
        """Finish or forget what others had begun and left, and clear what they left locked."""
        if clear_stale_locks(self._root, self._pause):
            self._rebuild_index()
        self._remove_left()
        for path in sorted(self._own.glob("intent*.json")):
            self._carry_out(read_intent(path))
            self._pen.go_on()
            path.unlink(missing_ok=True)
            sync_folder(self._own)

    def take_back(self, intent: Intent) -> None:
        """Undo what was put in place of that intent by a process that had lost its pen.

        Frozen between its look at the pen and the deed, it wrote over what came later; that is in
        history. A file is put back only where it holds just what that process wrote.
        """
        known = self.blobs(self.tip(), intent.incident)
        for name, blob in intent.after.items():
            if known.get(name) == blob or self._on_disk(intent.incident, name) != blob:
                continue
            if name in known:
                self._put(intent.incident, name, self._git.run("cat-file", "blob", known[name]))
            else:
                self._pen.go_on()
                (self._root / intent.incident / name).unlink(missing_ok=True)
        self._index(replace(intent, after={name: known.get(name, "") for name in intent.after}))

    def _carry_out(self, intent: Intent) -> None:
        """Finish an intent that is visible in part, and leave one that is not."""
        disk = {name: self._on_disk(intent.incident, name) for name in intent.after}
        if not intent.after.items() & disk.items():
            return
        self.under_way = intent
        for name, blob in intent.after.items():
            if disk[name] == intent.before[name] != blob:
                self._put(intent.incident, name, self._git.run("cat-file", "blob", blob))
        self.finish(intent)

    def _pause(self, seconds: float) -> None:
        self._pen.go_on()
        self._sleep(seconds)

    def _mine(self, name: str, suffix: str = "") -> Path:
        """A file of this pen only: one that lost its pen may still be writing its own."""
        return self._own / f"{name}-{self._pen.number}{suffix}"

    def _remove_left(self) -> None:
        for pattern in ("new-*", "index-*", "intent*.new"):
            for path in self._own.glob(pattern):
                path.unlink(missing_ok=True)

    def begin_history(self, name: str, text: str, epoch_s: int) -> None:
        """Make the first commit, of the file *name* in the root; harmless when there is one."""
        if self._has_history():
            return
        self._git.run("add", "--", name)
        first = Intent("", {}, {}, text, self._author, epoch_s)
        commit = self._commit(self._git.line("write-tree"), [], first)
        self._git.run("update-ref", "HEAD", commit, "")

    def begin(self, intent: Intent, contents: Mapping[str, bytes]) -> bool:
        """Store the contents, note the intent, put the files in place.

        False, and nothing is changed, when a file is no longer what the intent starts from.
        """
        ready = [self._mine("new", f"-{number}") for number in range(len(contents))]
        for path, content in zip(ready, contents.values(), strict=True):
            write_synced(path, content)
        self._git.run("hash-object", "-w", "--no-filters", "--", *map(str, ready))
        if any(self._on_disk(intent.incident, name) != was for name, was in intent.before.items()):
            return False
        noted = self._mine("intent", ".new")
        write_synced(noted, intent.as_json())
        self._pen.go_on()
        noted.rename(self._intent)
        sync_folder(self._own)
        self.under_way = intent
        for path, name in zip(ready, contents, strict=True):
            if intent.before[name] != intent.after[name]:
                self._pen.go_on()
                put_file(self._root, intent.incident, name, path)
        return True

    def finish(self, intent: Intent) -> str | None:
        """Commit the intent; the commit's name, or None when history already has these files."""
        for _ in range(TRIES):
            tip = self.tip()
            tree = self._tree(tip, intent)
            if tree == self._git.line("rev-parse", f"{tip.commit}^{{tree}}"):
                self._index(intent)
                self._forget()
                return None
            commit = self._commit(tree, ["-p", tip.commit], intent)
            try:
                self._index(intent)
                self._git.run("update-ref", "-m", intent.subject, "HEAD", commit, tip.commit)
            except GitError as error:
                if "lock" not in error.stderr:
                    raise
                self._pause(0.02)  # a person's git holds a lock, or has just moved the branch
                clear_stale_locks(self._root, self._pause)
                continue
            self._forget()
            return commit
        raise NotesError(
            f"the branch in {self._root} moved {TRIES} times while notes were committed; they are "
            "on disk and will be committed with the next change",
            retryable=True,
        )

    def tip(self) -> Tip:
        """Where the current branch is. Raises NotesError when there is none."""
        try:
            branch = self._git.line("symbolic-ref", "-q", "HEAD")
        except GitError:
            busy = any((self._root / ".git" / name).exists() for name in REBASES)
            raise NotesError(
                f"a rebase is under way in {self._root}; finish it, the notes wait"
                if busy
                else f"{self._root} has no branch checked out; run `git switch main` there",
                retryable=busy,
            ) from None
        try:
            return Tip(branch, self._git.line("rev-parse", "-q", "--verify", "HEAD^{commit}"))
        except GitError:
            raise NotesError(
                f"the branch of {self._root} has no commit; run `copilot init` on its workspace"
            ) from None

    def blobs(self, tip: Tip, incident: str) -> dict[str, str]:
        """The blobs of the incident's files in history, by file name."""
        listing = self._git.run("ls-tree", "-z", tip.commit, f"{incident}/")
        entries = [entry.split("\t", 1) for entry in listing.decode().split("\0") if entry]
        return {path.partition("/")[2]: about.split()[2] for about, path in entries}

    def _on_disk(self, incident: str, name: str) -> str:
        """The blob of a file as it is now; empty without one, `?` when it cannot be read."""
        try:
            content = read_file(self._root, incident, name)
        except NotesError:
            return "?"
        return "" if content is None else blob_name(content)

    def _put(self, incident: str, name: str, content: bytes) -> None:
        ready = self._mine("new", "-0")
        write_synced(ready, content)
        self._pen.go_on()
        put_file(self._root, incident, name, ready)

    def _tree(self, tip: Tip, intent: Intent) -> str:
        """The tree of *tip* with the intent's files in it."""
        own = {"GIT_INDEX_FILE": str(self._private_index())}
        self._git.run("read-tree", tip.commit, environment=own)
        self._git.run(
            "update-index", "-z", "--index-info", stdin=intent.index_lines, environment=own
        )
        return self._git.run("write-tree", environment=own).decode().strip()

    def _private_index(self) -> Path:
        """Where an index may be made that nobody else sees."""
        index = self._mine("index")
        for left in (index, index.with_suffix(".lock")):
            left.unlink(missing_ok=True)
        return index

    def _commit(self, tree: str, parents: Sequence[str], intent: Intent) -> str:
        when = f"@{max(intent.epoch_s, 0)} +0000"
        people = {
            "GIT_AUTHOR_NAME": intent.author.name,
            "GIT_AUTHOR_EMAIL": intent.author.address,
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": self._author.name,
            "GIT_COMMITTER_EMAIL": self._author.address,
            "GIT_COMMITTER_DATE": when,
        }
        arguments = ("commit-tree", tree, *parents, "-F", "-")
        done = self._git.run(*arguments, stdin=intent.message.encode(), environment=people)
        return done.decode().strip()

    def _index(self, intent: Intent) -> None:
        """Bring the files into the index that people see, before the branch has them.

        The other way round, a crash between the two would leave an index older than the branch,
        and a person's next commit would silently take our change back.
        """
        command = ("update-index", "--add", "-z", "--index-info")
        try:
            self._git.run(*command, stdin=intent.index_lines)
        except GitError as error:
            if "lock" in error.stderr:
                raise
            self._rebuild_index()
            self._git.run(*command, stdin=intent.index_lines)

    def _rebuild_index(self) -> None:
        """Make the index anew from the branch: a killed git may have left an old or torn one."""
        index = self._root / ".git" / "index"
        if not self._has_history():
            index.unlink(missing_ok=True)
            return
        ready = self._private_index()
        self._git.run("read-tree", "HEAD", environment={"GIT_INDEX_FILE": str(ready)})
        self._pen.go_on()
        ready.rename(index)

    def _has_history(self) -> bool:
        try:
            self._git.run("rev-parse", "-q", "--verify", "HEAD^{commit}")
        except GitError:
            return False
        return True

    def _forget(self) -> None:
        self._pen.go_on()
        self.under_way = None
        self._intent.unlink(missing_ok=True)
        sync_folder(self._own)


def own_folder(root: Path) -> Path:
    """Where we keep our lock and intent: inside `.git`, so that the work tree stays clean."""
    return root / ".git" / "copilot"

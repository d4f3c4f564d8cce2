"""The notes of a workspace: a git repository with one folder an incident.

`update` is the only way to change notes. It reads the file as it is now, so an operator's edit
survives; it commits hers first and by itself; and it commits only that incident's files, so her
edits elsewhere are left alone. Reading never waits for a writer, and needs git for history only.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from copilot.errors import NotesError
from copilot.notes.commits import Committer, own_folder
from copilot.notes.folder import check_file, check_incident, read_file, write_synced
from copilot.notes.front import Front
from copilot.notes.git import SETTINGS, Git
from copilot.notes.history import Commit, read_at, read_diff, read_history
from copilot.notes.intents import Author, Intent, blob_name
from copilot.notes.limits import fit
from copilot.notes.listing import STATE, Listing, list_changed, list_incidents, read_front
from copilot.notes.message import message
from copilot.notes.pen import PenLostError, Sleep, one_writer
from copilot.notes.place import check_empty, check_usable
from copilot.notes.state import State, parse, render
from copilot.notes.turns import Turns

TRIES = 5
COPILOT = Author("Copilot", "copilot@localhost")
OPERATOR = Author("Operator", "operator@localhost")
KEPT_SETTINGS = ("core.fsync", "core.fsyncMethod", "gc.auto", "maintenance.auto")
"""Written into the repository too, so that a person's own commits in it are as safe."""
README = """\
# Incident notes

One folder an incident: `STATE.md` (what is known), `report.md` and `report.json` (the verdict),
`usage.csv` (what it cost). The copilot commits each change of belief, so git tells the story:

    git log --oneline -- inc-20260131-3fa9c1/
    git log --grep '^Incident: inc-20260131-3fa9c1'

Edit `STATE.md` whenever you like. Your lines are kept, and committed as yours.
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A change of one incident's notes."""

    incident: str
    change: Callable[[State], State]
    files: Mapping[str, bytes]
    message: str


class NotesRepository:
    """The notes below *root*. Any number of processes may use it at once."""

    def __init__(
        self,
        root: Path,
        *,
        author: Author = COPILOT,
        operator: Author = OPERATOR,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Sleep = time.sleep,
    ) -> None:
        self.root = root.absolute()
        self._author = author
        self._operator = operator
        self._now = now
        self._sleep = sleep
        self._git = Git(self.root)
        self._turns = Turns()

    def create(self) -> None:
        """Make the repository with its README; harmless when it is there already.

        Raises NotesError for a folder that holds something else, and without a fit git.
        """
        self._git.check_version()
        if not (self.root / ".git").exists():
            check_empty(self.root)
            self._git.begin()
        with self._writer() as committer:
            self._configure()
            if not (self.root / "README.md").exists():
                write_synced(self.root / "README.md", README.encode())
            committer.begin_history("README.md", "notes: begin\n", self._epoch_s())

    def read(self, incident: str) -> str | None:
        """The incident's STATE.md as it is on disk, or None when there is none.

        Raises NotFoundError for a name that no incident has, NotesError when it cannot be read.
        """
        return _text(incident, STATE, read_file(self.root, incident, STATE))

    def state(self, incident: str) -> State | None:
        """What the incident's STATE.md holds, or None when there is none."""
        text = self.read(incident)
        return None if text is None else parse(text)

    def show_file(self, incident: str, name: str) -> str | None:
        """Another file of the incident, such as `report.md`; None when there is none."""
        return _text(incident, name, read_file(self.root, incident, name))

    def front(self, incident: str) -> Front | None:
        """The head of the incident's STATE.md, or None when there is none."""
        return read_front(self.root, incident)

    def incidents(self) -> Listing:
        """Every incident, last updated first."""
        return list_incidents(self.root)

    def changed(self, since: float) -> tuple[list[Front], float]:
        """The incidents that were written at or after *since*; see `list_changed`."""
        return list_changed(self.root, since)

    def history(self, incident: str) -> tuple[Commit, ...]:
        """The commits that changed the incident, newest first."""
        return read_history(self._git, incident)

    def diff(self, incident: str, older: str, newer: str) -> str:
        """What changed in the incident's folder between two commits, as a unified diff."""
        return read_diff(self._git, incident, older, newer)

    def at(self, incident: str, time: datetime) -> str | None:
        """STATE.md as it was at *time*, or None when it was not there yet."""
        return read_at(self._git, incident, STATE, time)

    def update(
        self,
        incident: str,
        change: Callable[[State], State],
        *,
        subject: str,
        trailers: Mapping[str, str],
        files: Mapping[str, str] | None = None,
    ) -> str | None:
        """Apply *change* to what STATE.md holds now, put *files* beside it, commit both.

        Returns the commit, or None when nothing changed. *change* must be pure, and done twice it
        must change nothing more: it runs again after a crash, and when the file changes meanwhile.
        An operator's own edit of these files is committed before, as hers.
        """
        wanted = {
            check_file(name): text.encode("utf-8", "replace")
            for name, text in (files or {}).items()
        }
        text = message(subject, {"Incident": check_incident(incident), **trailers})
        late: Intent | None = None
        for _ in range(TRIES):
            try:
                with self._writer() as committer:
                    if late:
                        committer.take_back(late)
                    return self._made(committer, Wanted(incident, change, wanted, text))
            except PenLostError as error:
                late = error.begun or late
        raise NotesError(
            f"this process was stopped {TRIES} times while it wrote the notes of {incident}; "
            "try again",
            retryable=True,
        )

    def _made(self, committer: Committer, wanted: Wanted) -> str | None:
        """The commit of what is wanted, or None when nothing changed."""
        incident, names = wanted.incident, (STATE, *wanted.files)
        for _ in range(TRIES):
            before = {name: read_file(self.root, incident, name) for name in names}
            page = _changed(incident, before[STATE], wanted.change)
            after = wanted.files if page is None else {STATE: page, **wanted.files}
            after = {name: new for name, new in after.items() if new != before[name]}
            if not after:
                return None
            intent = self._intent(incident, before, after, wanted.message)
            if self._keep_edits(committer, incident, before) and committer.begin(intent, after):
                return committer.finish(intent)
        raise NotesError(
            f"the notes of {incident} were changed {TRIES} times while they were being written; "
            "try again",
            retryable=True,
        )

    def tidy(self) -> None:
        """Pack what many small commits left lying about. Nothing younger than two weeks is lost."""
        with self._writer():
            self._git.run("gc", "--quiet", "--prune=2.weeks.ago")

    def _configure(self) -> None:
        """Write our settings into the repository where they differ."""
        wanted = {key: SETTINGS[key] for key in KEPT_SETTINGS}
        wanted |= {"user.name": self._author.name, "user.email": self._author.address}
        listed = self._git.run("config", "--local", "--list", "-z").decode("utf-8", "replace")
        there = dict(line.partition("\n")[::2] for line in listed.split("\0"))
        for key, value in wanted.items():
            if there.get(key.lower()) != value:
                self._git.run("config", "--local", key, value)

    def _keep_edits(
        self, committer: Committer, incident: str, disk: Mapping[str, bytes | None]
    ) -> bool:
        """Commit what an operator changed in these files; False when she has gone on meanwhile."""
        known = committer.blobs(committer.tip(), incident)
        edits = {
            name: content
            for name, content in disk.items()
            if content is not None and blob_name(content) != known.get(name)
        }
        if not edits:
            return True
        text = message(f"{incident}: an operator's edit", {"Incident": incident})
        intent = replace(self._intent(incident, edits, edits, text), author=self._operator)
        if not committer.begin(intent, edits):
            return False
        committer.finish(intent)
        return True

    def _intent(
        self,
        incident: str,
        before: Mapping[str, bytes | None],
        after: Mapping[str, bytes],
        text: str,
    ) -> Intent:
        old = {name: before[name] for name in after}
        return Intent(
            incident=incident,
            before={name: "" if was is None else blob_name(was) for name, was in old.items()},
            after={name: blob_name(content) for name, content in after.items()},
            message=text,
            author=self._author,
            epoch_s=self._epoch_s(),
        )

    @contextmanager
    def _writer(self) -> Iterator[Committer]:
        """The committer, while nobody else writes, with the traces of dead ones cleared."""
        check_usable(self.root)
        own = own_folder(self.root)
        try:
            own.mkdir(exist_ok=True, mode=0o700)
            with self._turns.turn(), one_writer(own, self._sleep) as pen:
                committer = Committer(self.root, self._author, pen, self._sleep)
                try:
                    committer.recover()
                    yield committer
                except (NotesError, OSError) as error:
                    if pen.is_lost:  # whatever went wrong, this is why
                        raise PenLostError(own, committer.under_way) from error
                    raise
        except OSError as error:
            raise NotesError(
                f"cannot write the notes in {self.root}: {error.strerror or error}; the last "
                "version is whole. Make room or mend the disk, then try again",
                retryable=True,
            ) from error

    def _epoch_s(self) -> int:
        return int(self._now().timestamp())


def _changed(
    incident: str, content: bytes | None, change: Callable[[State], State]
) -> bytes | None:
    """The new STATE.md, or None when *change* changes nothing."""
    text = _text(incident, STATE, content)
    state = State() if text is None else parse(text)
    if state.front.incident != incident:
        state = replace(state, front=replace(state.front, incident=incident))
    changed = change(state)
    return None if changed == state else render(fit(changed)).encode()


def _text(incident: str, name: str, content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotesError(
            f"{incident}/{name} in the notes is not UTF-8 (byte {error.start}); correct it, or "
            f"take the last version back with `git checkout -- {incident}/{name}`. "
            "It was left as it is"
        ) from None

"""Alerts from files: whoever cannot post, renames a file into `new`, and it is taken from there.

A file is moved only once the inbox has synced what is in it. Killed in between, it is taken again,
and its key tells the inbox that nothing is new. When the inbox takes nothing, or the folder is of
no use, everything stays where it is and is tried again, less and less often.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from copilot.errors import InboxError, UsageError
from copilot.inbox.values import Arrival
from copilot.intake.door import Door
from copilot.intake.spool_folder import OddFileError, SpoolFolder
from copilot.safe_text import one_line

LOG = logging.getLogger(__name__)
SOURCE = "spool"
NAMES_AT_ONCE = 2000
FILES_AT_ONCE = 200
"""Taken in one transaction of the inbox."""
ALERTS_AT_ONCE = 1000
SCAN_S = 0.5
LONGEST_WAIT_S = 30.0
SWEEP_EVERY = timedelta(hours=1)
KEEP = timedelta(days=7)
MOST_KEPT = 10_000
"""Files in `done`, and files in `failed`, the reasons included."""


class Spool:
    """The spool in one folder, and the thread that takes from it."""

    def __init__(
        self, root: Path, door: Callable[[], Door], *, now: Callable[[], datetime]
    ) -> None:
        """*door* is asked for each time: new settings bring a new one, and it may be closed."""
        self._folder = SpoolFolder(root)
        self._door = door
        self._now = now
        self._problem = self._trouble = ""
        self._swept: datetime | None = None
        self._since_sweep = 0
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work, name="spool", daemon=True)

    @property
    def problem(self) -> str:
        """Why files wait, or an empty text. It goes away by itself when they do not any more."""
        return self._problem

    def start(self) -> None:
        """Take what comes, on a thread of its own."""
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Take nothing more; what was begun is finished."""
        self._leaving.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def drain_once(self) -> int:
        """Take what lies in `new`, in the order of the names; how many files went away."""
        taken = 0
        self._trouble = ""
        try:
            self._folder.prepare()
            last = ""
            while names := self._folder.names(last, NAMES_AT_ONCE):
                for start in range(0, len(names), FILES_AT_ONCE):
                    if self._leaving.is_set():
                        return taken
                    taken += self._take(names[start : start + FILES_AT_ONCE])
                last = names[-1]
            self._sweep(taken)
        except OSError as error:
            self._note(error)
        except InboxError as error:
            self._trouble = f"files wait, for the inbox takes nothing: {one_line(str(error), 300)}"
        self._tell()
        return taken

    def _take(self, names: Sequence[str]) -> int:
        """Take these files, in as few transactions as may be; how many went away."""
        gone = 0
        read: list[str] = []
        arrivals: list[Arrival] = []
        for name in names:
            try:
                arrivals += self._arrivals(name)
                read.append(name)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._note(error)
            except (OddFileError, UsageError) as error:
                gone += self._moved(name, str(error))
            if len(arrivals) >= ALERTS_AT_ONCE:
                gone += self._accept(read, arrivals)
                read, arrivals = [], []
        return gone + self._accept(read, arrivals)

    def _arrivals(self, name: str) -> list[Arrival]:
        """What the file brings. Raises OddFileError, UsageError, OSError, and InboxError."""
        body = self._folder.read(name)
        door = self._door()
        try:
            return door.arrivals(body, "any", map=_map_of(name, door), source=SOURCE)
        except UsageError:
            raise
        except Exception:  # one file must not hold up the others, whatever it does to its reader
            LOG.exception("a spool file breaks its reader", extra={"file": one_line(name, 300)})
            raise UsageError("it breaks its reader, which is our mistake: see the log") from None

    def _accept(self, names: Sequence[str], arrivals: Sequence[Arrival]) -> int:
        """Hand the arrivals in and move their files away; how many went. Raises InboxError."""
        self._door().accept(arrivals)
        return sum(self._moved(name) for name in names)

    def _moved(self, name: str, reason: str = "") -> bool:
        """Whether the file went to `done`, or to `failed` for that reason."""
        try:
            if reason:
                self._folder.fail(name, reason)
                LOG.warning(
                    "a spool file is no alert", extra={"file": one_line(name, 300), "why": reason}
                )
            else:
                self._folder.done(name)
        except OSError as error:
            self._note(error)
            return False
        return True

    def _sweep(self, taken: int) -> None:
        """Remove what is old, every hour and whenever many files were taken."""
        self._since_sweep += taken
        now = self._now()
        if self._swept and now - self._swept < SWEEP_EVERY and self._since_sweep < MOST_KEPT:
            return
        self._swept, self._since_sweep = now, 0
        removed = self._folder.sweep(now, KEEP, MOST_KEPT)
        if removed:
            LOG.info("old spool files are removed", extra={"files": removed})

    def _note(self, error: OSError) -> None:
        """Remember what the disk says; the first time counts."""
        place = one_line(str(error.filename or ""), 200)
        self._trouble = self._trouble or f"{place}: {error.strerror or error}".removeprefix(": ")

    def _tell(self) -> None:
        """Show the trouble of this round, and log it when it is news."""
        problem = f"spool: {self._trouble}" if self._trouble else ""
        if problem and problem != self._problem:
            LOG.warning("the spool cannot be emptied", extra={"why": problem})
        elif self._problem and not problem:
            LOG.info("the spool works again")
        self._problem = problem

    def _work(self) -> None:
        wait_s = SCAN_S
        while not self._leaving.wait(wait_s):
            try:
                self.drain_once()
            except Exception:  # the thread outlives our mistakes; readiness shows them
                LOG.exception("the spool stopped in the middle")
                self._problem = "spool: it stopped in the middle, see the log"
            wait_s = min(wait_s * 2, LONGEST_WAIT_S) if self._problem else SCAN_S


def _map_of(name: str, door: Door) -> str:
    """The map that a name such as `1764.pagerduty.json` asks for, when there is one."""
    parts = name.rsplit(".", 2)
    is_named = len(parts) == 3 and parts[2] == "json" and door.knows(parts[1])
    return parts[1] if is_named else ""

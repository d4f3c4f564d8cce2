"""The daemon under load, as a process of its own, and what the kernel says of it."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Reading:
    """What a process held at one moment."""

    at: float
    rss_mib: float
    files: int
    threads: int


@dataclass
class Gauge:
    """Reads a process every so many seconds while the block runs."""

    pid: int
    every_s: float = 0.5
    readings: list[Reading] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self.readings.append(reading(self.pid))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def peak(self) -> Reading:
        """The reading with the most memory."""
        return max(self.readings, key=lambda one: one.rss_mib)

    @property
    def most_files(self) -> int:
        """The most files that were open at one moment."""
        return max(one.files for one in self.readings)

    def _read(self) -> None:
        while not self._stop.wait(self.every_s):
            self.readings.append(reading(self.pid))


def reading(pid: int) -> Reading:
    """What the process holds now."""
    process = Path("/proc") / str(pid)
    status = dict(
        line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line
    )
    return Reading(
        at=time.monotonic(),
        rss_mib=int(status["VmRSS"].split()[0]) / 1024,
        files=sum(1 for _ in (process / "fd").iterdir()),
        threads=int(status["Threads"]),
    )


def processor_s(pid: int) -> float:
    """The seconds of processor that the process has used, its own children not counted."""
    fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def size_mib(folder: Path) -> float:
    """What the files of a folder take, in MiB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MIB


@contextmanager
def ruled(folder: Path, *, workers: int = 4, intake: str = "") -> Iterator[RunningDaemon]:
    """A daemon over *folder* whose investigations are made by rules: nothing of it is a model's."""
    with MessagesApi() as api:
        daemon = RunningDaemon(folder, api, workers=workers, intake=intake)
        settings = folder / "copilot.yaml"
        settings.write_text(settings.read_text().replace("claude-sonnet-4-6", "offline"))
        with daemon:
            yield daemon


def incidents(state: Path) -> set[str]:
    """The incidents in the inbox of a state folder."""
    with closing(sqlite3.connect(state / "inbox.sqlite")) as inbox:
        return {row[0] for row in inbox.execute("SELECT id FROM incidents")}


@contextmanager
def asked(
    folder: Path,
    investigator: Investigator,
    *,
    workers: int = 4,
    intake: str = "",
    daemon: str = "",
) -> Iterator[RunningDaemon]:
    """A daemon over *folder* whose model is played by *investigator*."""
    with (
        MessagesApi(responder=investigator) as api,
        RunningDaemon(folder, api, workers=workers, intake=intake, daemon=daemon) as running,
    ):
        yield running


def count(state: Path, status: str) -> int:
    """How many incidents have that status."""
    with closing(sqlite3.connect(state / "inbox.sqlite")) as inbox:
        wanted = "SELECT count(*) FROM incidents WHERE status = ?"
        return int(inbox.execute(wanted, (status,)).fetchone()[0])


def pid_of(daemon: RunningDaemon) -> int:
    """The process of a daemon that runs."""
    assert daemon.process
    return daemon.process.pid

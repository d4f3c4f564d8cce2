"""A process that is killed again and again, and the count of what was paid for twice."""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import sqlalchemy

from copilot.engine.place import Place
from tests.engine.toys import Journal, paid, wait_until

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Crashes:
    """One series of processes over the same folder, and what it cost."""

    folder: Path
    told: dict[str, Any]
    redone: int = 0
    """Calls paid for again although they were recorded when the process died."""
    kills: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    _recorded: list[tuple[set[str], Counter[str]]] = field(default_factory=list)

    @contextmanager
    def process(self) -> Iterator[subprocess.Popen[str]]:
        """Run the program until the block is left; it is killed then if it still runs."""
        told = json.dumps({**self.told, "folder": str(self.folder)})
        with subprocess.Popen(
            [sys.executable, "-m", "tests.engine.program", told],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            try:
                yield process
            finally:
                process.kill()

    def kill_after(self, calls: int) -> None:
        """Start the program, and kill it as soon as it paid for that many calls more."""
        before = paid(self.folder).total()
        with self.process() as process:
            wait_until(
                lambda: paid(self.folder).total() >= before + calls or process.poll() is not None
            )
            process.kill()
            process.wait()
        self.kills += 1
        self._recorded.append((self.recorded(), paid(self.folder)))

    def finish(self) -> None:
        """Start the program, let it end, and count."""
        with self.process() as process:
            said, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
        self.result = json.loads(said.splitlines()[-1])
        at_end = paid(self.folder)
        for recorded, counts in self._recorded:
            self.redone += sum(at_end[call] - counts[call] for call in recorded)

    @property
    def repeats(self) -> int:
        """Calls that were paid for more than once, for whatever reason."""
        return sum(count - 1 for count in paid(self.folder).values())

    def recorded(self) -> set[str]:
        """Return the calls in the runs' journals or in the engine's record."""
        runs = [f"run-{number}" for number in range(self.told["runs"])]
        kept = {f"{run} {step}" for run in runs for step in Journal(self.folder, run).done()}
        return kept | self._in_database()

    def _in_database(self) -> set[str]:
        place = Place(self.folder / "state", database=self.told.get("database", ""))
        url = sqlalchemy.make_url(place.url)
        schema = ""
        if place.is_shared:
            url, schema = url.set(drivername="postgresql+psycopg"), "dbos."
        database = sqlalchemy.create_engine(url)
        try:
            with database.connect() as connection:
                rows = connection.execute(
                    sqlalchemy.text(f"SELECT workflow_uuid, output FROM {schema}operation_outputs")
                ).all()
        except sqlalchemy.exc.DBAPIError:  # it died before the table was made
            return set()
        finally:
            database.dispose()
        return {f"{run} {json.loads(output)['step']}" for run, output in rows}

    def integrity(self) -> str:
        """Return what SQLite says of the file."""
        place = Place(self.folder / "state")
        database = sqlalchemy.create_engine(place.url)
        try:
            with database.connect() as connection:
                return str(connection.execute(sqlalchemy.text("PRAGMA quick_check")).scalar())
        finally:
            database.dispose()


def killed(folder: Path, told: dict[str, Any], *, kills: int, seed: int) -> Crashes:
    """Return the count after so many kills at seeded moments, and an undisturbed end."""
    random = Random(seed)
    crashes = Crashes(folder, told)
    for _ in range(kills):
        crashes.kill_after(random.randint(1, 4 * told["workers"]))
    crashes.finish()
    return crashes


TERMINATE = signal.SIGTERM

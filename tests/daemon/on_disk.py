"""What the folders of a dead daemon hold: read from copies, so that its own recovery is tested."""

import json
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from copilot.journal import read_events

Answer = tuple[str, int]
"""An incident and a turn of its investigation."""
DATABASES = ("inbox.sqlite", "engine.sqlite")
COUNTED = re.compile(
    r"^(updated|tokens|cost_usd|identity): .*$"
    r"|\d+ tokens(, \$[\d.]+)?|\"(usd|tokens)\": [^,\n]*|\b[0-9a-f]{8,40}\b",
    re.MULTILINE,
)
"""Times, money and digests: what two undisturbed runs of one story differ in too."""
TIME = re.compile(r"2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


@contextmanager
def copied(database: Path) -> Iterator[sqlite3.Connection]:
    """A copy of the database as it lies there, with what its log holds."""
    with tempfile.TemporaryDirectory(prefix="copilot-copy-") as folder:
        for suffix in ("", "-wal"):
            source = database.with_name(database.name + suffix)
            if source.exists():
                shutil.copy(source, folder)
        with closing(sqlite3.connect(Path(folder) / database.name)) as connection:
            yield connection


def answers(state: Path) -> set[Answer]:
    """The answers that are on record: in a journal, or as a step of the engine."""
    found: set[Answer] = set()
    for path in (state / "journals").glob("*/[0-9][0-9][0-9][0-9].jsonl"):
        found |= {
            (path.parent.name, event.turn)
            for event in read_events(path)
            if event.kind == "response"
        }
    return found | steps(state)


def steps(state: Path) -> set[Answer]:
    """The answers that the engine has recorded as steps."""
    with copied(state / "engine.sqlite") as connection:
        try:
            rows = connection.execute(
                "SELECT workflow_uuid, output FROM operation_outputs WHERE function_name = 'model'"
            ).fetchall()
        except sqlite3.OperationalError:  # it died before the tables were made
            return set()
    return {(run.split(":")[1], json.loads(output)["turn"]) for run, output in rows if output}


def runs(state: Path) -> dict[str, str]:
    """How each run of the engine stands."""
    with copied(state / "engine.sqlite") as connection:
        found = connection.execute("SELECT workflow_uuid, status FROM workflow_status")
        return dict(found.fetchall())


def damage(folder: Path) -> list[str]:
    """What SQLite and git find wrong, one line each."""
    found = []
    for name in DATABASES:
        with copied(folder / "state" / name) as connection:
            [said] = connection.execute("PRAGMA quick_check").fetchone()
        if said != "ok":
            found.append(f"{name}: {said}")
    return found + damaged_notes(folder)


def damaged_notes(folder: Path) -> list[str]:
    """What git finds wrong in the notes, one line each."""
    found = []
    checked = subprocess.run(
        ["git", "-C", folder / "notes", "fsck", "--full", "--strict", "--no-progress"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    faults = [line for line in checked.stdout.splitlines() if not line.startswith("dangling")]
    if checked.returncode or faults:
        found.append(f"git fsck ended with {checked.returncode}: {faults} {checked.stderr}")
    return found


def comparable(folder: Path, incident: str) -> dict[str, str]:
    """The pages of an incident without what differs between two undisturbed runs."""
    pages = {}
    for name in ("report.md", "report.json", "STATE.md"):
        text = (folder / "notes" / incident / name).read_text()
        pages[name] = TIME.sub("<time>", COUNTED.sub("<counted>", text))
    return pages

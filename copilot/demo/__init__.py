"""A workspace with real logs, tickets and runbooks, and an alert about them. No key, no server.

The data is bundled (`data/README.md` names its sources); it is unpacked into the workspace, so that
a person can open every line that the report cites.
"""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from copilot.errors import UsageError
from copilot.initialise import initialise

SOURCES = "sources"
"""The folder of the workspace with the log files."""
TICKET = "ticket.json"


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the demo investigates: an alert, and the folders of `data/` with the logs."""

    name: str
    about: str
    alert: str
    logs: tuple[str, ...]


SCENARIOS = (
    Scenario(
        "stalled-workflow",
        "21 elements of a workflow are never acquired, among 1,114 elements of a work queue",
        "alerts/stalled-workflow.json",
        ("cms_wmcore", "threads"),
    ),
    Scenario(
        "archival",
        "thousands of workflows are never archived, and a service is suspected",
        "threads/t12_tape_rules_block_archival/ticket.json",
        ("threads",),
    ),
    Scenario(
        "order-flow",
        "ticket orders fail; which of some forty services is at fault?",
        "alerts/order-flow.json",
        ("nezha",),
    ),
    Scenario(
        "watchdog",
        "an alert that always fires: closed without a search",
        "alerts/watchdog.json",
        ("threads",),
    ),
)


@dataclass(frozen=True, slots=True)
class Made:
    """What a demo's workspace holds."""

    folder: Path
    alert: Path
    logs: Path
    tickets: tuple[Path, ...]


def scenario(name: str) -> Scenario:
    """The scenario called *name*. Raises UsageError naming those that there are."""
    found = next((one for one in SCENARIOS if one.name == name), None)
    if found is None:
        known = ", ".join(one.name for one in SCENARIOS)
        raise UsageError(f"no scenario is called {name!r}; there are: {known}")
    return found


def make_workspace(folder: Path, wanted: Scenario) -> Made:
    """Make the workspace of a scenario in *folder*, which must be empty or not there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder; name one that is, or that is not there")
    initialise(folder)
    data = files("copilot.demo") / "data"
    for name in wanted.logs:
        for path, source in _files(data / name, Path(name)):
            if path.suffix in {".log", ".txt", ".json", ".csv"} and path.name != TICKET:
                _put(folder / SOURCES / path, source)
    tickets = []
    for path, source in _files(data / "threads", Path("tickets")):
        if path.name == TICKET:
            kept = folder / "tickets" / f"{path.parent.name}.json"
            _put(kept, source)
            tickets.append(kept)
    alert = folder / "alert.json"
    _put(alert, data / wanted.alert)
    return Made(folder, alert, folder / SOURCES, tuple(sorted(tickets)))


def _files(folder: Traversable, path: Path) -> Iterator[tuple[Path, Traversable]]:
    """Every file below *folder*; its path is without `.gz`, because it is unpacked."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, path / entry.name)
        else:
            yield path / entry.name.removesuffix(".gz"), entry


def _put(path: Path, source: Traversable) -> None:
    content = source.read_bytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress(content) if source.name.endswith(".gz") else content)

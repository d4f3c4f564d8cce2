"""A logbook in a temporary folder, and short ways to fill it and to read a file's records."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from connectors.embedded_logbook import EmbeddedLogbook, Imported
from connectors.log_files.reader import AS_UTC, Assumptions, read_log
from connectors.log_files.record import Flags, Record

DRAWN = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
"""How every property here is tried: the same examples in every run, however slow the machine."""
WRITTEN = datetime(2026, 1, 20, tzinfo=UTC)
Add = Callable[..., Imported]
Read = Callable[..., list[Record]]


@pytest.fixture
def book(tmp_path: Path) -> EmbeddedLogbook:
    """Return a logbook into which nothing was imported."""
    return EmbeddedLogbook(tmp_path / "store" / "logbook.db")


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Return a function that writes a file, last written at a fixed time."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(path, (WRITTEN.timestamp(), WRITTEN.timestamp()))
        return path

    return write


@pytest.fixture
def add(book: EmbeddedLogbook, put: Callable[[str, str | bytes], Path]) -> Add:
    """Return a function that imports a text as the source of that name."""

    def imported(content: str | bytes | Sequence[str], name: str = "app.log") -> Imported:
        text = content if isinstance(content, str | bytes) else "\n".join(content) + "\n"
        return book.import_file(put(name, text), name)

    return imported


@pytest.fixture
def read(put: Callable[[str, str | bytes], Path]) -> Read:
    """Return a function that reads a text as a file of that name into its records."""

    def records(
        content: str | bytes, name: str = "app.log", *, assumed: Assumptions = AS_UTC
    ) -> list[Record]:
        with read_log(put(name, content), assumed, Flags()) as found:
            return list(found)

    return records

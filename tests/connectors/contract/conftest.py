"""Every logbook that there is, empty, and a short way to fill it: the contract is tested over all."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.log_files.batch import Imported, Refused
from connectors.logbook import Logbook
from connectors.opensearch import OpenSearchLogbook, Site
from tests.connectors.logbook.conftest import put

__all__ = ["put"]

NAMES = count(1)


class Book(Logbook, Protocol):
    """A logbook that files can be imported into."""

    def import_files(self, paths: Sequence[Path], root: Path) -> Iterator[Imported | Refused]:
        """What became of each file."""


Add = Callable[..., Imported]


@pytest.fixture(params=["embedded", "opensearch"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Book:
    """Return a logbook into which nothing was imported."""
    if request.param == "embedded":
        return EmbeddedLogbook(tmp_path / "store" / "logbook.db", name="contract")
    url: str = request.getfixturevalue("opensearch")
    return OpenSearchLogbook(Site(url, (f"contract-{next(NAMES)}",)), name="contract")


@pytest.fixture
def add(book: Book, put: Callable[[str, str | bytes], Path], tmp_path: Path) -> Add:
    """Return a function that imports a text as the source of that name."""

    def imported(content: str | bytes | Sequence[str], name: str = "app.log") -> Imported:
        text = content if isinstance(content, str | bytes) else "\n".join(content) + "\n"
        path = put(name, text)
        [done] = book.import_files([path], tmp_path / "in")
        assert isinstance(done, Imported)
        return done

    return imported

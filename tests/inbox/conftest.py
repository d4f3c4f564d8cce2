"""An inbox in a file and one on a server; what holds for one must hold for the other."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Rules
from tests import postgres
from tests.inbox.arrivals import RULES, Clock

Open = Callable[..., Inbox]


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Cluster]:
    """Return a running PostgreSQL."""
    with postgres.cluster() as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    """Return a clock at rest."""
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where an inbox in a file is to be."""
    return tmp_path / "state" / "inbox.sqlite"


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest) -> Path | str:
    """Return a place without an inbox: a file, and then a server."""
    if request.param == "file":
        path: Path = request.getfixturevalue("file")
        return path
    cluster: postgres.Cluster = request.getfixturevalue("server")
    return cluster.new_database()


@pytest.fixture
def opened(clock: Clock) -> Iterator[Open]:
    """Return a way to open inboxes, which are shut when the test ends."""
    inboxes: list[Inbox] = []

    def open_at(place: Path | str, rules: Rules = RULES) -> Inbox:
        inboxes.append(Inbox(place, rules, now=clock))
        return inboxes[-1]

    yield open_at
    for inbox in inboxes:
        inbox.shut()


@pytest.fixture
def inbox(place: Path | str, opened: Open) -> Inbox:
    """Return an empty inbox: in a file, and then on a server."""
    return opened(place)

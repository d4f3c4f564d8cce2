"""One server for all tests that change nothing of it, in front of a desk that is cleared."""

from collections.abc import Iterator

import pytest

from tests.web.served import QUICK, Served


@pytest.fixture(scope="session")
def _server() -> Iterator[Served]:
    with Served() as served:
        yield served


@pytest.fixture(scope="session")
def _hasty_server() -> Iterator[Served]:
    with Served(limits=QUICK) as served:
        yield served


@pytest.fixture
def served(_server: Served) -> Served:
    """An open server on loopback."""
    _server.desk.clear()
    return _server


@pytest.fixture
def hasty(_hasty_server: Served) -> Served:
    """The same with little patience."""
    _hasty_server.desk.clear()
    return _hasty_server

"""A workspace's folder, and workspaces whose servers are ended after the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from copilot.workspace import Workspace
from tests.bench import made_workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_workspace(tmp_path)
    return tmp_path


@pytest.fixture
def workspaces() -> Iterator[list[Workspace]]:
    made: list[Workspace] = []
    yield made
    for workspace in made:
        for server in workspace.mcp_servers.values():
            server.close()

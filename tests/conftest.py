"""What every test may rely on: no network but loopback, no home, a pinned git author."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.nodes.opensearch.node import RELEASES, opensearch

__all__ = ["opensearch"]

# A shared machine has slow moments, and a run that fails must fail again.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

SERVED = frozenset({"contract", "opensearch", "test_latest.py"})
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let one say which release of OpenSearch the tests of its connector run over."""
    parser.addoption("--opensearch", choices=sorted(RELEASES), default="2")


@pytest.fixture
def shared_data() -> Path:
    """Return the folder of public logs and tickets that lies beside a developer's checkout."""
    if not SHARED.is_dir():
        pytest.skip("the evaluation data (../shared/data) is not beside this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a person's settings and keys away from every test."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "COPILOT_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one server in one process: its start takes longer than they do."""
    for item in items:
        if SERVED.intersection(item.path.parts) and "connectors" in item.path.parts:
            item.add_marker(pytest.mark.xdist_group("opensearch"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make what a test printed sendable: half a character cannot pass from process to process."""
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "replace").decode()) for name, text in report.sections
    ]
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in CI that skipped something: there, everything that tests need must be there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

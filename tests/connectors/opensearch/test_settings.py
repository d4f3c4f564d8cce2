"""What copilot.yaml may say of an OpenSearch, and the logbook that it becomes."""

import re
from pathlib import Path

import pytest

from connectors.opensearch import Basic, Bearer, OpenSearchLogbook, Signed
from copilot.config import load_settings
from copilot.doctor import examine
from copilot.errors import ConfigError, CredentialsError
from copilot.logbooks import site_of
from copilot.settings.logbook import OpenSearchLogbookSource
from copilot.workspace import open_workspace
from tests.connectors.contract.conftest import NAMES

HEAD = "logbooks:\n- name: prod\n  kind: opensearch\n"
WELL = HEAD + "  url: https://logs.example:9200\n  indices: [app-logs-*]\n"


def said(tmp_path: Path, text: str) -> OpenSearchLogbookSource:
    (tmp_path / "copilot.yaml").write_text(text)
    [source] = load_settings(None, {}, tmp_path).logbooks
    assert isinstance(source, OpenSearchLogbookSource)
    return source


@pytest.mark.parametrize(
    "index",
    ["_all", "*", "ops-*,-x", "<ops-{now/d}>", "other:ops", "%6fps", "-x", "+x", "Ops", "..", ".*",
     "a/b", "a?", "a b", "", "*-logs", "_search", "a#b"],
)  # fmt: skip
@pytest.mark.bad_input("B51")
def test_an_index_that_reaches_further_than_it_says_is_refused(tmp_path: Path, index: str) -> None:
    text = HEAD + f"  url: https://logs.example\n  indices: ['{index}']\n"

    with pytest.raises(ConfigError, match=r"copilot\.yaml:5: logbooks\.0\.indices\.0"):
        said(tmp_path, text)


@pytest.mark.parametrize("index", ["ops", "app-logs-*", "a-*-b", ".ds-logs-2026.01", "logs_1.x"])
def test_a_plain_name_or_pattern_is_taken(tmp_path: Path, index: str) -> None:
    text = HEAD + f"  url: https://logs.example\n  indices: ['{index}']\n"

    assert said(tmp_path, text).indices == (index,)


@pytest.mark.parametrize(
    "url",
    ["http://logs.example", "file:///etc", "https://u:p@logs.example", "https://169.254.169.254",
     "https://logs.example/?q=1"],
)  # fmt: skip
@pytest.mark.bad_input("B83")
def test_an_address_that_would_leak_the_login_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"logbooks\.0\.url"):
        said(tmp_path, HEAD + f"  url: {url}\n  indices: [x]\n")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("  auth: basic\n", "needs `user`"),
        ("  auth: sigv4\n", "needs `region`"),
        ("  proxy: grafana\n", "name `fields.time` and `fields.message`"),
        ("  key: k.pem\n", "belongs to a `certificate`"),
        ("  password: x\n", "password: unknown key"),
        ("  timeout: 400\n", "timeout"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(
    tmp_path: Path, more: str, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        said(tmp_path, WELL + more)


def test_each_login_takes_its_secrets_from_the_environment(tmp_path: Path) -> None:
    environ = {
        "OPENSEARCH_PROD_PASSWORD": "pw-1",
        "OPENSEARCH_PROD_TOKEN": "token-1",
        "OPENSEARCH_PROD_KEY_ID": "AKID",
        "OPENSEARCH_PROD_KEY": "key-1",
    }

    def login(more: str) -> object:
        return site_of(said(tmp_path, WELL + more), environ).login

    assert login("") is None
    assert login("  auth: basic\n  user: reader\n") == Basic("reader", "pw-1")
    assert login("  auth: bearer\n") == Bearer("token-1")
    assert login("  auth: sigv4\n  region: eu-west-1\n") == Signed(
        "eu-west-1", "es", "AKID", "key-1"
    )
    assert "pw-1" not in repr(login("  auth: basic\n  user: reader\n"))


def test_a_secret_that_is_not_set_is_named(tmp_path: Path) -> None:
    (tmp_path / "copilot.yaml").write_text(WELL + "  auth: bearer\n")

    with pytest.raises(CredentialsError, match="needs OPENSEARCH_PROD_TOKEN"):
        _ = open_workspace(None, environ={}, cwd=tmp_path).logbooks


def checks(tmp_path: Path, url: str, index: str) -> dict[str, tuple[str, ...]]:
    (tmp_path / "copilot.yaml").write_text(HEAD + f"  url: {url}\n  indices: [{index}]\n")
    workspace = open_workspace(None, environ={}, cwd=tmp_path)
    found = examine(lambda: workspace, {}, workspace.now(), offline=False)
    reached = [check for check in found if check.name == "logbook prod"]
    return {
        state: tuple(check.found for check in reached if check.state == state)
        for state in ("ok", "fail")
    }


def test_the_doctor_looks_at_server_index_time_and_age(tmp_path: Path, opensearch: str) -> None:
    index = f"doctor-{next(NAMES)}"
    (tmp_path / "a.log").write_text("2024-01-01 12:00:00Z INFO x\n")
    (tmp_path / "copilot.yaml").write_text(HEAD + f"  url: {opensearch}\n  indices: [{index}]\n")
    [book] = open_workspace(None, environ={}, cwd=tmp_path).logbooks.values()
    assert isinstance(book, OpenSearchLogbook)
    list(book.import_files([tmp_path / "a.log"], tmp_path))

    found = checks(tmp_path, opensearch, index)

    assert re.match(r"opensearch [23]\.\d+\.\d+ at http", found["ok"][0])
    assert "the time is @timestamp (date_nanos)" in found["ok"][1]
    assert found["fail"] == ("the newest entry of 1 is of 2024-01-01T12:00:00Z",)


def test_the_doctor_says_that_there_is_no_such_index(tmp_path: Path, opensearch: str) -> None:
    [why] = checks(tmp_path, opensearch, "not-there")["fail"]

    assert "there is no such index" in why

"""Claims about the way to the service through a proxy and to a site with its own authority."""

from pathlib import Path

import pytest

from copilot import app
from copilot.config import load_settings
from copilot.errors import ConfigError, ModelError
from copilot.models.claude import Claude, Endpoint
from copilot.models.retries import Retries
from copilot.workspace import Workspace
from tests.bench import ALERT, FINDING, NOW, SEARCH, SUBMIT, made_workspace
from tests.certificates import make, server_side
from tests.doubles.messages_api import MessagesApi, calls, says
from tests.doubles.proxy import Proxy
from tests.models.conftest import request

SITE = "https://api.example.org"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("tls"), "DNS:api.example.org")


def claude(proxy: Proxy, ca_file: Path | None) -> Claude:
    endpoint = Endpoint(MessagesApi.key, SITE, silence_s=5, proxy=proxy.url, ca_file=ca_file)
    once = Retries(sleep=lambda _: None, random=lambda: 0.5, tries=1)
    return Claude("claude-opus-5-5", endpoint, retries=once, now=lambda: NOW)


def test_an_investigation_goes_through_the_proxy_that_the_settings_name(
    tmp_path: Path, certificates: Path
) -> None:
    made_workspace(tmp_path)
    with (
        MessagesApi(calls(SEARCH), calls(FINDING), calls(SUBMIT)) as api,
        Proxy(api.url, server_side(certificates)) as proxy,
    ):
        told = {"model.proxy": proxy.url, "model.ca": str(certificates / "ca.pem")}
        named = {"model.name": "claude-sonnet-5-5", "model.base_url": SITE}
        settings = load_settings(tmp_path, {}, tmp_path, named | told)
        workspace = Workspace(settings, {"ANTHROPIC_API_KEY": api.key}, now=lambda: NOW)
        ending = app.run(workspace, ALERT, app.Wishes())

    assert ending.report.verdict == "action_needed"
    assert set(proxy.asked) == {"CONNECT api.example.org:443 HTTP/1.1"}


def test_a_site_that_no_known_authority_vouches_for_gets_nothing(certificates: Path) -> None:
    with (
        MessagesApi(says("never")) as api,
        Proxy(api.url, server_side(certificates)) as proxy,
        pytest.raises(ModelError) as caught,
    ):
        claude(proxy, None).respond(request())

    assert caught.value.kind == "network"
    assert api.requests == []


def test_an_authority_vouches_for_no_other_name(tmp_path: Path) -> None:
    other = make(tmp_path, "DNS:other.example.org")
    with (
        MessagesApi(says("never")) as api,
        Proxy(api.url, server_side(other)) as proxy,
        pytest.raises(ModelError),
    ):
        claude(proxy, other / "ca.pem").respond(request())

    assert api.requests == []


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_file_without_certificates_is_named(tmp_path: Path, content: str | None) -> None:
    ca_file = tmp_path / "ca.pem"
    if content is not None:
        ca_file.write_text(content)

    with pytest.raises(ConfigError, match=r"ca\.pem: no certificates .* model\.ca"):
        Claude(
            "any", Endpoint("key", SITE, ca_file=ca_file), retries=Retries(print, float),
            now=lambda: NOW,
        )  # fmt: skip


@pytest.mark.parametrize(
    "proxy",
    [
        "proxy.example.org:3128",
        "http://proxy.example.org",
        "socks5://proxy.example.org:1080",
        "http://user:secret@proxy.example.org:3128",
        "http://proxy.example.org:3128/path",
        "http://169.254.169.254:80",
        "http://proxy.example.org:port",
    ],
)
def test_what_is_no_proxy_is_refused(tmp_path: Path, proxy: str) -> None:
    (tmp_path / "copilot.yaml").write_text(f"model:\n  proxy: {proxy}\n")

    with pytest.raises(ConfigError, match=r"copilot\.yaml:2: model\.proxy") as caught:
        load_settings(None, {}, tmp_path)

    assert "secret" not in str(caught.value)


def test_in_the_open_nothing_goes_through_a_proxy(tmp_path: Path) -> None:
    told = {"model.base_url": "http://127.0.0.1:8080", "model.proxy": "http://p.example.org:3128"}

    with pytest.raises(ConfigError, match="only an https"):
        load_settings(None, {}, tmp_path, told)
